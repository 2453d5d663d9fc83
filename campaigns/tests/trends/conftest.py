import json
from pathlib import Path

import pytest

from campaigns.tests.browsing import browser, person, target, toy, worker

__all__ = ["browser", "person", "target", "toy", "worker"]


@pytest.fixture(scope="session")
def golden():
    """The known answers for lines."""
    path = Path(__file__).parent / "golden/m_trend.json"
    return json.loads(path.read_text(encoding="utf-8"))
