"""Lines that pgbench 15.18 and 18.6 wrote."""

import numpy as np
import pytest

from campaigns.kinds.sql.engine.log import BadLog, Log
from campaigns.kit import histogram

FAILED = b"""0 1 serialization 0 1795692161 823454
0 2 537 0 1795692161 823998
1 3 60 0 1795692161 824104
2 1 deadlock 0 1795692165 953749
"""
OFFERED = b"""0 1 4738 0 1795692161 848360 97
0 2 6258 0 1795692161 852617 2061
0 3 skipped 0 1795692161 873814 0
0 4 13000 0 1795692162 860952 9000
"""
RETRIED = b"""2 1 2178 0 1795692163 884292 0
0 4 serialization 0 1795692163 886755 1
2 2 112 1 1795692163 884419 1
"""
START = 1_795_692_160_000_000


def log(clients=3, scripts=("own",), **more):
    wanted = {"offered": False, "retries": False, "warm_up_seconds": 0.0, "seconds": None}
    return Log(clients, scripts, **(wanted | more))


def test_failures_have_their_class_and_no_time():
    found = log(begin=START)
    found.take(FAILED)

    result = found.result()

    assert (result["lines"], result["measured"]) == (4, 2)
    assert result["failures"] == {"serialization": 1, "deadlock": 1}
    assert result["of_clients"] == [1, 1, 0]
    assert result["per_second"] == [0, 2]


def test_lag_and_skipped_transactions_of_an_offered_rate_are_counted():
    found = log(offered=True, late_us=10_000, begin=START)
    found.take(OFFERED)

    result = found.result()

    assert (result["measured"], result["skipped"], result["good"]) == (3, 1, 2)
    assert result["histograms"]["response"]["max_us"] == 13_000
    assert result["histograms"]["service"]["max_us"] == 4738 - 97
    assert result["histograms"]["lag"]["count"] == 3


def test_retries_and_scripts_are_told_apart():
    found = log(scripts=("a", "b"), retries=True, begin=START)
    found.take(RETRIED)

    result = found.result()

    assert result["retried"] == 1
    counts = {name: each["count"] for name, each in result["histograms"].items()}
    assert counts == {"response": 2, "response:a": 1, "response:b": 1}


def test_a_log_in_pieces_is_the_same_as_a_whole_one():
    generator = np.random.default_rng(1)
    times = generator.integers(50, 5000, 500)
    lines = [
        b"%d %d %d 0 %d %d\n" % (n % 3, n, time, 1_795_692_160 + n // 100, n * 1000 % 1_000_000)
        for n, time in enumerate(times)
    ]
    whole, parts = log(begin=START), log(begin=START)
    whole.take(b"".join(lines))
    for at in range(0, 500, 7):
        parts.take(b"".join(lines[at : at + 7]))

    assert parts.result() == whole.result()
    assert whole.result()["histograms"]["response"]["encoded"] == (
        histogram.encode([int(each) for each in times]).encoded.decode()
    )


def test_warm_up_and_what_began_after_the_end_do_not_count():
    found = log(clients=1, warm_up_seconds=1.0, seconds=2.0, begin=START)
    second = 1_795_692_160
    for at, time in ((0, 100), (1, 100), (2, 100), (3, 200_000), (3, 100), (4, 100)):
        found.take(b"0 1 %d 0 %d 150000\n" % (time, second + at))

    result = found.result()

    # Of the two that ended after the window, one had begun in it.
    assert (result["lines"], result["before"], result["measured"], result["after"]) == (6, 1, 3, 2)
    assert result["seconds"] == pytest.approx(2.15)


def test_who_is_answered_late_does_not_stretch_the_time_of_an_offered_rate():
    found = log(clients=1, offered=True, seconds=2.0, begin=START)
    found.take(b"0 1 9000000 0 1795692170 0 5\n")

    assert found.result()["seconds"] == 2.0
    found.ends_after(1.5)  # of the two seconds it took half a one to connect
    assert found.result()["seconds"] == 1.5


def test_a_transaction_of_another_thread_counts_though_its_line_came_later():
    found = log(clients=2)
    found.take(b"0 1 100 0 1795692161 900000\n")
    found.take(b"1 1 100 0 1795692161 5\n")

    result = found.result()

    assert (result["measured"], result["before"]) == (2, 0)
    assert result["per_second"] == [2]


def test_a_log_of_a_process_counts_for_its_client():
    found = log(clients=2, begin=START)
    found.take(b"0 1 10 0 1795692161 5\n", 1)

    assert found.result()["of_clients"] == [0, 1]


def test_the_first_transaction_begins_the_clock_where_nobody_knows_it():
    found = log(clients=1)
    found.take(b"0 1 1000 0 1795692161 5000\n")

    assert found.begin == 1_795_692_161_004_000


@pytest.mark.parametrize("line", [b"0 1 2\n", b"0 1 2 0 1 1 1\n", b"a b c d e f\n"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_strange_line_is_an_error(line):
    with pytest.raises(BadLog, match="has not 6 numbers"):
        log(begin=START).take(line)


def test_a_server_that_stands_still_to_the_end_does_not_shorten_the_time_of_a_closed_loop():
    found = log(clients=1, seconds=4.0)
    found.take(b"0 1 1000000 0 1795692161 0\n")
    assert found.result()["seconds"] == 1.0
    found.ends_after(9.0)

    assert found.result()["seconds"] == 4.0
