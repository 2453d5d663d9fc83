"""Commands by SSH on machines that hang, lie, greet, are full, or go away: a clear reason each time, and nothing is left."""

import asyncio
import os
import shutil
import signal
import subprocess
import threading
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import asyncssh
import pytest

from campaigns.kinds.base import MachineRefused, Target
from campaigns.kinds.programs import run_remotely
from campaigns.kinds.storage.driver import driver as storage
from campaigns.kit.network import parse_rules
from campaigns.kit.ssh import commands
from campaigns.kit.ssh.access import ActionFailed, HostKeyRefused, SshAccess
from campaigns.tests.kinds.programs.test_run_remotely import (
    command,
    left_of,
    run,
    wait_for_nothing_left,
)
from campaigns.tests.targets import ssh_server

pytestmark = pytest.mark.system

RUNS_IT = 'exec sh -c "$SSH_ORIGINAL_COMMAND"'
GREETING = "echo 'Welcome to db=1 s'; echo 'Last login: today' >&2"


@pytest.fixture
def machine(tmp_path):
    """Start a machine whose login shell is a script."""
    if not ssh_server.SSHD:
        pytest.skip("OpenSSH's sshd is not installed here (Debian: openssh-server)")
    stack = []

    def start(login_shell=RUNS_IT, search_path=""):
        shell = tmp_path / "shell"
        shell.write_text(f"#!/bin/sh\n{login_shell}\n")
        shell.chmod(0o755)
        (tmp_path / "sshd").mkdir()
        stack.append(ssh_server.openssh(tmp_path / "sshd", search_path, str(shell)))
        return access_to(stack[-1].__enter__())

    yield start
    for each in stack:
        each.__exit__(None, None, None)


def access_to(machine):
    return SshAccess("127.0.0.1", machine.port, machine.username, machine.key, "", machine.host_key)


def ask(access, *arguments, seconds=20.0):
    rules = parse_rules(f"127.0.0.1:{access.port}")
    return run_remotely.ask(arguments, access, rules, lambda: None, seconds)


def test_a_greeting_of_the_login_shell_is_no_output(machine):
    access = machine(f"{GREETING}; {RUNS_IT}")
    what = command("sh", "-c", "echo out; echo err >&2; echo kept >found", files=("found",))
    ran = run(what, access)
    assert (ran.output, ran.errors, dict(ran.files)) == (b"out\n", b"err\n", {"found": b"kept\n"})
    assert ask(access, "echo", "an answer") == "an answer\n"
    rules = parse_rules(f"127.0.0.1:{access.port}")
    assert run_remotely.remove_stale(access, rules, lambda: None) == []
    assert left_of(what) == ([], False)


@pytest.mark.parametrize(
    ("shell", "reason"),
    [
        ("sleep 300", "did not start the command within 1 s"),
        ("exit 0", "ran something else than the command of perfdash, which printed nothing"),
        ("echo 'No logins.'; exit 1", "ran something else .* It printed: No logins"),
        ("exec yes", "ran something else .* It printed: … y y"),
    ],
)
def test_a_login_shell_that_does_not_run_commands(machine, monkeypatch, shell, reason):
    monkeypatch.setattr(run_remotely, "START_SECONDS", 1.0)
    access = machine(shell)
    what = command("true")
    with pytest.raises(ActionFailed, match=reason):
        run(what, access)
    with pytest.raises(
        ActionFailed, match=r"did not end within 1 s|ran something else|exit code 1"
    ):
        ask(access, "true", seconds=1.0)
    assert left_of(what) == ([], False)


def test_a_login_shell_that_lies_about_files_fills_no_memory(machine):
    access = machine(f'case "$SSH_ORIGINAL_COMMAND" in *guard*) {RUNS_IT} ;; esac; exec yes')
    what = command("true")
    with pytest.raises(ActionFailed, match=r"was ended on .* from outside"):
        run(what, access)
    shutil.rmtree(run_remotely.directory_of(what))  # such a machine takes no other command either


def test_a_machine_that_opens_no_session(monkeypatch):
    monkeypatch.setattr(commands, "OPEN_SECONDS", 0.5)
    with hanging() as access:
        for tried in (lambda: run(command("true"), access), lambda: ask(access, "true")):
            with pytest.raises(ActionFailed, match=r"began no command within 0\.5 s"):
                tried()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_connection_that_is_cut_or_carries_nothing_any_more(machine, monkeypatch, number):
    monkeypatch.setattr(commands, "SILENT_SECONDS", 0.3)
    monkeypatch.setattr(run_remotely, "LEASE_SECONDS", 1)
    access = machine()
    what = command("sh", "-c", "setsid sleep 300 & sleep 300", seconds=60.0)
    found = list[int]()

    def check():
        if not found and len(left_of(what)[0]) >= 2:
            found.append(daemon_of(left_of(what)[0][0]))
            os.kill(found[0], number)

    try:
        with pytest.raises(ActionFailed, match=r"The connection to .* broke: "):
            run(what, access, check)
        wait_for_nothing_left(what)
    finally:
        if number == signal.SIGSTOP:
            os.kill(found[0], signal.SIGKILL)


def daemon_of(pid):
    """Return the process of sshd that serves a process."""
    while True:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        pid = int(fields[1])
        if Path(f"/proc/{pid}/comm").read_text().startswith("sshd"):
            return pid


def test_another_host_key(machine):
    access = replace(machine(), host_key=ssh_server.public(ssh_server.new_key()))
    what = command("true")
    with pytest.raises(HostKeyRefused, match="shows another host key than the one"):
        run(what, access)
    assert left_of(what) == ([], False)
    target = Target("it", "machine", "ssh://127.0.0.1", ssh=access)
    with pytest.raises(MachineRefused, match="shows another host key"):
        storage.probe(target, parse_rules(f"127.0.0.1:{access.port}"))


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A disk of 64 KiB for the directories of commands."""
    if os.getuid() != 0:
        pytest.skip("a small file system takes root")
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(
        ["/bin/mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)], check=False
    )
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    monkeypatch.setattr(run_remotely, "ROOT", str(place))
    yield place
    subprocess.run(["/bin/umount", "--lazy", str(place)], check=True)


@pytest.mark.parametrize(
    ("blocks", "reason"),
    [
        (16, "cannot be written: .*No space left on device"),
        (14, "the file of a secret cannot be written: .*No space left on device"),
    ],
)
def test_a_disk_that_is_full_before_the_command(machine, small, blocks, reason):
    (small / "others").write_bytes(b"x" * 4096 * blocks)
    what = command("true", secrets={"token": "s" * 9000})
    with pytest.raises(run_remotely.NotStarted, match=reason):
        run(what, machine())
    assert [path.name for path in small.iterdir()] == ["others"]


def test_a_disk_that_the_command_fills(machine, small):
    with pytest.raises(ActionFailed, match="has not written how the command ended: its disk"):
        run(command("sh", "-c", "cat /dev/zero >filled; exit 0"), machine())
    assert list(small.iterdir()) == []


def test_a_clock_that_is_set_during_a_command(machine, tmp_path):
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "date").write_text(
        "#!/bin/sh\nhours=$(cat $0.hours 2>/dev/null || echo 1)\necho $((hours + 1)) >$0.hours\n"
        "echo $((hours * 3600)).5\n"
    )
    (programs / "date").chmod(0o755)
    ran = run(command("sleep", "0.5"), machine(search_path=f"{programs}:{os.defpath}"))
    assert 0.4 <= ran.seconds < 60


def test_a_directory_without_a_guard_is_removed_when_it_is_old(machine, tmp_path):
    access = machine()
    rules = parse_rules(f"127.0.0.1:{access.port}")
    places = [Path(run_remotely.directory_of(command("true"))) for _ in range(3)]
    try:
        for place in places:
            place.mkdir()
        (places[1] / "guard").touch()
        for place in places[:2]:
            os.utime(place, (0, 0))
        assert run_remotely.remove_stale(access, rules, lambda: None) == []
        assert [place.exists() for place in places] == [False, False, True]
    finally:
        for place in places:
            (place / "guard").unlink(missing_ok=True)
            if place.exists():
                place.rmdir()


class _Hanging(asyncssh.SSHServer):
    def begin_auth(self, username):
        return False

    async def session_requested(self):
        await asyncio.sleep(3600)


@contextmanager
def hanging():
    """A server that lets everybody in, and then begins nothing."""
    key, loop = ssh_server.new_key(), asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def start():
        return await asyncssh.listen(
            "127.0.0.1", 0, server_factory=_Hanging, server_host_keys=[key]
        )

    server = asyncio.run_coroutine_threadsafe(start(), loop).result(10)
    try:
        yield SshAccess(
            "127.0.0.1", server.get_port(), ssh_server.USER, "", "a", ssh_server.public(key)
        )
    finally:
        asyncio.run_coroutine_threadsafe(ssh_server.stop(server), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)
        loop.close()
