"""Errors of pgbench stand above the figures of their run where its output goes to a file."""

from campaigns.results import readers

ABORTED = """\
pgbench: error: client 3 script 0 aborted in command 4 query 0: ERROR:  deadlock detected
pgbench: error: Run was aborted; the above results are incomplete.
"""


def _figures(tps):
    return f"""\
transaction type: <builtin: select only>
scaling factor: 1
query mode: simple
number of clients: 4
number of threads: 1
duration: 10 s
number of transactions actually processed: 103
latency average = 9.957 ms
initial connection time = 2.345 ms
tps = {tps} (without initial connection time)
"""


def _states(text):
    return [run.state for run in readers.read(text.encode()).runs]


def test_an_error_above_the_figures_is_of_the_run_below():
    start = "starting vacuum...end.\n"
    good, bad = start + _figures(20.5), start + ABORTED + _figures(10.3)
    assert _states(bad) == ["failed"]
    assert _states(good + bad) == ["ok", "failed"]
    assert _states(bad + good) == ["failed", "ok"]


def test_an_error_below_the_figures_is_of_the_run_above():
    error = ABORTED.splitlines()[1] + "\n"
    assert _states(_figures(10.3) + error + _figures(20.5)) == ["failed", "ok"]
