import json
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def golden():
    """Load a golden file by the letter that it begins with."""
    loaded = {}

    def load(letter):
        if letter not in loaded:
            (path,) = (Path(__file__).parent / "golden").glob(f"{letter}_*.json")
            loaded[letter] = json.loads(path.read_text(encoding="utf-8"))
        return loaded[letter]

    return load
