"""The service that runs commands for a worker, in a container of its own."""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, flock
from pathlib import Path

import pytest

from campaigns.kinds.programs import run_apart as run_apart_module
from campaigns.kinds.programs import service
from campaigns.kinds.programs.commands import Command, new_marker
from campaigns.kinds.programs.program import ROOT
from campaigns.kinds.programs.run_apart import run_apart, work_of
from campaigns.kinds.programs.run_here import Broke, Ended, NotStarted
from campaigns.tests.kinds.programs.test_run_command import wait_until

pytestmark = pytest.mark.system
SHARED = "/dev/shm"  # noqa: S108 - a file system of the service alone
ALONE = (
    "bwrap", "--unshare-user", "--uid", "4321", "--gid", "4321", "--unshare-pid", "--as-pid-1", "--die-with-parent",
    "--bind", "/", "/", "--dev", "/dev", "--tmpfs", SHARED, "--proc", "/proc",
)  # fmt: skip


def turns_of(place):
    """The file by which workers take turns, in a directory of theirs."""
    return Path(f"{place}-turns/lock")


@contextmanager
def serving():
    """Yield the socket of a running service that is alone, as in a container, and its process."""
    home = Path(tempfile.mkdtemp(prefix="perfdash-service-"))
    socket, work = home / "socket", home / "work"
    work.mkdir()
    turns_of(socket).parent.mkdir()
    words = [sys.executable, "-m", "campaigns.kinds.programs.service", "--socket", str(socket)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    with (home / "log").open("wb") as log:
        process = subprocess.Popen(
            [*ALONE, *words, "--work", str(work), "--tidy", SHARED],
            env=environment | {"PLANTED": "planted-secret"},
            stdout=log,
            stderr=log,
            cwd=ROOT,
        )
    wait_until(lambda: socket.exists() or process.poll() is not None)
    assert process.poll() is None, (home / "log").read_text()
    try:
        yield str(socket), process
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(home)


@pytest.fixture(scope="module")
def place():
    """The socket of a running service."""
    with serving() as (place, _):
        yield place


def run(place, script, *, words=("sh", "-c"), lease=lambda: 15.0, cancelled=None, **more):
    return run_apart(
        place,
        Command((*words, script), 20.0, 100_000, new_marker(), **more),
        turns_of(place),
        cancelled=cancelled or threading.Event(),
        lease_seconds=lease,
        progress=more.pop("progress", lambda values: None),
    )


def test_it_runs_a_command_and_gives_back_what_it_left(place):
    ran = run(
        place,
        "cat ../secrets/token; pwd; echo $A >&2; printf 'x=\\377' >out; exit 3",
        environment={"A": "b"},
        secrets={"token": "s3cret\n"},
        files=["out", "missing"],
    )

    secret, directory = ran.output.decode().splitlines()
    assert (secret, ran.errors, ran.exit_status) == ("s3cret", b"b\n", 3)
    assert directory.startswith(f"{work_of(place)}/run-")
    assert (dict(ran.files), ran.signal, ran.ended_by) == ({"out": b"x=\xff"}, 0, "")
    assert ran.seconds > 0


def test_nothing_of_a_command_stays_for_the_next(place):
    """Processes in sessions of their own, files, and directories that nobody may enter."""
    run(
        place,
        "(setsid env -i sleep 60 &) ; (setsid sh -c 'setsid sleep 61 &' &); echo mine >/dev/shm/waits; "
        "mkdir -p ../../other/deep; echo mine >../../other/deep/file; chmod 0 ../../other/deep ../../other; sleep 0.1",
        secrets={"token": "s3cret"},
    )

    found = run(place, "ls -A ../.. /dev/shm; cat /proc/[0-9]*/comm | grep -c sleep")

    listed = found.output.decode().split()
    assert listed == ["../..:", Path(listed[1]).name, f"{SHARED}:", "0"]


def test_a_command_reads_no_environment_of_the_service(place):
    found = run(place, "cat /proc/[2-9]*/environ /proc/1?*/environ; echo read")

    assert found.output.endswith(b"read\n")
    assert b"planted-secret" not in found.output


def test_a_command_ends_with_its_lease_and_the_next_one_begins(place):
    ends = iter([1.0, 0.3])

    with pytest.raises(Ended):
        run(place, "sleep 60", lease=lambda: next(ends, 0.0))

    assert run(place, "cat /proc/[0-9]*/comm | grep -c sleep").output == b"0\n"


def test_a_command_ends_where_its_run_is_cancelled(place):
    cancelled = threading.Event()
    threading.Timer(0.3, cancelled.set).start()

    with pytest.raises(Ended):
        run(place, "sleep 60", cancelled=cancelled)


def test_a_socket_that_a_command_has_removed_is_there_again(place):
    run(place, f"rm {place} && mkdir {place}")

    assert run(place, "echo here").output == b"here\n"


LISTENS = """
import os, pathlib, signal, socket
os.kill(-1, signal.SIGSTOP)
pathlib.Path("PLACE").unlink()
listening = socket.socket(socket.AF_UNIX)
listening.bind("PLACE")
listening.listen()
pathlib.Path("PLACE.listens").touch()
while True:
    connection, _ = listening.accept()
    connection.sendall(b'{"work": "/tmp"}\\n{"broke": "caught"}\\n')
"""


def test_nothing_is_sent_to_a_command_that_stops_the_service_and_takes_its_place(place):
    """The command is cancelled while it listens: what follows at once must not reach it."""
    listens, cancelled = Path(f"{place}.listens"), threading.Event()
    words = [sys.executable, "-c", LISTENS.replace("PLACE", place)]
    script = (
        f"import subprocess, time\nsubprocess.Popen({words}, env={{}}, start_new_session=True)\n"
        "time.sleep(60)"
    )

    def cancel():
        wait_until(listens.exists)
        cancelled.set()

    thread = threading.Thread(target=cancel)
    thread.start()
    with pytest.raises(Ended):
        run(place, script, words=(sys.executable, "-c"), cancelled=cancelled)
    thread.join()

    assert run(place, "cat ../secrets/token", secrets={"token": "of-another-team"}).output == (
        b"of-another-team"
    )
    assert not listens.exists()


def test_two_workers_take_turns(place, monkeypatch):
    """No secret is on its way while a command of somebody else runs."""
    connected: list[str] = []
    monkeypatch.setattr(run_apart_module, "_connect", connected.append)
    leases = iter([15.0])
    with turns_of(place).open("w") as held:
        flock(held, LOCK_EX)

        with pytest.raises(Ended):
            run(place, "true", lease=lambda: next(leases, 0.0))

    assert connected == []


def test_a_worker_waits_where_another_was_killed_while_its_command_ran(place, monkeypatch):
    monkeypatch.setattr(run_apart_module, "LEFT_SECONDS", 0.2)
    waited: list[float] = []
    monkeypatch.setattr(run_apart_module, "sleep", waited.append)
    turns_of(place).write_text("1")

    assert run(place, "echo here").output == b"here\n"
    assert len(waited) > 1
    assert turns_of(place).read_text() == ""


def test_what_a_command_writes_to_the_program_that_runs_it_keeps_nothing_alive(place):
    """Deep JSON, for instance, which breaks the reader."""
    script = (
        "import os, subprocess, time\n"
        "subprocess.Popen(['setsid', 'env', '-i', 'sleep', '62'], start_new_session=True)\n"
        "time.sleep(0.2)\n"
        "for number in range(3, 30):\n"
        "    try:\n"
        "        os.write(os.open(f'/proc/{os.getppid()}/fd/{number}', os.O_WRONLY | os.O_NONBLOCK), b'[' * 60000 + b'\\n')\n"
        "    except OSError: pass\n"
        "time.sleep(1)"
    )
    with suppress(Broke):
        run(place, script, words=(sys.executable, "-c"))

    assert run(place, "cat /proc/[0-9]*/comm | grep -c sleep").output == b"0\n"


def test_modes_and_files_of_its_directories_are_set_back(place):
    home = Path(place).parent
    before = (home.stat().st_mode, (home / "work").stat().st_mode)
    run(place, f"echo mine >{home}/mine; chmod 0 {home}/work {home}")

    assert run(place, "echo here").output == b"here\n"
    assert (home.stat().st_mode, (home / "work").stat().st_mode) == before
    assert not (home / "mine").exists()


@pytest.mark.parametrize(
    "script", ["prlimit --pid 1 --nofile=100:100", "renice -n 5 -p 1", "taskset -p 1 1"]
)
def test_the_service_ends_after_a_command_that_changed_its_limits(script):
    """What runs next would inherit them; whoever started the service starts another."""
    with serving() as (place, process):
        assert run(place, script).exit_status == 0
        assert process.wait(10) == 1


def test_what_cannot_be_started_is_said(place):
    command = Command(["nonono"], 20.0, 100, new_marker())

    with pytest.raises(NotStarted, match="“nonono” cannot be started on this worker: No such file"):
        run_apart(
            place, command, turns_of(place),
            cancelled=threading.Event(), lease_seconds=lambda: 15.0, progress=print,
        )  # fmt: skip


def test_a_service_that_is_away_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(run_apart_module, "COMES_BACK_SECONDS", 0.0)
    missing = str(tmp_path / "socket")

    for ask in (lambda: run(missing, "true"), lambda: work_of(missing)):
        with pytest.raises(
            Broke, match=r"does not answer: .*No such file.* PERFDASH_PROGRAM_SERVICE"
        ):
            ask()


def test_a_service_that_would_kill_processes_of_others_does_not_start(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(service, "ALONE_SECONDS", 0.0)

    ended = service.main(["--socket", str(tmp_path / "socket"), "--work", str(tmp_path)])

    assert ended == 2
    assert "a user of its own" in capsys.readouterr().err


def test_a_service_that_commands_could_stop_does_not_start(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(os, "getuid", lambda: 4322)
    monkeypatch.setattr(service, "others", lambda: False)

    ended = service.main(["--socket", str(tmp_path / "socket"), "--work", str(tmp_path)])

    assert ended == 2
    assert "the first process of a PID namespace" in capsys.readouterr().err
