"""Commands on this machine, in the engine program."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from campaigns.kinds.programs.commands import MARK, Command, Ran, new_marker, why_failed
from campaigns.kinds.programs.program import ROOT, ProgramFailed, run_program
from campaigns.kit import kernel

pytestmark = pytest.mark.system
MODULE = "campaigns.kinds.programs.run_command"
LOOKS = "cat /proc/*/environ; ls -l /proc/$PPID/fd /proc/$$/fd; tr '\\0' '\\n' </proc/$$/environ"
PR_CAPBSET_DROP = 24
WORKER = """
import sys, threading, os
from campaigns.kinds.programs.commands import Command
from campaigns.kinds.programs.program import run_program
if sys.argv[2] == "hidden":
    import perfdash
held = os.open("/etc/passwd", os.O_RDONLY)
os.set_inheritable(held, True)
child = os.fork()
if child == 0:  # as the children of a worker are
    command = Command(("sh", "-c", sys.argv[3]), 20.0, 10_000_000, "m" * 24)
    request = command.request(sys.argv[1])
    run_program("campaigns.kinds.programs.run_command", request, cancelled=threading.Event(),
                lease_seconds=lambda: 15.0, deadline_seconds=60.0)
    os._exit(0)
os.waitpid(child, 0)
"""


def command(*arguments, seconds=20.0, output_bytes=100_000, **more):
    return Command(arguments, seconds, output_bytes, new_marker(), **more)


def run(what, directory, cancelled=None):
    return run_program(
        MODULE,
        what.request(str(directory)),
        cancelled=cancelled or threading.Event(),
        lease_seconds=lambda: 15.0,
        deadline_seconds=60.0,
    )


def processes_of(what):
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if f"{MARK}={what.marker}".encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
    return found


def wait_until(done):
    for _ in range(200):
        if done():
            return
        time.sleep(0.05)
    pytest.fail("it did not come about")


def test_it_prints_and_measures(tmp_path):
    what = command(
        *("sh", "-c", "cat ../secrets/key; ls -l ../secrets | tail -1; echo $A >&2; pwd"),
        environment={"A": "x y"},
        secrets={"key": "s3cret\n"},
    )
    result = run(what, tmp_path).result
    first, second, place = (tmp_path / "output").read_text().splitlines()
    assert (first, second[:10], place) == ("s3cret", "-rw-------", str(tmp_path / "work"))
    assert (tmp_path / "errors").read_text() == "x y\n"
    assert result["exit_status"] == 0
    assert result["cpu_seconds"] > 0
    assert why_failed(what, Ran(**result)) == ""


@pytest.mark.parametrize(
    ("arguments", "more", "message"),
    [
        (("sh", "-c", "exit 3"), {}, "ended with exit status 3. It printed nothing."),
        (("sleep", "60"), {"seconds": 0.3}, "did not end within 0.3 s"),
        (("yes",), {}, "printed more than 100,000 bytes"),
        (("sh", "-c", "kill -11 $$"), {}, "was ended by SIGSEGV"),
        (
            ("python3", "-c", "import time; a = bytearray(9 << 24); time.sleep(60)"),
            {"memory_bytes": 1 << 26},
            "used more than its 64 MiB of memory",
        ),
    ],
)
def test_failures_have_words(tmp_path, arguments, more, message):
    what = command(*arguments, **more)
    assert message in why_failed(what, Ran(**run(what, tmp_path).result))
    wait_until(lambda: not processes_of(what))


def test_what_it_leaves_behind_is_killed(tmp_path):
    what = command("sh", "-c", "setsid sleep 300 & sleep 300 & exit 0")
    assert run(what, tmp_path).result["left"] == 2
    wait_until(lambda: not processes_of(what))


def test_a_cancel_leaves_no_process(tmp_path):
    what, cancelled = command("sh", "-c", "setsid sleep 300 & sleep 300"), threading.Event()

    def cancel():
        wait_until(lambda: len(processes_of(what)) >= 3)
        cancelled.set()

    thread = threading.Thread(target=cancel)
    thread.start()
    assert run(what, tmp_path, cancelled).cancelled
    thread.join()
    wait_until(lambda: not processes_of(what))


def test_a_killed_worker_leaves_no_process(tmp_path):
    what = command("sh", "-c", "setsid sleep 300 & sleep 300")
    code = (
        "import json, sys, threading; from campaigns.kinds.programs.program import run_program;"
        f"run_program({MODULE!r}, json.loads(sys.argv[1]), cancelled=threading.Event(),"
        " lease_seconds=lambda: 15.0, deadline_seconds=60.0)"
    )
    import json

    request = json.dumps(what.request(str(tmp_path)))
    worker = subprocess.Popen(
        [sys.executable, "-c", code, request],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    wait_until(lambda: len(processes_of(what)) >= 3)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    wait_until(lambda: not processes_of(what))


# What escapes its group, its session and its environment


@pytest.fixture(params=["separated", "not separated"])
def way(request, tmp_path, monkeypatch):
    """Whether the machine has bubblewrap; the other programs of these tests are there."""
    if request.param == "not separated":
        place = tmp_path / "programs"
        place.mkdir()
        for name in ("sh", "setsid", "env", "sleep"):
            (place / name).symlink_to(shutil.which(name))
        monkeypatch.setenv("PATH", str(place))
    return request.param


def with_argument(text):
    """The living processes that have an argument."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if text.encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
    return found


ESCAPES = "setsid env -i {path} sleep {long} & (env -i {path} setsid sh -c 'sleep {long} & sleep {long} &' &); sleep 0.1"


def escaping(path):
    long = f"300.{os.getpid()}"
    return command("sh", "-c", ESCAPES.format(long=long, path=f"PATH={path}")), long


def test_nothing_escapes_the_end_of_a_command(tmp_path, way):
    what, long = escaping(os.environ["PATH"])

    result = run(what, tmp_path).result

    assert (result["exit_status"], result["left"]) == (0, 3)
    assert bool(result["not_separated"]) == (way == "not separated")
    wait_until(lambda: not with_argument(long))


def test_nothing_that_is_separated_escapes_a_killed_engine(tmp_path):
    long = f"301.{os.getpid()}"
    what = command("sh", "-c", f"setsid env -i PATH=$PATH sleep {long} & sleep {long}")
    engines = []

    def kill():
        wait_until(lambda: len(with_argument(long)) >= 2)
        engines.extend(with_argument(MODULE))
        for engine in engines:
            os.kill(engine, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    with suppress(ProgramFailed):
        run(what, tmp_path)
    thread.join()

    assert engines
    wait_until(lambda: not with_argument(long))


def test_a_program_that_is_not_there_is_told(tmp_path, way):
    assert run(command("no-such-program"), tmp_path).result == {
        "not_started": "No such file or directory"
    }


def test_memory_is_that_of_the_command_alone(tmp_path):
    result = run(command("sleep", "0.6"), tmp_path).result

    assert result["not_separated"] == ""
    assert result["peak_memory_bytes"] < 5_000_000
    assert result["seconds"] >= 0.6


def test_a_separated_command_sees_its_own_directory_alone(tmp_path):
    data = tmp_path / "data"
    here, other = data / "work" / "mine", data / "work" / "other"
    for each in (here, other):
        each.mkdir(parents=True)
    (data / "state.json").write_text("SECRET_KEY")
    (other / "password").write_text("of another run")
    outside, tool = tmp_path / "outside", tmp_path / "tool"
    tool.write_text("echo a tool")
    script = (
        f"cat {data}/state.json {other}/password; ls {data} {data}/work; echo mine >kept; echo x >{outside}; echo x >/tmp/x; "
        "sh $1; ls -d /proc/[0-9]* | wc -l"
    )
    what = command("sh", "-c", script, "sh", str(tool), str(data / "state.json"))

    result = run_program(
        MODULE,
        {**what.request(str(here)), "hidden": [str(data)]},
        cancelled=threading.Event(),
        lease_seconds=lambda: 15.0,
        deadline_seconds=60.0,
    ).result

    printed = (here / "output").read_text()
    assert result["exit_status"] == 0
    assert "SECRET_KEY" not in printed
    assert "of another run" not in printed
    assert printed.split()[:4] == [f"{data}:", "work", f"{data}/work:", "mine"]
    assert printed.splitlines()[-2] == "a tool"
    assert int(printed.split()[-1]) <= 6
    assert (here / "work" / "kept").read_text() == "mine\n"
    assert not outside.exists()


@pytest.mark.parametrize(
    "argument",
    ["/tmp/" + "x" * 1500, "/tmp/../etc/passwd", "/tmp/./x", "/tmp", "/tmp/a\nb"],  # noqa: S108
)
def test_no_argument_prevents_that_a_command_is_separated(tmp_path, argument):
    result = run(command("sh", "-c", "exit 0", "sh", argument), tmp_path).result

    assert (result["exit_status"], result["not_separated"]) == (0, "")


def test_the_environment_of_a_command_reaches_nothing_that_separates_it(tmp_path):
    false = tmp_path / "bwrap"
    false.write_text("#!/bin/sh\necho not the real one\n")
    false.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    what = command(
        *("/bin/sh", "-c", "echo $PATH $PYTHONHOME; ls -d /proc/[0-9]* | wc -l"),
        environment={"PATH": path, "PYTHONHOME": "/nowhere", "LD_PRELOAD": "/no/such.so"},
    )

    result = run(what, tmp_path).result

    printed = (tmp_path / "output").read_text().split()
    assert (result["exit_status"], result["not_separated"]) == (0, "")
    assert printed[:2] == [path, "/nowhere"]
    assert int(printed[2]) <= 6
    assert "no/such.so" in (tmp_path / "errors").read_text()  # the command's own loader says so


def without_capabilities():
    """Let root be any user."""
    for number in range(64):
        kernel.LIBC.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)


@pytest.mark.parametrize("how", ["hidden", "open"])
def test_a_program_reads_no_secret_of_the_worker(tmp_path, how):
    """An open process shows that the program would find it. Root, too, is any user here."""
    path = os.pathsep.join([str(ROOT), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", WORKER, str(tmp_path), how, LOOKS],
        env={**os.environ, "PYTHONPATH": path, "SECRET_KEY": "planted-secret"},
        preexec_fn=without_capabilities,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    printed = (tmp_path / "output").read_text(errors="replace")
    assert "PERFDASH_RUN=" in printed
    assert ("planted-secret" in printed) == (how == "open")
    assert "/etc/passwd" not in printed.partition("/proc/$$")[2]
