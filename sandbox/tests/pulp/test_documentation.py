from dataclasses import fields
from pathlib import Path

from sandbox.pulp.behaviour import Behaviour

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "simulated-pulp.md").read_text()


def test_each_setting_is_explained() -> None:
    rows = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `")]
    explained = {name.strip(" `") for row in rows for name in row.split(",")}

    assert {setting.name for setting in fields(Behaviour)} <= explained
