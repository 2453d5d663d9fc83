import ast
import re
import stat
from pathlib import Path

import pytest

from perfdash.local.state import Record, State, needed

ROOT = Path(__file__).resolve().parent.parent.parent


def names_of_settings():
    """Every variable that the settings read, and every one that the documentation lists."""
    tree = ast.parse((ROOT / "perfdash/settings.py").read_text())
    read = {
        node.args[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "environment"
        and node.args
        and isinstance(node.args[0], ast.Constant)
    }
    documented = (ROOT / "docs/reference/settings.md").read_text()
    rows = [line.split("|")[1] for line in documented.splitlines() if line.startswith("| `")]
    return sorted(read | {name for row in rows for name in re.findall(r"`(\w+)`", row)})


@pytest.mark.parametrize("name", names_of_settings())
def test_every_setting_is_kept(name):
    assert needed({name: "value"}) == {name: "value"}


def test_a_secret_in_a_file_stays_named():
    assert needed({"SECRET_KEY_FILE": "/run/secret"}) == {"SECRET_KEY_FILE": "/run/secret"}


@pytest.mark.parametrize(
    "name", ["AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "PGPASSWORD", "http_proxy"]
)
def test_what_belongs_to_other_programs_is_not_kept(name):
    assert needed({name: "secret", "PATH": "/bin"}) == {"PATH": "/bin"}


def test_a_state_is_read_as_it_was_written_and_by_its_owner_only(tmp_path):
    state = State(1, "http://127.0.0.1:1", "http://127.0.0.1:2", environment={"DEBUG": "False"})
    state.note("web", Record(7, "2026-01-01T00:00:00+00:00", 2, "ended with code 1"))

    state.save(tmp_path / "state.json")

    assert State.load(tmp_path / "state.json") == state
    assert stat.S_IMODE((tmp_path / "state.json").stat().st_mode) == 0o600
