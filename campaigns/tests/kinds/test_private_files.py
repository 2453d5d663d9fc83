"""Files with secrets, and their directories, are for their owner alone, even if the umask takes nothing away."""

import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from campaigns.kinds.http.running import store_taken, stored_taken
from campaigns.kinds.programs.commands import Command, new_marker
from campaigns.kinds.programs.program import run_program
from campaigns.kinds.sql.engine.pgbench import environment, password_file
from campaigns.kit.http.credentials import Tls, _load_certificate
from campaigns.kit.sql_tls import tls_options
from perfdash.local import private

TLS = Tls(ca_bundle="of the authority", certificate="of the client", key="private")


@pytest.fixture(autouse=True)
def _a_umask_that_takes_nothing():
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_steps_before_the_load_took(tmp_path):
    store_taken(tmp_path / "run", {"token": "secret"})

    (file,) = (tmp_path / "run").iterdir()
    assert mode(file) == 0o600
    assert stored_taken(tmp_path / "run") == {"token": "secret"}


def test_the_password_and_the_home_of_pgbench(tmp_path):
    request = {"password": "secret", "sender": "perfdash", "connect_timeout_seconds": 5}

    variables = environment(request, tmp_path)

    assert mode(Path(variables["PGPASSFILE"])) == 0o600
    assert mode(Path(variables["HOME"])) == 0o700
    assert "secret" not in str(variables)
    assert password_file("other", tmp_path).read_text() == "*:*:*:*:other\n"
    assert mode(tmp_path / "password") == 0o600


def test_the_key_of_a_client_of_a_database(tmp_path):
    options = tls_options(TLS, "verify-full", tmp_path)

    files = [Path(options[name]) for name in ("sslrootcert", "sslcert", "sslkey")]
    assert [mode(file) for file in files] == [0o600] * 3


def test_the_key_of_a_client_of_a_web_server():
    """Python reads it from files alone: these are gone afterwards."""
    seen: list[Path] = []
    modes: list[int] = []

    class Context:
        def load_cert_chain(self, certificate: Path, key: Path, password: Any) -> None:
            seen.extend((certificate, key))
            modes.extend((mode(certificate), mode(key), mode(key.parent)))

    context: Any = Context()
    _load_certificate(context, TLS)

    assert modes == [0o600, 0o600, 0o700]
    assert not any(file.exists() for file in seen)


def test_files_of_a_local_start(tmp_path):
    private.replace(tmp_path / "state.json", b"secret")
    private.replace(tmp_path / "state.json", b"another")

    assert mode(tmp_path / "state.json") == 0o600


@pytest.mark.system
def test_the_secrets_of_a_program(tmp_path):
    script = "stat -c '%a %U' . ../secrets ../secrets/token"
    command = Command(
        ("sh", "-c", script), 20.0, 100_000, new_marker(), secrets={"token": "secret"}
    )

    run_program(
        "campaigns.kinds.programs.run_command",
        command.request(str(tmp_path)),
        cancelled=threading.Event(),
        lease_seconds=lambda: 15.0,
        deadline_seconds=60.0,
    )

    owner = tmp_path.owner()
    lines = (tmp_path / "output").read_text().splitlines()
    assert lines == [f"700 {owner}", f"700 {owner}", f"600 {owner}"]
