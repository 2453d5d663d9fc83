"""Which resource binds from which level on, and what watches give as metrics, of stored runs."""

import msgspec
import pytest

from campaigns.findings import compute
from campaigns.findings.store import findings_of
from campaigns.findings.texts import texts_of
from campaigns.models import Attempt, Binding
from campaigns.planning.metrics import analysed_metrics_of, metrics_of
from campaigns.results.storing import Value, store_values
from campaigns.stats.binding import Caveat, Resource
from campaigns.stats.binding_levels import LevelWord
from campaigns.stats.binding_rule import judge
from campaigns.tests.findings.compute.loads import LOADS, launch, store
from campaigns.tests.stats.machines import BUSY, machine

pytestmark = pytest.mark.django_db


def watch(campaign, changed_of):
    """Store a judgement with each accepted attempt, by its load; None: it was not watched."""
    for attempt in Attempt.objects.filter(run__campaign=campaign).select_related("run__cell"):
        load = attempt.run.cell.levels_by_factor["concurrency"]
        changed = changed_of(load, attempt.run)
        if changed is not None:
            run = judge(machine(changed={"cpu.user": load / 1000, **changed}))
            Binding.objects.create(attempt=attempt, rule=1, result=msgspec.to_builtins(run))


def analysed(campaign):
    compute.analyse(campaign)
    return findings_of(campaign, campaign.primary_metric)


def test_each_setting_has_its_word_over_the_load(target):
    campaign = launch(target, {"concurrency": LOADS, "engine": ["asyncio", "futures"]})
    store(campaign)
    watch(campaign, lambda load, run: BUSY if load >= 400 else {})

    found = analysed(campaign).binding

    assert found is not None
    assert (found.factor, found.is_load, found.numeric) == ("concurrency", True, True)
    assert found.runs == found.watched == campaign.runs.count()
    assert len(found.groups) == 2
    for group in found.groups:
        assert [level.value for level in group.cells] == LOADS
        assert [level.binding.word for level in group.cells] == [LevelWord.NONE] * 3 + [
            LevelWord.BINDS
        ] * 2
        (rises,) = group.ranges
        assert (rises.resource, rises.first, rises.before, rises.after) == (
            Resource.CPU,
            3,
            2,
            None,
        )
        cpu = next(each for each in group.trends if each.resource == Resource.CPU)
        assert cpu.tau.interval.low > 0.5
    text = texts_of(campaign, ["binding"])["binding"]["sentence"]
    assert "on, CPU of the target binds in all 6 runs. This begins between" in text


def test_runs_without_a_watch_are_unknown_and_counted(target):
    campaign = launch(target, {"concurrency": LOADS})
    store(campaign)
    watch(campaign, lambda load, run: {} if load < 400 else None)

    found = analysed(campaign).binding

    assert found is not None
    assert (found.watched, found.runs) == (9, 15)
    assert [level.binding.word for level in found.groups[0].cells][3:] == [LevelWord.UNKNOWN] * 2
    assert Caveat.NO_PRESSURE not in found.caveats


def test_without_watches_nothing_is_stored(target):
    campaign = launch(target, {"concurrency": LOADS})
    store(campaign)

    found = analysed(campaign)

    assert found.binding is None
    assert found.failed_parts is None
    assert not campaign.findings.filter(name__contains="watched").exists()
    assert [each.name for each in metrics_of(campaign)][-1] == "file_time_p95"


def test_demand_of_target_and_groups_has_an_interval_in_each_cell(target):
    campaign = launch(target, {"concurrency": [50, 100]})
    store(campaign)
    names = [
        "watched.cpu_per_file",
        "watched.cpu_per_file:puma",
        "watched.memory",
        "watched.memory:puma",
    ]
    for number, attempt in enumerate(Attempt.objects.filter(run__campaign=campaign)):
        store_values(
            attempt,
            [
                Value(name, 0.01 * (1 + number / 100), "s" if "cpu" in name else "MB", True)
                for name in names
            ],
        )

    known = [metric.name for metric in metrics_of(campaign) if metric.name.startswith("watched.")]
    chosen = [
        each.name for each in analysed_metrics_of(campaign) if each.name.startswith("watched.")
    ]

    assert set(known) == set(names)
    assert set(chosen) == {*names} - {"watched.memory:puma"}
    compute.analyse(campaign)
    cells = findings_of(campaign, "watched.cpu_per_file:puma").cells
    assert cells is not None
    assert cells.label == "CPU of puma per file"
    assert all(cell.summary.mean_ci for cell in cells.cells)
