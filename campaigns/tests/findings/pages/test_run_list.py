"""The table of runs: what is counted in the database is what each run is called."""

import pytest

from campaigns.models import Attempt, Measurement, Run
from campaigns.planning import lifecycle
from campaigns.results.filters import RunTableFilters
from campaigns.results.run_list import WITHOUT_VALUE, RunList
from campaigns.tests.measured import launched, store
from campaigns.tests.people import somebody

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(target, person):
    """Six runs: done, bound, censored, void, excluded though bound, and one that has failed."""
    campaign = launched(target, person, order="interleaved")
    store(campaign, lambda run: 10.0 + run.position, failing=(6,))

    def limits(position):
        return Measurement.objects.filter(attempt__run__position=position)

    limits(2).update(bound=True)
    limits(3).update(censored=True)
    Run.objects.filter(position=3).update(state=Run.State.FAILED)
    Attempt.objects.filter(run__position=3).update(state=Attempt.State.FAILED)
    Run.objects.filter(position=4).update(state=Run.State.VOID)
    limits(5).update(bound=True)
    lifecycle.exclude(campaign.runs.get(position=5), somebody("analyst"), "a backup")
    return campaign


def positions(runs, **query):
    filters = RunTableFilters(query, runs)
    found = [run.position for run in filters.rows]
    assert filters.count == len(found)
    return found


def test_each_run_is_counted_as_what_it_is_called(campaign):
    runs = RunList(campaign, "duration")

    called = [row.state for row in runs.rows(runs.all.values_list("pk", flat=True))]

    assert called == ["done", "bound", "censored", "void", "excluded", "failed"]
    assert +runs.counts == dict.fromkeys(called, 1)
    assert len(runs) == 6


@pytest.mark.parametrize(
    ("state", "found"),
    [
        ("done", [1]),
        ("bound", [2]),
        ("censored", [3]),
        ("void", [4]),
        ("excluded", [5]),
        ("failed", [6]),
        (WITHOUT_VALUE, [2, 3, 4, 6]),
        ("nonsense", []),
        ("\x00", []),
    ],
)
def test_a_filter_finds_the_runs_that_are_called_so(campaign, state, found):
    assert positions(RunList(campaign, "duration"), state=state) == found


def test_a_text_is_looked_for_among_the_runs_of_the_state(campaign):
    runs = RunList(campaign, "duration")

    assert positions(runs, q="bound") == [2]
    assert positions(runs, q="bound", state="done") == []
    assert positions(runs, q=" Backup ") == [5]
    assert positions(runs, q="a", state="\x00") == []
    assert positions(runs, q=" ") == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2026-03-05 10:20:3", [1]),
        ("30.5", []),
        ("Refused", [6]),
        ("4", [4]),
        ("nobody", []),
        ("100%", []),
        ("\x00", []),
    ],
)
def test_a_text_is_looked_for_in_each_field_of_a_run(campaign, text, found):
    Run.objects.update(started_at=None)
    Run.objects.filter(position=1).update(started_at="2026-03-05T10:20:30.555Z")
    Run.objects.filter(position=6).update(reason="It refused.")

    assert positions(RunList(campaign, "duration"), q=text) == found


def test_a_text_is_looked_for_in_the_levels_of_a_run(campaign):
    run = campaign.runs.get(position=4)
    campaign.cells.filter(pk=run.cell_id).update(levels_by_factor={"engine": "Newest", "size": 2})

    found = positions(RunList(campaign, "duration"), q="2 engine new")

    assert found == list(campaign.runs.filter(cell=run.cell).values_list("position", flat=True))


def test_runs_of_a_state_are_counted_without_a_query(campaign, django_assert_num_queries):
    runs = RunList(campaign, "duration")

    with django_assert_num_queries(0):
        assert RunTableFilters({"state": WITHOUT_VALUE}, runs).count == 4


def test_a_warm_up_that_failed_is_no_run_without_a_value(campaign):
    Run.objects.filter(position__in=(2, 6)).update(purpose=Run.Purpose.WARM_UP)

    runs = RunList(campaign, "duration")

    assert runs.without_counts.total() == 2
    assert positions(runs, state=WITHOUT_VALUE) == [3, 4]
    assert len(runs) == 6
