"""What a campaign over loads carries."""

import pytest

from campaigns.findings import compute
from campaigns.findings.comparison_rows import comparison_rows
from campaigns.findings.compute.conditions import Conditions
from campaigns.findings.store import findings_of
from campaigns.models import Attempt, Block, Campaign, Factor
from campaigns.planning.criterion import Criterion
from campaigns.results.values import ObservedRun
from campaigns.stats.capacity import CapacityWord, Held
from campaigns.stats.criteria import Criteria
from campaigns.tests.findings.compute.loads import LIMIT, LOADS, launch, queue, store

pytestmark = pytest.mark.django_db

TWO = {"asyncio": 300.0, "futures": 150.0}


def analysed(campaign):
    compute.analyse(campaign)
    return findings_of(campaign, campaign.primary_metric)


def carried(campaign):
    found = analysed(campaign)
    assert found.failed_parts is None, found.failed_parts
    return found.capacity


def test_a_bound_of_a_metric_gives_an_interval(target):
    campaign = launch(target, {"concurrency": LOADS}, criterion=LIMIT)
    store(campaign)

    found = carried(campaign)

    (one,) = found.settings
    assert (found.load, found.stated, one.levels) == ("concurrency", True, {})
    assert one.capacity.word == CapacityWord.BETWEEN
    assert one.capacity.low < 300 < one.capacity.high
    assert one.capacity.binding == "duration"
    assert [(cell.load, cell.held, cell.passed, cell.runs) for cell in one.cells] == [
        (50, Held.HELD, 3, 3),
        (100, Held.HELD, 3, 3),
        (200, Held.HELD, 3, 3),
        (400, Held.FAILED, 0, 3),
        (800, Held.FAILED, 0, 3),
    ]
    assert one.confirmation.standing == "one_session"


def test_settings_carry_more_or_less(target):
    campaign = launch(
        target, {"concurrency": LOADS, "engine": ["asyncio", "futures"]}, criterion=LIMIT
    )
    store(campaign, queue(TWO))

    found = carried(campaign)

    assert [each.levels for each in found.settings] == [
        {"engine": "asyncio"},
        {"engine": "futures"},
    ]
    (ratio,) = found.ratios
    assert (ratio.factor, ratio.baseline, ratio.candidate) == ("engine", 0, 1)
    assert ratio.ratio.word == "worse"
    assert ratio.ratio.low < 0.5 < ratio.ratio.high


def test_ratios_are_rows_of_the_csv_of_comparisons(target):
    campaign = launch(
        target, {"concurrency": LOADS, "engine": ["asyncio", "futures"]}, criterion=LIMIT
    )
    store(campaign, queue(TWO))
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.FINISHED)
    campaign.refresh_from_db()
    compute.analyse(campaign)

    head, *rows = comparison_rows(campaign)

    lines = [dict(zip(head, row, strict=True)) for row in rows]
    assert [line["where"] for line in lines] == [
        *(f"concurrency={load}" for load in LOADS),
        "over concurrency",
        "",
    ]
    assert (lines[-1]["metric"], lines[-1]["verdict"]) == ("capacity", "worse")
    assert {(line["factor"], line["role"]) for line in lines} == {("engine", "setting")}
    assert lines[-1]["low_pct"] < -50 < lines[-1]["high_pct"]


def test_without_a_criterion_the_failure_limit_is_the_condition(target):
    campaign = launch(target, {"concurrency": [250, 500, 1000]})

    def failed(run):
        load = run.cell.levels_by_factor["concurrency"]
        return load // 2 if load == 1000 else 0

    store(campaign, failed=failed)

    found = carried(campaign)

    (term,) = found.conditions
    assert (term.name, term.failed_share, term.stated, found.stated) == (
        "failures",
        0.05,
        False,
        False,
    )
    capacity = found.settings[0].capacity
    assert (capacity.low, capacity.high) == (500, 1000)


def test_few_units_show_no_share(target):
    campaign = launch(target, {"concurrency": [5, 15, 40]})
    store(campaign)

    capacity = carried(campaign).settings[0].capacity

    assert (capacity.word, capacity.reason) == (CapacityWord.NOT_ENOUGH_DATA, "no_bound")


def test_one_block_is_about(target):
    campaign = launch(target, {"concurrency": LOADS}, repetitions=1, criterion=LIMIT)
    store(campaign)

    capacity = carried(campaign).settings[0].capacity

    assert (capacity.word, capacity.reason) == (CapacityWord.NOT_ENOUGH_DATA, "blocks")
    assert (capacity.low, capacity.high) == (None, None)
    assert capacity.about == pytest.approx(300, rel=0.1)


@pytest.mark.parametrize("criterion", [{}, LIMIT])
def test_where_all_runs_fail_less_than_the_lowest_is_carried(target, criterion):
    campaign = launch(target, {"concurrency": [100, 200, 400]}, criterion=criterion)
    store(campaign, failed=lambda run: run.cell.levels_by_factor["concurrency"])

    capacity = carried(campaign).settings[0].capacity

    assert capacity.word == CapacityWord.FEWER_THAN
    assert (capacity.low, capacity.high) == (None, 100)


def test_a_load_at_which_too_much_fails_has_no_number_and_ends_the_line(target):
    campaign = launch(target, {"concurrency": [50, 100, 200, 800]}, criterion=LIMIT)
    store(
        campaign, failed=lambda run: 400 if run.cell.levels_by_factor["concurrency"] == 800 else 0
    )

    one = carried(campaign).settings[0]

    assert (one.capacity.low, one.capacity.high) == (200, 800)
    assert one.capacity.word == CapacityWord.BETWEEN
    assert one.cells[-1].held == Held.FAILED


def test_holes_and_exclusions_are_left_out(target):
    campaign = launch(target, {"concurrency": LOADS}, repetitions=5, criterion=LIMIT)
    positions = list(campaign.runs.order_by("position").values_list("position", flat=True))
    store(campaign, skip=positions[3:20:6])

    assert carried(campaign).settings[0].capacity.word == CapacityWord.BETWEEN


def test_three_sessions_give_an_interval_between_them(target):
    campaign = launch(target, {"concurrency": LOADS}, repetitions=9, criterion=LIMIT)
    store(campaign, days=[0, 0, 0, 2, 2, 2, 4, 4, 4])

    one = carried(campaign).settings[0]

    assert (one.confirmation.sessions, one.confirmation.between) == (3, True)
    assert one.confirmation.standing == "confirmed"
    assert one.capacity.low < 300 < one.capacity.high


def test_between_sessions_no_block_is_advised_and_no_load_is_safe(target):
    campaign = launch(target, {"concurrency": LOADS}, repetitions=9, criterion=LIMIT)
    store(
        campaign,
        lambda run: queue()(run) * (1.2, 1.0, 0.8)[(run.block.repetition - 1) // 3],
        days=[0, 0, 0, 2, 2, 2, 4, 4, 4],
    )

    one = carried(campaign).settings[0]

    assert one.confirmation.between
    assert one.capacity.word == CapacityWord.BETWEEN
    assert (one.capacity.advice, one.capacity.safe_load) == (None, None)


def test_two_sessions_confirm_one_another(target):
    campaign = launch(target, {"concurrency": LOADS}, repetitions=6, criterion=LIMIT)
    store(campaign, days=[0, 0, 0, 2, 2, 2])

    one = carried(campaign).settings[0]

    assert (one.confirmation.sessions, one.confirmation.standing) == (2, "confirmed")


def test_what_explored_is_not_judged(target):
    campaign = launch(target, {"concurrency": LOADS}, repetitions=4, criterion=LIMIT)
    store(campaign, lambda run: 1.0 if run.block.repetition == 1 else queue(sd=0.01)(run))
    first = campaign.blocks.filter(repetition=1)
    first.update(phase=Block.Phase.EXPLORE)

    found = analysed(campaign)

    explored = campaign.runs.filter(block__in=first).values_list("position", flat=True)
    assert sorted(found.capacity.explored) == sorted(explored)
    assert found.capacity.settings[0].capacity.blocks == 3
    assert {cell.summary.n_ok for cell in found.cells.cells} == {3}


def test_a_load_that_was_only_explored_is_no_cell_with_too_few_runs(target):
    campaign = launch(target, {"concurrency": LOADS}, criterion=LIMIT)
    store(campaign)
    alone = campaign.runs.filter(cell=campaign.cells.last())
    explored = campaign.blocks.first()
    explored.pk, explored.number, explored.phase = None, 99, Block.Phase.EXPLORE
    explored.save()
    alone.update(block=explored)

    found = analysed(campaign)

    assert len(found.answer.cells) == len(LOADS) - 1
    assert len(found.cells.cells) == len(LOADS)


def test_a_percentile_without_values_is_a_share_of_units(target):
    criterion = {"conditions": [{"metric": "file_time_p95", "at_most": 1000.0}]}
    campaign = launch(target, {"concurrency": [200, 400, 800]}, criterion=criterion)

    def times(run, count):
        slow = count // 2 if run.cell.levels_by_factor["concurrency"] == 800 else 0
        return [0.5] * (count - slow) + [2.0] * slow

    store(campaign, units=lambda run: 400, times=times)

    found = carried(campaign)

    assert found.conditions[0].as_share
    capacity = found.settings[0].capacity
    assert (capacity.low, capacity.high) == (400, 800)
    assert [cell.passed for cell in found.settings[0].cells] == [3, 3, 0]


def test_two_loads_give_a_frontier_and_rank_none(target):
    campaign = launch(target, {"concurrency": LOADS, "processes": [1, 2]}, criterion=LIMIT)
    campaign.factors.filter(name="processes").update(role=Factor.Role.LOAD)
    store(campaign)

    found = analysed(campaign)

    assert (found.levels, found.matrix, found.failed_parts) == (None, None, None)
    assert list(found.capacity.others) == ["processes"]
    assert [each.levels for each in found.capacity.settings] == [
        {"processes": "1"},
        {"processes": "2"},
    ]
    assert list(found.capacity.ratios) == []


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (40.0, ["passes", "does_not_pass"]),
        (1000.0, ["passes", "passes"]),
        (1.0, ["does_not_pass", "does_not_pass"]),
    ],
)
def test_thresholds_judge_each_cell(interleaved_with, limit, words):
    campaign = interleaved_with({"conditions": [{"metric": "duration", "at_most": limit}]})

    found = analysed(campaign).thresholds

    assert [cell.word for cell in found.cells] == words
    assert found.word == ("passes" if set(words) == {"passes"} else "does_not_pass")


@pytest.fixture
def interleaved_with(target):
    def make(criterion):
        campaign = launch(target, {"concurrency": [100, 800]}, roles={}, criterion=criterion)
        store(campaign)
        return campaign

    return make


def test_a_failed_share_is_judged_by_its_interval(target):
    campaign = launch(
        target, {"concurrency": [800, 1000, 10]}, roles={}, criterion={"failed_percent": 5}
    )
    store(
        campaign, failed=lambda run: 400 if run.cell.levels_by_factor["concurrency"] == 1000 else 0
    )

    found = analysed(campaign).thresholds

    by_load = {cell.levels["concurrency"]: cell.word for cell in found.cells}
    assert by_load == {800: "passes", 1000: "does_not_pass", 10: "not_decided"}
    assert found.word == "does_not_pass"


def test_without_a_criterion_there_are_no_thresholds(target):
    campaign = launch(target, {"concurrency": LOADS})
    store(campaign)

    assert analysed(campaign).thresholds is None


def test_one_run_decides_no_threshold(target):
    campaign = launch(target, {"concurrency": [100, 800]}, 1, roles={}, criterion=LIMIT)
    store(campaign)

    assert analysed(campaign).thresholds.word == "not_decided"


def test_three_settings_are_compared_with_the_one_that_carries_the_most(target):
    near = [120, 150, 190, 240, 300, 380]
    campaign = launch(
        target, {"concurrency": near, "engine": ["asyncio", "futures", "curl"]}, criterion=LIMIT
    )
    store(campaign, queue({"asyncio": 150.0, "futures": 300.0, "curl": 302.0}))

    most = carried(campaign).most

    assert set(most.possibly) <= {1, 2}
    assert most.recommended == 1
    assert most.more_pct[0] > 80


def test_a_run_without_units_counts_as_one_where_no_counted_run_of_its_cell_has_any():
    excluded = ObservedRun(1, 1, 7, 1, 1, 1, "excluded", 3.0, "", None, None, 50, 0)
    refused = ObservedRun(2, 2, 7, 2, 2, 1, "failed", None, "refused", None, None, 0, 0)
    by_metric = {"duration": [excluded, refused]}
    campaign = Campaign(primary_metric="duration")
    conditions = Conditions(campaign, Criterion(), by_metric, Criteria())

    assert conditions.broken(conditions.of_capacity[0], refused) == (1, 1)
    assert conditions.broken(conditions.of_capacity[0], excluded) is None


BUSY = {"waited_share": 0.4, "others_cpu_share": 0.98}


@pytest.mark.parametrize("health", ["starved", "warned"])
def test_loads_of_which_every_run_was_starved_neither_hold_nor_fail(target, health):
    """What was stored by an earlier version as a warning is judged by the same figures."""
    campaign = launch(target, {"concurrency": LOADS}, criterion=LIMIT)
    store(campaign)
    busy = Attempt.objects.filter(
        run__campaign=campaign, run__cell__levels_by_factor__concurrency__in=[200, 400, 800]
    )
    busy.update(health=health, health_figures=BUSY)

    (one,) = carried(campaign).settings

    held = {cell.load: cell.held for cell in one.cells}
    assert (held[50], held[100]) == (Held.HELD, Held.HELD)
    assert not {Held.HELD, Held.FAILED} & {held.get(load) for load in (200, 400, 800)}
    assert one.capacity.word == CapacityWord.AT_LEAST
    assert one.capacity.low == 100


def test_failures_of_starved_runs_are_no_failures_of_the_load(target):
    campaign = launch(target, {"concurrency": LOADS}, criterion={"failed_percent": 5})
    store(campaign, failed=lambda run: run.cell.levels_by_factor["concurrency"] // 2)
    Attempt.objects.filter(run__campaign=campaign).update(health="starved", health_figures=BUSY)

    found = carried(campaign)

    assert all(cell.held != Held.FAILED for one in found.settings for cell in one.cells)
