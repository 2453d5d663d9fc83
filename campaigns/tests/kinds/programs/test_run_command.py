"""Commands on this machine, in the engine program."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from campaigns.kinds.programs.commands import MARK, Command, Ran, new_marker, why_failed
from campaigns.kinds.programs.program import run_program

pytestmark = pytest.mark.system
MODULE = "campaigns.kinds.programs.run_command"


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
