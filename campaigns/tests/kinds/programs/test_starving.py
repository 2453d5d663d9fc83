"""The rule of starved generators, on figures and on real processes that share one CPU with busy loops."""

import sys
import threading
import time

import pytest

from campaigns.kinds.load.judging import judge as judge_load
from campaigns.kinds.programs import starving
from campaigns.kinds.programs.commands import Command, new_marker
from campaigns.kinds.programs.health import judge
from campaigns.kinds.programs.run_here import run_in
from campaigns.kinds.programs.starving import (
    STARVED_SHARE,
    Waiting,
    is_starved,
    waited_share,
    why_starved,
)
from campaigns.tests.busy import one_busy_cpu

FULL = {"cores": 2.0, "machine_cpu_share": 1.0}


@pytest.mark.parametrize(
    ("figures", "share"),
    [
        ({}, None),
        ({"waited_share": 0.34}, 0.34),
        ({"waited_share": 1.7}, 1.0),
        # As versions before this rule stored it: one thread,
        ({"cpu_waiting_cores": 0.6, "cpu_cores": 0.3, "others_cpu_share": 0.8, **FULL}, 0.6),
        # several that wait for each other on a quiet machine,
        ({"cpu_waiting_cores": 3.2, "cpu_cores": 1.26, "others_cpu_share": 0.02, **FULL}, 0.04 / 1.3),
        # or while a CPU was free,
        (
            {"cpu_waiting_cores": 3.2, "cpu_cores": 1.0, "others_cpu_share": 0.2, **FULL}
            | {"machine_cpu_share": 0.7},
            0.0,
        ),
        # and beside others.
        ({"cpu_waiting_cores": 8.0, "cpu_cores": 0.5, "others_cpu_share": 0.75, **FULL}, 0.75),
        # A kernel that counts no waiting: what others use decides.
        ({"others_cpu_share": 0.98, **FULL}, 0.98),
        ({"others_cpu_share": 0.45, **FULL}, 0.0),
        ({"others_cpu_share": 0.6, **FULL} | {"machine_cpu_share": 0.7}, 0.0),
    ],
)  # fmt: skip
def test_the_share_of_the_time_that_others_kept_a_generator_waiting(figures, share):
    assert waited_share(figures) == (share if share is None else pytest.approx(share))
    assert is_starved(figures) == ((share or 0.0) > STARVED_SHARE)
    assert bool(why_starved(figures)) == is_starved(figures)


@pytest.mark.parametrize("judge_run", [judge, judge_load], ids=["client", "load"])
def test_a_starved_run_is_starved_wherever_the_target_is(judge_run):
    figures = {"waited_share": 0.34, "others_cpu_share": 0.98}

    verdict = judge_run(figures)
    here = judge_run(figures | {"target_is_here": 1.0})

    assert (verdict.word, here.word) == ("starved", "starved")
    assert verdict.reasons == (
        "The generator waited for a CPU 34% of the time; other programs used 98% of it. Run it on a quiet machine, or from "
        "another one.",
    )
    assert here.reasons[0].endswith("one of them: put it elsewhere for values that count.")


@pytest.mark.parametrize("judge_run", [judge, judge_load], ids=["client", "load"])
def test_a_run_that_is_saturated_and_starved_says_both(judge_run):
    figures = {"waited_share": 0.34, "others_cpu_share": 0.98, "exhausted": 2.0}

    verdict = judge_run(figures)

    assert verdict.word == "saturated"
    assert is_starved(figures)
    assert "ran out of file descriptors" in verdict.reasons[0]
    assert "waited for a CPU 34%" in verdict.reasons[1]


@pytest.mark.parametrize("judge_run", [judge, judge_load], ids=["client", "load"])
@pytest.mark.parametrize(
    ("share", "word"),
    [(0.0, "healthy"), (0.05, "healthy"), (0.06, "warned"), (0.1, "warned"), (0.11, "starved")],
)
def test_a_run_that_waited_less_is_warned_of_or_healthy(judge_run, share, word):
    assert judge_run({"waited_share": share, "others_cpu_share": 0.9}).word == word


def test_threads_of_one_generator_that_wait_for_each_other_are_not_starved():
    assert starving._share(3.0, own=2.0, others=0.0, full=1.0) == 0.0
    assert starving._share(3.0, own=1.5, others=0.5, full=1.0) == 0.25


@pytest.fixture
def hogs():
    """Busy loops on the CPU of the test."""
    with one_busy_cpu():
        yield


def compute(seconds):
    ends = time.process_time() + seconds
    while time.process_time() < ends:
        pass


@pytest.mark.system
def test_a_process_beside_busy_loops_waits_most_of_the_time(hogs):
    waiting = Waiting()
    waiting.begin()
    compute(0.05)
    waiting.look(last=True)

    figures = waiting.figures()
    assert (waited_share(figures) or 0) > 0.5
    assert figures["others_cpu_share"] > 0.5


@pytest.mark.system
def test_what_a_thread_waited_that_has_ended_is_not_forgotten(hogs):
    waiting = Waiting()
    waiting.begin()
    ended = threading.Event()

    def work():
        compute(0.05)
        waiting.look(last=True)
        ended.set()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    before = waiting.figures()["waited_share"] * waiting.seconds
    waiting.look(last=True)

    assert before > 0.1
    assert waiting.figures()["waited_share"] * waiting.seconds >= before - 1e-6


@pytest.mark.system
def test_a_program_beside_busy_loops_is_starved_and_says_so_meanwhile(hogs, tmp_path):
    told: list[dict[str, float]] = []
    code = "import time\nends = time.process_time() + 0.6\nwhile time.process_time() < ends: pass"
    ran = run_in(
        tmp_path,
        Command([sys.executable, "-I", "-S", "-c", code], 60, 1000, new_marker()),
        (),
        cancelled=threading.Event(),
        lease_seconds=lambda: 60.0,
        progress=told.append,
    )

    assert ran.exit_status == 0
    assert told[-1]["waited_share"] > STARVED_SHARE
    assert judge(ran.figures).word == "starved"
