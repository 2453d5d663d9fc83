"""What pgbench 15.18 and 18.6 wrote."""

import pytest

from campaigns.kinds.sql.engine.output import failure_of, progress_of, summary_of
from campaigns.kinds.sql.proofs import seen_proof
from campaigns.kinds.sql.summary import Transactions
from campaigns.kit import histogram

OFFERED = """pgbench (15.18 (Debian 15.18-0+deb12u1), server 18.6)
transaction type: r.sql
scaling factor: 1
query mode: prepared
number of clients: 1
number of threads: 1
maximum number of tries: 1
duration: 2 s
number of transactions actually processed: 417
number of failed transactions: 0 (0.000%)
number of serialization failures: 0 (0.000%)
number of deadlock failures: 0 (0.000%)
number of transactions skipped: 200 (32.415%)
number of transactions above the 12.0 ms latency limit: 206/417 (49.400%)
latency average = 11.640 ms
latency stddev = 5.994 ms
rate limit schedule lag: avg 7.073 (max 11.997) ms
initial connection time = 5.358 ms
tps = 208.661713 (without initial connection time)
"""
EACH = """pgbench (18.6)
number of transactions actually processed: 5/6
number of failed transactions: 1 (16.667%)
number of serialization failures: 1 (16.667%)
number of deadlock failures: 0 (0.000%)
latency average = 2.785 ms
average connection time = 8.348 ms
tps = 168.218011 (including reconnection times)
"""


def test_the_summary_of_an_offered_rate_is_read():
    found = summary_of(OFFERED)

    assert found is not None
    assert (found.processed, found.tps, found.connect_ms) == (417, 208.661713, 5.358)
    assert (found.counts["skipped"], found.counts["failed"]) == (200, 0)


def test_the_summary_with_a_connection_each_is_read():
    found = summary_of(EACH)

    assert found is not None
    assert (found.processed, found.counts["serialization"], found.connect_ms) == (5, 1, 8.348)


def test_a_summary_without_a_transaction_has_no_rate():
    found = summary_of("pgbench (15.18)\nnumber of transactions actually processed: 0\n")

    assert found is not None
    assert (found.processed, found.tps) == (0, 0.0)


def test_half_a_summary_is_none():
    assert summary_of(OFFERED.partition("tps")[0]) is None


def test_progress_is_read_in_all_forms():
    plain = "progress: 1.0 s, 4962.0 tps, lat 0.492 ms stddev 1.307, 393 failed, 1272 retried, 1272 retries"
    offered = "progress: 2.0 s, 196.0 tps, lat 12.224 ms stddev 7.766, 0 failed, lag 7.338 ms, 121 skipped"

    assert progress_of(plain) == (1.0, 4962.0, 393)
    assert progress_of(offered) == (2.0, 196.0, 0)
    assert progress_of("pgbench: error: x") is None


AT = 'pgbench: error: connection to server at "127.0.0.1", port 5432 failed: '
ABORTED = "pgbench: error: client 3 script 0 aborted in command 1 query 0: "
ENDED = {
    f"{AT}FATAL:  sorry, too many clients already": ("connect", "53300"),
    f"{AT}Connection refused": ("connect", "08006"),
    f"{AT}server closed the connection unexpectedly": ("connect", "08006"),
    f'{AT}FATAL:  password authentication failed for user "x"': ("auth", "28P01"),
    f"{ABORTED}ERROR:  division by zero": ("server", "22012"),
    f"{ABORTED}ERROR:  canceling statement due to statement timeout": ("timeout", "57014"),
    f"{ABORTED}ERROR:  deadlock detected": ("deadlock", "40P01"),
    f"{ABORTED}ERROR:  could not serialize access due to concurrent update": ("serialization", "40001"),
    f"{ABORTED}FATAL:  terminating connection due to administrator command": ("server", "57P01"),
    f'{ABORTED}ERROR:  relation "x" does not exist': ("server", "42P01"),
    "pgbench: fatal: script-0.sql:3: invalid command in command \"foo\"": ("script", ""),
    "something else": ("server", ""),
}  # fmt: skip


@pytest.mark.parametrize("line", ENDED)
def test_an_early_end_has_its_class_and_sqlstate(line):
    found = failure_of(["pgbench (15.18)", "progress: 1", line][::2])

    assert (found.failure, found.state) == ENDED[line]
    assert line in found.message


PARAMETERS = {
    "loop": "closed",
    "late_after_ms": None,
    "clients": 4,
    "transactions": None,
    "client_processes": "together",
    "connections": "kept",
}


def outcome(microseconds, seconds=10.0, of_clients=None, ended=(), log=None, **more):
    """Return what the engine gives of transactions that took so long."""
    times = {
        "encoded": histogram.encode(microseconds).encoded.decode(),
        "mean_us": sum(microseconds) / len(microseconds),
        "max_us": max(microseconds),
    }
    number = len(microseconds)
    counts = {
        "measured": number,
        "good": number,
        "seconds": seconds,
        "lines": number,
        "all_skipped": 0,
        "all_failures": {},
        "of_clients": of_clients or [number, 0, 0, 0],
        "histograms": {"response": times},
    }
    return {"log": counts | (log or {}), "processed": number, "failures": ended} | more


def test_a_sample_tells_neither_the_longest_nor_who_was_not_served():
    def values(**more):
        times = {
            "encoded": histogram.encode([900] * 4).encoded.decode(),
            "mean_us": 900.0,
            "max_us": 900.0,
        }
        log = {
            "measured": 4,
            "seconds": 1.0,
            "lines": 4,
            "all_skipped": 0,
            "all_failures": {},
            "of_clients": [4, 0],
        }
        result = {"log": log | {"histograms": {"response": times}}, "processed": 8} | more
        return Transactions(PARAMETERS | {"clients": 2}, result).values()

    whole, sample = values(), values(sampling_rate=0.5)

    assert (whole["tps"], whole["served"], whole["response_max"]) == (4.0, 50.0, 0.9)
    assert sample["tps"] == 8.0
    assert not {"clients_served", "served", "fairness", "response_max"} & sample.keys()


def test_a_rate_that_chance_alone_did_not_bring_is_no_bound():
    """Of 200 arrivals by chance one run in four has fewer than 190; all of them were begun."""

    def bounds(done, failures=0):
        log = {"measured": done, "failures": {"serialization": failures}, "skipped": 0}
        result = {"log": log | {"seconds": 20.0}, "figures": {}, "ended": [], "threads": 1}
        parameters = PARAMETERS | {"loop": "open", "rate": 10.0}
        return Transactions(parameters, result).health(target_is_here=False).reasons

    assert not any("began" in each for each in (*bounds(186), *bounds(176, failures=14)))
    assert any("Only 60% of the offered transactions began" in each for each in bounds(120))


OFFERED_RATE = PARAMETERS | {"loop": "open", "rate": 40.0, "late_after_ms": 100.0}
NOT_LET_IN = ("connect", "08001", "it was not let in before the end of the run")


@pytest.mark.parametrize(
    ("done", "parameters", "more", "due"),
    [
        (360, {}, {}, 360),  # 400 by chance
        (120, {}, {}, 400),  # the server stood still
        (120, {}, {"log": {"skipped": 270}}, 390),
        (395, {}, {"unfinished": 2}, 397),
        (95, {"client_processes": "apart"}, {"ended": [NOT_LET_IN] * 3}, 395),
        # A rate so low that chance hides it: three of four clients were to offer 3 of 4.
        (1, {"client_processes": "apart", "rate": 0.4}, {"ended": [NOT_LET_IN] * 3}, 4),
        (120, {"transactions": 100}, {"log": {"seconds": 3.0}}, 400),
        (390, {"transactions": 100}, {"log": {"skipped": 10, "seconds": 99.0}}, 400),
        (120, {"loop": "closed", "client_processes": "apart"}, {"ended": [NOT_LET_IN] * 3}, 120),
    ],
)
def test_arrivals_that_nobody_took_up_were_due(done, parameters, more, due):
    values = Transactions(OFFERED_RATE | parameters, outcome([900] * done, **more)).values()

    assert values["in_time"] == pytest.approx(100 * done / due)


@pytest.mark.parametrize(
    ("seen", "ended", "text"),
    [
        (4, [], 4),
        (
            3,
            [],
            "3 seen at a time; all were let in",
        ),  # the database was asked before the fourth was there
        (3, [NOT_LET_IN], "3: not let in, or disconnected: 1"),
        (None, [], "not looked: why"),
    ],
)
def test_who_was_not_seen_was_let_in_all_the_same(seen, ended, text):
    done = Transactions(PARAMETERS, outcome([900], ended=ended))

    assert seen_proof({"seen": seen, "unseen": "why"}, done).measured == text


def test_clients_that_were_not_let_in_do_not_wait_for_answers():
    parameters = OFFERED_RATE | {"late_after_ms": None, "client_processes": "apart"}

    found = Transactions(parameters, outcome([900] * 100, ended=[NOT_LET_IN] * 3))

    (reason,) = found.health(target_is_here=False).reasons
    assert reason.startswith("Only 25% of the offered transactions began: 3 of 4 clients")


@pytest.mark.parametrize(
    ("unfinished", "p99", "limits"),
    [
        (0, 0.1, set()),
        (1, 0.1, {"response_max"}),
        (15, 2000.0, {"response_p99", "response_max"}),
        (100, 2000.0, {"response_p95", "response_p99", "response_max"}),
    ],
)
def test_what_is_unfinished_makes_the_longest_times_lower_limits(unfinished, p99, limits):
    more = {"unfinished": unfinished, "waited_seconds": 2.0} if unfinished else {}
    found = Transactions(PARAMETERS, outcome([100] * 1000, **more))

    assert found.values()["response_p99"] == pytest.approx(p99)
    assert found.values()["response_max"] == (2000.0 if unfinished else 0.1)
    assert found.censored() == limits
    assert found.failures == ({"timeout": unfinished} if unfinished else {})


def test_clients_whose_lines_are_lost_are_not_said_to_be_without_an_answer():
    found = Transactions(PARAMETERS, outcome([900] * 9, of_clients=[3, 3, 3, 0], unheard=1))

    assert not {"clients_served", "served", "fairness"} & found.values().keys()


def test_a_time_above_a_lower_limit_is_one_too():
    times = [100] * 970 + [3_000_000] * 20

    found = Transactions(PARAMETERS, outcome(times, unfinished=10, waited_seconds=2.0))

    # The 10 that took 2 s or more may have taken more than 3 s: then p99 is 3 s, and else it is more.
    assert found.values()["response_p99"] == pytest.approx(3000, rel=0.01)
    assert found.values()["response_max"] == 3000
    assert found.censored() == {"response_p99", "response_max"}


def test_the_seconds_in_which_nothing_was_done_are_in_the_series():
    found = Transactions(PARAMETERS, outcome([900] * 3, seconds=4.2, log={"per_second": [1, 2]}))

    assert found.rates() == [1, 2, 0, 0]


def test_failures_that_a_sample_lacks_are_those_that_pgbench_counted():
    counts = {"serialization": 3, "deadlock": 0, "retried": 40}
    found = Transactions(
        PARAMETERS,
        outcome([900] * 90, log={"lines": 100}, sampling_rate=0.1, counts=counts)
        | {"processed": 1000},
    )

    assert found.failures == {"serialization": 3}
    assert found.values()["retried"] == 36


@pytest.mark.parametrize(
    ("parameters", "threads", "milliseconds"),
    [({}, 1, 20), ({}, 4, 80), ({"clients": 5}, 4, 40), ({"connections": "each"}, 4, 80), ({"client_processes": "apart"}, 1, 80)],
)  # fmt: skip
def test_threads_connect_their_clients_one_after_the_other(parameters, threads, milliseconds):
    result = outcome([900], connect_ms=[80.0], threads=threads)

    assert Transactions(PARAMETERS | parameters, result).values()["connect_time"] == milliseconds
