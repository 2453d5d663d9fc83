from dataclasses import fields
from pathlib import Path

from sandbox.katello.behaviour import KatelloBehaviour

PAGE = (Path(__file__).parents[3] / "docs" / "stand-in-katello.md").read_text()


def test_each_setting_is_explained() -> None:
    rows = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `")]
    explained = {name.strip(" `") for row in rows for name in row.split(",")}

    assert {setting.name for setting in fields(KatelloBehaviour)} <= explained


def test_nobody_takes_it_for_a_real_one() -> None:
    assert "nobody has compared it with a real server yet" in " ".join(PAGE.split())
