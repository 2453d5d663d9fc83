"""Commands over SSH, on OpenSSH's own server on loopback."""

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import pytest

from campaigns.kinds.base import Cancelled
from campaigns.kinds.programs import run_remotely
from campaigns.kinds.programs.commands import MARK, Command, new_marker, why_failed
from campaigns.kit.network import parse_rules
from campaigns.kit.ssh.access import ActionFailed, SshAccess
from campaigns.tests.targets import ssh_server

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def access(tmp_path_factory):
    if not ssh_server.SSHD:
        pytest.skip("OpenSSH's sshd is not installed here (Debian: openssh-server)")
    with ssh_server.openssh(tmp_path_factory.mktemp("sshd")) as machine:
        yield SshAccess(
            "127.0.0.1", machine.port, machine.username, machine.key, "", machine.host_key
        )


def command(*arguments, seconds=20.0, output_bytes=100_000, **more):
    return Command(arguments, seconds, output_bytes, new_marker(), **more)


def run(what, access, check=lambda: None):
    return run_remotely.run(what, access, parse_rules(f"127.0.0.1:{access.port}"), check)


def left_of(what):
    """Return the processes of a command that live, and its directory where it is there."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if f"{MARK}={what.marker}".encode() in path.read_bytes():
                found.append(path.parent.name)
    return found, Path(run_remotely.directory_of(what)).exists()


def wait_for_nothing_left(what):
    for _ in range(100):
        if left_of(what) == ([], False):
            return
        time.sleep(0.05)
    pytest.fail(f"left: {left_of(what)}")


def test_output_files_and_secrets(access):
    text = (
        "cat ../secrets/token; ls -l ../secrets | tail -1; echo $COLOUR >&2; echo kept >found; pwd"
    )
    what = command(
        *("sh", "-c", text),
        environment={"COLOUR": "it's; red"},
        secrets={"token": "s3cret\n"},
        files=("found", "missing"),
    )
    ran = run(what, access)
    lines = ran.output.decode().splitlines()
    assert lines[0] == "s3cret"
    assert lines[1].startswith("-rw-------")
    assert lines[2] == f"{run_remotely.directory_of(what)}/work"
    assert (ran.errors, dict(ran.files)) == (b"it's; red\n", {"found": b"kept\n"})
    assert (ran.exit_status, why_failed(what, ran)) == (0, "")
    assert left_of(what) == ([], False)


@pytest.mark.parametrize(
    ("arguments", "more", "message"),
    [
        (
            ("sh", "-c", "echo no luck >&2; exit 3"),
            {},
            "ended with exit status 3. It printed: no luck",
        ),
        (("sleep", "60"), {"seconds": 0.3}, "did not end within 0.3 s"),
        (("yes",), {}, "printed more than 100,000 bytes"),
        (("sh", "-c", "kill -9 $$"), {}, "was ended by SIGKILL"),
        (("python3", "-c", "bytearray(9 << 27)"), {"memory_bytes": 1 << 27}, "MemoryError"),
    ],
)
def test_failures_have_words_and_leave_nothing(access, arguments, more, message):
    what = command(*arguments, **more)
    assert message in why_failed(what, run(what, access))
    assert left_of(what) == ([], False)


def test_a_program_that_is_not_there(access):
    with pytest.raises(run_remotely.NotStarted, match="there is no program nonono"):
        run(command("nonono"), access)


@pytest.mark.parametrize("how", ["cancelled", "lost"])
def test_nothing_is_left_after_a_cancel_or_a_lost_connection(access, how, monkeypatch):
    what = command("sh", "-c", "setsid sleep 300 & sleep 300")

    def check():
        if len(left_of(what)[0]) >= 2:
            raise Cancelled

    if how == "lost":  # then nobody sends the kill over a second channel
        monkeypatch.setattr(run_remotely, "KILL", "true")
    with pytest.raises(Cancelled):
        run(what, access, check)
    wait_for_nothing_left(what)


def test_a_worker_that_stands_still_loses_its_command(access, monkeypatch):
    """No byte comes any more, though the connection stands, as of a stopped worker."""
    monkeypatch.setattr(run_remotely, "BEAT_SECONDS", 1000.0)
    monkeypatch.setattr(run_remotely, "LEASE_SECONDS", 1)
    monkeypatch.setattr(run_remotely, "KILL", "true")
    what = command("sh", "-c", "setsid sleep 300 & sleep 300")
    with pytest.raises(ActionFailed, match=r"was ended on .* from outside"):
        run(what, access)
    wait_for_nothing_left(what)


def test_nothing_is_left_after_a_worker_was_killed(access):
    what = command("sh", "-c", "setsid sleep 300 & sleep 300")
    code = (
        "import json, sys; from campaigns.kinds.programs import run_remotely;"
        "from campaigns.kinds.programs.commands import Command; from campaigns.kit.network import parse_rules;"
        "from campaigns.kit.ssh.access import SshAccess; command, access = json.loads(sys.stdin.read());"
        "run_remotely.run(Command(**command), SshAccess(**access),"
        "parse_rules('127.0.0.1:%s' % access['port']), lambda: None)"
    )
    worker = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert worker.stdin
    worker.stdin.write(json.dumps([asdict(what), asdict(access)]).encode())
    worker.stdin.close()
    for _ in range(400):
        if len(left_of(what)[0]) >= 3:
            break
        time.sleep(0.05)
    worker.kill()
    worker.wait()
    wait_for_nothing_left(what)


def test_only_what_a_dead_guard_has_left_is_removed(access):
    root = Path(run_remotely.ROOT)
    names = {"dead": new_marker(), "alive": new_marker(), "no guard": new_marker(), "short": "ab"}
    places = {name: root / f"{run_remotely.NAME}{mark}" for name, mark in names.items()}
    try:
        for name, place in places.items():
            place.mkdir()
            if name != "no guard":
                (place / "guard").write_text("999999999\n")
        sleeper = subprocess.Popen(
            ["/bin/sh", "-c", "sleep 60; :", names["alive"]], process_group=0
        )
        (places["alive"] / "guard").write_text(f"{sleeper.pid}\n")
        rules = parse_rules(f"127.0.0.1:{access.port}")
        assert run_remotely.remove_stale(access, rules, lambda: None) == []
        assert {name: place.exists() for name, place in places.items()} == {
            "dead": False,
            "alive": True,
            "no guard": True,
            "short": True,
        }
    finally:
        os.killpg(sleeper.pid, 9)
        sleeper.wait()
        for place in places.values():
            with suppress(FileNotFoundError):
                (place / "guard").unlink()
            with suppress(FileNotFoundError):
                place.rmdir()
