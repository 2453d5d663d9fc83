"""A level that means no limit comes after all others: in comparisons, trends, the knee, tables and charts."""

import math

import msgspec
import numpy as np
import pytest

from campaigns.findings.charts.cells import LevelCell
from campaigns.findings.charts.curve import levels_plot
from campaigns.findings.charts.interaction import _by_columns
from campaigns.findings.compute.groups import groups_of
from campaigns.findings.pages.view import view_of
from campaigns.findings.store import findings_of
from campaigns.kit.charts.labels import LevelLabels
from campaigns.models import Attempt, Binding, Factor
from campaigns.planning import checking, drafts, lifecycle
from campaigns.planning.pages.plans import _ranks
from campaigns.results.pages_data import outline_of
from campaigns.stats.binding import Resource
from campaigns.stats.binding_rule import judge
from campaigns.tests.findings.compute.conftest import findings, noisy, store
from campaigns.tests.stats.machines import machine

pytestmark = pytest.mark.django_db

NONE = 0
LEVELS = [NONE, 10, 2, 20, 5]
ORDERED = [2, 5, 10, 20, NONE]


@pytest.fixture
def launch(target):
    """Launch a campaign on a target with a setting of which 0 means no limit; nothing runs."""
    target.setting_rows.create(
        name="maxconn", type="integer", unlimited=NONE, hard_to_change=False, apply={}, read_back={}
    )

    def make(**others):
        data = {
            "question": "How many connections?",
            "kind": "downloader",
            "target": target.pk,
            "factors": {"maxconn": LEVELS, **others},
            "repetitions": 4,
            "seed": 1,
        }
        return lifecycle.launch(drafts.create(checking.check(data), None), None)

    return make


def seconds(run):
    """Return a duration that falls with the limit, and is shortest without one."""
    level = run.cell.levels_by_factor["maxconn"]
    return (3.0 if level == NONE else 4.0 + 40.0 / level) * (1 + run.position / 10_000)


def test_a_campaign_has_it_last_whatever_was_entered(launch):
    campaign = launch()

    factor = Factor.objects.get(campaign=campaign)
    assert factor.unlimited == NONE
    assert [level.value for level in factor.levels.all()] == ORDERED
    assert [cell.levels_by_factor["maxconn"] for cell in campaign.cells.all()] == ORDERED
    (outline,) = outline_of(campaign).factors
    assert (outline.ordered, outline.numeric) == (True, False)
    assert list(_ranks(LEVELS, NONE)) == [repr(level) for level in ORDERED]


def test_neighbours_are_compared_and_none_is_lower_than_the_smallest_limit(launch):
    campaign = launch()
    store(campaign, seconds)

    (group,) = findings(campaign)["levels"]["groups"]

    value_of = dict(zip(group["cells"], group["values"], strict=True))
    assert group["values"] == ORDERED
    steps = [
        (value_of[row["baseline"]], value_of[row["candidate"]]) for row in group["comparisons"]
    ]
    assert steps == [(2, 5), (5, 10), (10, 20), (20, NONE)]
    assert value_of[group["best"]["seen"]] == NONE
    assert not group["best"]["at_edge"]  # nothing is beyond it


def test_the_knee_is_of_the_limits_alone(launch, interleaved):
    """The same runs with and without a level that means no limit have the same knee."""
    limits = [1, 2, 3, 5, 8, 12, 20, 40]
    campaigns = (launch(maxconn=[NONE, *limits]), interleaved(limits, repetitions=4))
    rng = np.random.default_rng(3)
    drawn = {
        level: [max(1.0, 8 / level) * math.exp(rng.normal(0, 0.01)) for _ in range(4)]
        for level in [*limits, NONE + 50]
    }

    def seconds(run):
        (level,) = run.cell.levels_by_factor.values()
        return drawn[level or 50][run.block.repetition - 1]

    knees = []
    for campaign in campaigns:
        store(campaign, seconds)
        knees.append(findings(campaign)["levels"]["groups"][0]["knee"])

    assert knees[0] is not None
    assert knees[0]["at"] == pytest.approx(knees[1]["at"], rel=1e-6)


def test_a_matrix_has_it_in_the_last_column_and_its_chart_on_no_axis_of_numbers(launch):
    campaign = launch(engine=["asyncio", "futures"])
    store(campaign, seconds)
    findings(campaign)
    found = findings_of(campaign, campaign.primary_metric).matrix
    labels = LevelLabels(outline_of(campaign).factors)
    assert found

    result = found.factors["maxconn"]
    chart = _by_columns(result, found, labels)

    assert (list(result.columns), result.unlimited) == (ORDERED, NONE)
    assert all([cell.level for cell in row.cells] == ORDERED for row in result.rows)
    assert not chart.is_numeric
    assert [chart.x(column) for column in range(5)] == [0, 1, 2, 3, 4]


def test_the_curve_has_it_at_the_right_end(launch):
    campaign = launch()
    store(campaign, seconds)
    findings(campaign)
    outline, found = outline_of(campaign), findings_of(campaign, campaign.primary_metric)
    view = view_of({}, campaign, outline, found)

    cells = found.cells or found.summaries
    assert cells

    plot, _ = levels_plot(cells, LevelLabels(outline.factors), view)

    axis = plot.figure["layout"]["xaxis"]
    assert axis["ticktext"] == ["2", "5", "10", "20", "0"]
    assert axis["tickvals"] == sorted(axis["tickvals"])


def test_utilisation_that_rises_up_to_no_limit_rises(launch):
    campaign = launch()
    store(campaign, seconds)
    for attempt in Attempt.objects.filter(run__campaign=campaign).select_related("run__cell"):
        place = ORDERED.index(attempt.run.cell.levels_by_factor["maxconn"])
        run = judge(machine(changed={"cpu.user": 0.1 + place / 10}))
        Binding.objects.create(attempt=attempt, rule=1, result=msgspec.to_builtins(run))

    (group,) = findings(campaign)["binding"]["groups"]

    cpu = next(each for each in group["trends"] if each["resource"] == Resource.CPU)
    assert [level["value"] for level in group["cells"]] == ORDERED
    assert cpu["tau"]["interval"][0] > 0.5


def test_without_it_numbers_ascend(interleaved):
    campaign = interleaved([10, 5, 20])
    store(campaign, noisy({5: 3.0, 10: 2.0, 20: 1.0}))

    (group,) = groups_of("concurrency", list(campaign.cells.all()))

    assert group.values == (5, 10, 20)
    assert LevelCell(level=5.0, runs=[]).label == "5"
