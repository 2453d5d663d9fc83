import numpy as np
import pytest

from campaigns.models import Watched
from campaigns.planning.watched_metrics import watched_metric
from campaigns.results.watched import WatchedRun, WatchedSource
from campaigns.results.watched_metrics import watched_values
from campaigns.targets.watches.align import AlignedSeries
from campaigns.targets.watches.base import Key
from campaigns.targets.watches.catalog import LOAD, OTHERS, OWN

SECONDS = 20.0
MACHINE = {
    Key("cpu.user"): 1.4,
    Key("cpu.system"): 0.3,
    Key("cpu.idle"): 0.3,
    Key("group.cpu", "puma"): 1.0,
    Key("group.cpu", OTHERS): 0.1,
    Key("group.cpu", OWN): 0.1,
    Key("group.cpu", LOAD): 0.5,
    Key("memory.total"): 8e9,
    Key("memory.available"): 6e9,
    Key("group.memory", "puma"): np.linspace(1e9, 1.5e9, 30),
    Key("group.memory", LOAD): 1e8,
}


def source(values=None, *, certain=True, name="ssh"):
    """A watch that saw these values each second, from 5 s before the measurement on."""
    series = [
        AlignedSeries(key, -5.0, 1.0, np.broadcast_to(np.array(value, float), 30).copy())
        for key, value in (values or MACHINE).items()
    ]
    return WatchedSource(
        name, "a", Watched.State.WHOLE, 1.0, frames=30, series=series, certain=certain
    )


def test_cpu_time_is_divided_by_the_work_and_perfdash_is_left_out():
    values = watched_values(WatchedRun([source()]), SECONDS, {"file": 1000.0, "GB": 0.5})

    assert values["watched.cpu_per_file"] == pytest.approx((1.7 - 0.6) * SECONDS / 1000)
    assert values["watched.cpu_per_file:puma"] == pytest.approx(1.0 * SECONDS / 1000)
    assert values["watched.cpu_per_GB:puma"] == pytest.approx(40)
    assert values["watched.memory"] == pytest.approx(2000)
    assert values["watched.memory:puma"] == pytest.approx(1e3 * (1 + 0.5 * 14.5 / 29))
    assert values["watched.memory_peak:puma"] == pytest.approx(1e3 * (1 + 0.5 * 24 / 29))
    assert not any(OWN in name or LOAD in name for name in values)
    assert all(watched_metric(name) for name in values)


def test_nothing_is_given_of_what_was_not_observed(subtests):
    gaps = {key: [1.0] * 10 + [np.nan] * 20 for key in MACHINE}
    cases = {
        "no work": (WatchedRun([source()]), {"file": 0.0}, "cpu"),
        "gaps": (WatchedRun([source(gaps)]), {"file": 10.0}, ""),
        "an uncertain clock": (WatchedRun([source(certain=False)]), {"file": 10.0}, ""),
        "no watch": (WatchedRun([]), {"file": 10.0}, ""),
    }
    for name, (run, work, absent) in cases.items():
        with subtests.test(name):
            values = watched_values(run, SECONDS, work)
            assert not [each for each in values if absent in each]


def test_the_first_source_that_has_a_quantity_counts():
    other = source({Key("memory.total"): 8e9, Key("memory.available"): 1e9}, name="node_exporter")

    values = watched_values(WatchedRun([source(), other]), SECONDS, {})

    assert values["watched.memory"] == pytest.approx(2000)
