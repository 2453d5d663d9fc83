import json
import os
import resource
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack
from typing import Any

import pytest

from campaigns.kinds.programs.deadline import monotonic
from campaigns.kinds.programs.program import (
    ROOT,
    Outcome,
    ProgramFailed,
    WaitingProgram,
    run_program,
)
from campaigns.tests.kinds.programs.processes import keeping, lives, said, until

pytestmark = pytest.mark.system

OBEDIENT = "campaigns.tests.kinds.programs.obedient"


how: dict[str, Any] = {"keep_loaded": False}


@pytest.fixture(autouse=True, params=[False, True], ids=["started", "forked"])
def each_way(request):
    how["keep_loaded"] = request.param


def run(do: str, **options) -> Outcome:
    request = {"do": do} | options.pop("request", {})
    options.setdefault("cancelled", threading.Event())
    options.setdefault("lease_seconds", lambda: 30.0)
    options.setdefault("deadline_seconds", 30.0)
    return run_program(OBEDIENT, request, **how, **options)


def test_what_a_program_reports_is_collected():
    seen: list = []

    outcome = run("report", progress=seen.append, request={"name": "ä,\n"})

    assert outcome.samples == {"x": [1, 2, 3], "y": ["a", "b", "c"]}
    assert outcome.result["echo"] == {"do": "report", "name": "ä,\n"}
    assert seen == [{"done": 1}]
    assert outcome.cpu_seconds > 0
    assert not outcome.cancelled
    assert not outcome.timed_out


def test_a_program_gets_no_secret_and_a_group_of_its_own(monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgres://secret")
    monkeypatch.setenv("PERFDASH_ENCRYPTION_KEYS", "secret")

    outcome = run("report")

    assert set(outcome.hello["environment"]) <= {
        "PATH",
        "LANG",
        "LC_ALL",
        "LC_CTYPE",
        "LD_LIBRARY_PATH",
        "OPENSSL_CONF",
        "SSL_CERT_DIR",
        "SSL_CERT_FILE",
    }
    assert outcome.hello["group"] != os.getpgrp()


@pytest.fixture
def waiting():
    """Programs that wait, which are removed at last."""
    with ExitStack() as stack:

        def start(do, lease_seconds=lambda: 30.0, **options):
            program = WaitingProgram(
                OBEDIENT,
                {"do": do},
                cancelled=threading.Event(),
                lease_seconds=lease_seconds,
                deadline_seconds=options.get("deadline_seconds", 30.0),
            )
            stack.callback(program.remove)
            return program

        yield start


def go_on(program, **options):
    return program.run(cancelled=threading.Event(), deadline_seconds=30.0, **options)


def test_a_program_waits_for_its_start_and_goes_on(waiting):
    seen: list = []
    program = waiting("wait")

    assert program.hello == {"prepared": True}
    assert program.is_waiting()
    assert go_on(program, progress=seen.append).result["echo"] == {"do": "wait"}
    assert seen == [{"started": True}]
    assert not program.is_waiting()


def test_a_program_that_is_not_ready_in_time_is_ended(waiting):
    program = waiting("hang", deadline_seconds=0.5)

    assert program.ended.timed_out
    assert not program.is_waiting()


def test_a_program_without_a_lease_does_not_wait_on(waiting):
    left = [30.0]
    program = waiting("wait", lease_seconds=lambda: left[0])
    program._program.alive_until = 0.0
    left[0] = 0.0

    assert not program.is_waiting()
    assert go_on(program).cancelled


def test_a_program_that_did_not_read_the_newest_lease_was_cancelled_and_did_not_crash(waiting):
    program = waiting("wait")
    program._program.lease_sent_at = monotonic() + 60  # the next lease is not sent
    program._program.known_until = monotonic()
    os.kill(program._program.process.pid, signal.SIGKILL)

    assert go_on(program).cancelled


def test_a_program_that_is_killed_within_its_lease_has_crashed(waiting):
    program = waiting("wait")
    os.kill(program._program.process.pid, signal.SIGKILL)

    with pytest.raises(ProgramFailed, match="killed by SIGKILL"):
        go_on(program)


def test_a_large_request_arrives_whole():
    outcome = run("report", request={"files": ["x" * 100] * 30_000})

    assert len(outcome.result["echo"]["files"]) == 30_000


def test_a_crash_is_told_with_the_end_of_stderr():
    with pytest.raises(ProgramFailed, match=r"exit code 1(?s:.)*no such luck, Bob"):
        run("crash", request={"name": "Bob"})


def test_a_killed_program_is_told_with_the_signal():
    with pytest.raises(ProgramFailed, match=r"SIGKILL.*out of memory"):
        run("die", request={"signal": signal.SIGKILL})


@pytest.mark.parametrize("line", ["{not json", "[1]", '{"unknown": 1}', '{"samples": 3}', "7"])
def test_a_line_that_cannot_be_read_ends_the_program(line):
    with pytest.raises(ProgramFailed, match="cannot be read"):
        run("babble", request={"line": line})


def test_an_end_without_a_result_is_a_failure():
    with pytest.raises(ProgramFailed, match="without a result"):
        run("leave")


def test_cancelling_kills_the_program_and_what_it_started():
    cancelled, pids = threading.Event(), []

    def started(values):
        pids.extend(values["pids"])
        cancelled.set()

    outcome = run("hang", cancelled=cancelled, progress=started)

    assert outcome.cancelled
    assert not outcome.result
    assert len(pids) == 2
    assert until(lambda: not any(lives(pid) for pid in pids))


def test_a_program_is_not_left_behind_when_the_keeper_fails():
    pids: list[int] = []

    def broken(values):
        pids.extend(values["pids"])
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run("hang", progress=broken)

    assert until(lambda: not any(lives(pid) for pid in pids))


@pytest.mark.slow
def test_a_program_that_takes_too_long_is_killed_and_keeps_its_samples():
    outcome = run("hang", deadline_seconds=2.0)

    assert outcome.timed_out
    assert outcome.samples == {"x": [1]}
    assert not lives(outcome.progress["pids"][0])


def test_a_lost_lease_ends_the_program():
    heard = threading.Event()

    outcome = run(
        "hang",
        progress=lambda values: heard.set(),
        lease_seconds=lambda: 0.0 if heard.is_set() else 30.0,
    )

    assert outcome.cancelled
    assert not lives(outcome.progress["pids"][0])


@pytest.mark.slow
def test_a_stopped_keeper_cannot_keep_its_engine_loading():
    asked = {"module": OBEDIENT, "request": {"do": "hang"}, "lease_seconds": 1.0}
    with keeping(**asked, **how, renew_seconds=1.5) as keeper:
        pids = said(keeper)["pids"]

        keeper.send_signal(signal.SIGSTOP)

        assert until(lambda: not any(lives(pid) for pid in pids))
        keeper.send_signal(signal.SIGCONT)
        assert said(keeper) == {"cancelled": True, "result": {}}


def test_an_engine_that_stands_still_with_its_keeper_never_wakes_up_again():
    asked = {"module": OBEDIENT, "request": {"do": "hang"}, "lease_seconds": 60.0}
    with keeping(**asked, **how, renew_seconds=1.5) as keeper:
        pids = said(keeper)["pids"]

        for pid in (keeper.pid, *pids):
            os.kill(pid, signal.SIGSTOP)

        assert until(lambda: not lives(pids[0]))
        keeper.send_signal(signal.SIGCONT)
        assert said(keeper) == {"cancelled": True, "result": {}}
        assert until(lambda: not any(lives(pid) for pid in pids))


def test_a_killed_keeper_takes_its_engine_with_it():
    asked = {"module": OBEDIENT, "request": {"do": "hang"}, "lease_seconds": 60.0}
    with keeping(**asked, **how) as keeper:
        pid = said(keeper)["pids"][0]

        keeper.kill()

        assert until(lambda: not lives(pid))


@pytest.mark.parametrize("parent", [os.getpid(), 1], ids=["the parent", "another"])
def test_a_program_ends_with_its_pipe_or_where_the_parent_is_not_the_one_told(parent):
    line = {"request": {"do": "hang"}, "parent": parent, "alive_until": monotonic() + 60}
    command = [sys.executable, "-m", OBEDIENT]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        program.stdin.write(json.dumps(line).encode() + b"\n")
        program.stdin.flush()
        if parent == os.getpid():
            program.stdout.readline()
            assert program.poll() is None
            program.stdin.close()

        assert program.wait(5) == -signal.SIGKILL


def test_a_program_that_starts_slowly_finds_its_lease_renewed_behind_the_request():
    request = {"request": {"do": "hang"}, "parent": os.getpid(), "alive_until": monotonic() - 1}
    lines = [request, {"alive_until": monotonic() + 60}]
    command = [sys.executable, "-m", OBEDIENT]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        program.stdin.write(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        program.stdin.flush()

        assert program.stdout.readline()
        program.stdin.close()


def test_peak_memory_is_that_of_the_program_not_of_its_parent():
    ours = bytearray(os.urandom(1) * 200_000_000)

    small = run("allocate", request={"bytes": 0}).result["peak_memory_bytes"]
    large = run("allocate", request={"bytes": 60_000_000}).result["peak_memory_bytes"]

    assert len(ours) == 200_000_000
    assert (
        how["keep_loaded"]
        or resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 > 200_000_000
    )
    assert small < 100_000_000
    assert large - small > 50_000_000
