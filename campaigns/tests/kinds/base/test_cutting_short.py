"""The end of a load whose outcome is certain."""

import threading
from pathlib import Path
from time import perf_counter_ns

import pytest

from campaigns.kinds.base import Cancelled, Context, CutShort, TargetUnavailable, cut_short
from campaigns.kinds.base import cutting_short as module
from campaigns.kinds.base.cutting_short import is_certain, wilson_low
from campaigns.kit.network import Rules


def context(**changes):
    return Context(
        cancelled=threading.Event(),
        lease_seconds=lambda: 60.0,
        progress=lambda values: None,
        say=lambda text: None,
        clock=perf_counter_ns,
        directory=Path("/nowhere"),
        rules=Rules(()),
        deadline_seconds=60,
        **{"most_failed": 0.05} | changes,
    )


def count(values):
    return values["done"], values["failed"]


def load(given, reports, planned=None):
    """Report progress until the load has to end, as drivers do; return the reports that were left."""
    left = list(reports)
    with cut_short(given, planned, count) as watched:
        while left:
            done, failed = left.pop(0)
            watched.progress({"done": done, "failed": failed, "seconds": 1.0})
            watched.check()
    return left


@pytest.mark.parametrize(
    ("failed", "ended", "planned", "certain"),
    [
        (1, 1, 20, False),  # 5 % may fail: one of 20
        (2, 2, 20, True),
        (29, 29, 100, True),
        (5, 100, 100, False),
        (0, 100, 100, False),
        (49, 49, None, False),  # too few to judge
        (50, 50, None, True),
        (2, 50, None, False),
        (7, 50, None, False),  # 14 %: at least 4.7 % for certain
        (8, 50, None, True),
        (6, 100_000, None, False),
    ],
)
def test_what_is_certain(failed, ended, planned, certain):
    assert is_certain(failed, ended, planned, 0.05) == certain


def test_a_limit_that_is_no_round_binary_number_is_kept():
    assert not is_certain(29, 29, 100, 0.29)
    assert is_certain(30, 30, 100, 0.29)
    assert not is_certain(100, 100, 100, 1.0)


def test_wilsons_lower_end_is_that_of_published_tables():
    assert wilson_low(15, 50, 1.959964) == pytest.approx(0.1910, abs=5e-5)
    assert wilson_low(0, 50) == 0


def test_it_ends_when_more_failed_than_may_and_counts_what_was_planned():
    with pytest.raises(CutShort) as cut:
        load(context(), [(3, 1), (5, 2), (9, 9)], planned=20)

    measured = cut.value.measured("hosts")
    assert measured.failure == (
        "Cut short: 2 of 20 hosts had failed, more than may fail in the whole run."
    )
    assert (measured.units_done, measured.units_failed, measured.values) == (18, 2, {})
    assert measured.pauses == ""


def test_it_ends_where_nobody_knows_how_many_there_are():
    with pytest.raises(CutShort) as cut:
        load(context(), [(10, 20), (30, 30), (40, 60)])

    measured = cut.value.measured("requests")
    assert measured.failure.startswith("Cut short: 30 of 60 requests had failed, so for certain")
    assert (measured.units_done, measured.units_failed) == (30, 30)


def test_a_load_that_may_fail_goes_on_and_a_cancel_stays_one():
    assert load(context(most_failed=None), [(0, 99), (0, 999)], planned=20) == []
    assert load(context(), [(19, 1)], planned=20) == []
    given = context()
    given.cancelled.set()
    with pytest.raises(Cancelled):
        load(given, [(1, 9)], planned=20)


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(module, "CHECK_SECONDS", 0.001)


def load_of(ask, answers=lambda number: 0):
    """Let a load go on until the checks of health end it; answers: units done at the n-th look."""
    asked: list[int] = []
    ended = threading.Event()

    def ask_and_count():
        asked.append(1)
        if len(asked) > 20:
            ended.set()
        return ask(len(asked))

    given = context(ask_health=ask_and_count)
    with cut_short(given, 100, count) as watched:
        number = 0
        while not ended.wait(0.0005):
            number += 1
            watched.progress({"done": answers(number), "failed": 0})
            watched.check()
    return len(asked)


def test_two_failed_checks_in_a_row_end_it_and_pause_the_campaign(quick):
    with pytest.raises(CutShort) as cut:
        load_of(lambda number: "" if number % 4 < 2 else "service pulp3 FAIL", lambda number: 7)

    measured = cut.value.measured("hosts")
    assert measured.failure == (
        "Cut short: the target failed two health checks in a row after 7 of 100 hosts, the last one: service pulp3 FAIL."
    )
    assert (measured.units_done, measured.units_failed) == (7, 93)
    assert measured.pauses == "the target failed two health checks in a row"


def test_checks_that_fail_now_and_then_end_nothing(quick):
    assert load_of(lambda number: "busy" if number % 2 else "") > 20


def silent(number):
    raise TargetUnavailable("No answer within 10 s.")


def test_a_check_without_an_answer_counts_only_where_nothing_else_is_answered(quick):
    with pytest.raises(CutShort):
        load_of(silent)
    progress = iter(range(10**9))
    given = context()
    watch = module._Watch(given, None, count, 0.05)

    def answered(number=0):
        watch.answers = next(progress)
        if watch.answers > 30:
            watch.over.set()
        silent(number)

    watch.check_health(answered)

    assert watch.unhealthy == ""
