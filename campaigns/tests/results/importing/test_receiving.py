"""Runs that are appended: few are stored as many are, and cost little however many there are."""

import pytest
from django.db import transaction
from django.forms.models import model_to_dict

from campaigns.models import Campaign, Run
from campaigns.results.bulk import FEW
from campaigns.results.importing.document import read_submission
from campaigns.results.importing.receiving import append, create
from campaigns.results.importing.stored import FEW_CELLS

pytestmark = pytest.mark.django_db
QUERIES = 2
"""One message reads, one writes."""


def run(size, seconds=1.5, **changes):
    return {
        "tags": {"size": size},
        "values": {"duration": seconds, "rounds": 3},
        "started_at": "2026-11-20T10:00:00Z",
        "finished_at": "2026-11-20T10:01:00Z",
        "context": {"cpu": "it's a “%s” \\ x"},
        "info": {"commit": "50%"},
        **changes,
    }


def campaign_of(runs):
    metrics = {name: {"unit": "s", "lower_is_better": True} for name in ("duration", "rounds")}
    data = {"campaign": {"question": "Which?"}, "metrics": metrics, "runs": runs}
    return create(read_submission(data), None).campaign


def add(campaign, runs):
    with transaction.atomic():
        return append(campaign.pk, read_submission({"runs": runs}, appended=True), None)


def counted(campaign):
    return {
        cell.levels_by_factor["size"]: (cell.received, cell.runs.count())
        for cell in campaign.cells.all()
    }


def stored(run):
    """All columns but keys, places and what the database's clock says."""
    attempt = run.attempts.get()
    without = {"id", "run", "position", "block", "campaign", "cell"}
    rows = [run, attempt, *attempt.environment.all()]
    columns = [
        {name: value for name, value in model_to_dict(row).items() if name not in without | {"attempt"}}
        for row in rows
    ]  # fmt: skip
    values = attempt.measurements.order_by("metric").values_list(
        *("metric", "value", "censored", "bound")
    )
    return columns, list(values)


def test_a_run_is_stored_alike_whether_it_comes_alone_or_among_many():
    campaign = campaign_of([run(1)])

    alone = add(campaign, [run(1)])
    many = add(campaign, [run(1) for _ in range(FEW)])

    runs = {each.position: each for each in campaign.runs.all()}
    assert (alone.first, alone.last, many.first, many.last) == (2, 2, 3, 2 + FEW)
    assert stored(runs[1]) == stored(runs[2]) == stored(runs[3]) == stored(runs[2 + FEW])


@pytest.mark.parametrize("many", [1, FEW_CELLS + 5])
def test_the_runs_of_each_cell_are_counted_whether_few_or_many_cells_are_sent(many):
    campaign = campaign_of([run(size) for size in range(30)])

    add(campaign, [run(size) for size in range(many)])
    add(campaign, [run(0), run(0), run(99)])

    assert all(received == there for received, there in counted(campaign).values())
    assert counted(campaign)[0] == (4, 4)
    assert counted(campaign)[99] == (1, 1)
    assert list(campaign.cells.order_by("position").values_list("position", flat=True)) == list(
        range(1, 32)
    )


def test_a_new_metric_is_placed_after_all_others_though_few_are_sent():
    campaign = campaign_of([run(1)])
    metrics = {"memory": {"unit": "B", "lower_is_better": True}}
    data = {"metrics": metrics, "runs": [run(1, values={"memory": 7})]}

    with transaction.atomic():
        append(campaign.pk, read_submission(data, appended=True), None)

    assert dict(campaign.metrics.values_list("name", "position")) == {
        "duration": 1,
        "rounds": 2,
        "memory": 3,
    }


@pytest.mark.parametrize("cells", [1, 60])
def test_one_more_run_costs_few_queries_however_many_there_are(
    django_assert_max_num_queries, cells
):
    campaign = campaign_of([run(size) for size in range(cells)])
    add(campaign, [run(0)])
    submitted = read_submission({"runs": [run(0)]}, appended=True)

    with transaction.atomic(), django_assert_max_num_queries(QUERIES):
        append(campaign.pk, submitted, None)


def test_a_campaign_that_is_not_there_is_told_and_nothing_is_stored():
    with pytest.raises(Campaign.DoesNotExist):
        append(0, read_submission({"runs": [run(1)]}, appended=True), None)

    assert not Run.objects.exists()
