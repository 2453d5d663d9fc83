from dataclasses import fields
from pathlib import Path

from sandbox.katello.behaviour import KatelloBehaviour
from sandbox.katello.inventory import ACTIVATION_KEYS, ORGANIZATIONS
from sandbox.katello.machine import NAMES, Machine

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "simulated-katello.md").read_text()


def test_each_setting_is_explained() -> None:
    rows = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `")]
    explained = {name.strip(" `") for row in rows for name in row.split(",")}

    assert {setting.name for setting in fields(KatelloBehaviour)} <= explained
    assert set(NAMES) <= explained


def test_the_defaults_of_the_machine_are_told() -> None:
    messages: dict[str, str] = {}
    for line in PAGE.splitlines():
        if line.startswith("| `"):
            names, values = (cell.split(",") for cell in line.split("|")[1:3])
            messages |= dict(zip([name.strip(" `") for name in names], values, strict=False))

    for name, value in Machine().document().items():
        assert type(value)(messages[name].strip(" `")) == value


def test_the_activation_keys_are_told() -> None:
    assert all(f"`{name}`" in PAGE for name in (*ACTIVATION_KEYS, *ORGANIZATIONS))


def test_nobody_takes_it_for_a_real_one() -> None:
    assert "nobody has compared it with a real server yet" in " ".join(PAGE.split())
