import ast
import re
import stat
from pathlib import Path

import pytest

from perfdash.local.directory import DataDirectory
from perfdash.local.running import SecretsElsewhere, environment_of
from perfdash.local.state import SECRETS, Record, State, needed

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


def names_of_secrets():
    """Every variable that the settings read as a secret, but not those that are passwords within another."""
    text = (ROOT / "perfdash/settings.py").read_text()
    text += (ROOT / "perfdash/oidc.py").read_text()
    return set(re.findall(r'\b(?:secret|fernet_keys)\("(\w+)"', text))


def test_no_secret_is_kept():
    assert names_of_secrets() >= {"SECRET_KEY", "DATABASE_URL", "PERFDASH_OIDC_CLIENT_SECRET"}
    assert names_of_secrets() == SECRETS
    assert needed(dict.fromkeys(SECRETS, "value")) == {}


@pytest.mark.parametrize("name", sorted(set(names_of_settings()) - SECRETS))
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


def test_the_secrets_of_a_running_perfdash_come_from_where_they_are(tmp_path, monkeypatch):
    directory = DataDirectory(tmp_path / "data")
    key = tmp_path / "key"
    state = State(
        1,
        "http://127.0.0.1:1",
        "http://127.0.0.1:2",
        environment={"DEBUG": "False", "SECRET_KEY_FILE": str(key)},
        given=["BROKER_URL"],
    )
    monkeypatch.delenv("BROKER_URL", raising=False)
    with pytest.raises(SecretsElsewhere, match=r"BROKER_URL as variables.*set them here as well"):
        environment_of(directory, state)
    monkeypatch.setenv("BROKER_URL", "redis://elsewhere/0")

    found = environment_of(directory, state)

    assert found["BROKER_URL"] == "redis://elsewhere/0"
    assert found["PERFDASH_ENCRYPTION_KEYS"] == directory.secret("encryption_keys")
    assert found["DATABASE_URL"].startswith("postgresql://perfdash:")
    assert (found["DEBUG"], found["SECRET_KEY_FILE"]) == ("False", str(key))
    assert "SECRET_KEY" not in found
