"""The table of runs: what is counted in the database is what each run is called."""

import pytest

from campaigns.models import Attempt, Measurement, Run
from campaigns.planning import lifecycle
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


def positions(runs, **wanted):
    found = runs.matching(wanted.get("text", ""), wanted.get("state", ""))
    rows = runs.rows(found[0:100])
    assert len(rows) == len(found)
    return [row.position for row in rows]


def test_each_run_is_counted_as_what_it_is_called(campaign):
    runs = RunList(campaign, "duration")

    called = [row.state for row in runs.rows(runs.matching("", "")[0:100])]

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

    assert positions(runs, text="bound") == [2]
    assert positions(runs, text="bound", state="done") == []
    assert positions(runs, text="backup") == [5]
    assert positions(runs, text="a", state="\x00") == []


def test_a_page_of_the_runs_is_read_alone(campaign):
    found = RunList(campaign, "duration").matching("", "")

    assert len(found[2:4]) == 2
    assert len(found) == 6


def test_a_warm_up_that_failed_is_no_run_without_a_value(campaign):
    Run.objects.filter(position__in=(2, 6)).update(purpose=Run.Purpose.WARM_UP)

    runs = RunList(campaign, "duration")

    assert runs.without_counts.total() == 2
    assert positions(runs, state=WITHOUT_VALUE) == [3, 4]
    assert len(runs) == 6
