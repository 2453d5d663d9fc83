from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from campaigns import importers
from campaigns.definition.checking import Invalid
from campaigns.drivers.base import STAND_IN
from campaigns.importers.campaigns import About, import_runs
from campaigns.models import Attempt, Campaign, Run, Session
from campaigns.queries.environment import stand_ins_of
from campaigns.queries.runs import observed_runs_by_metric
from campaigns.readers.plain_csv.strict import read_rows

pytestmark = pytest.mark.django_db

PUBLISHED = Path(importers.__file__).with_name("published_sync_runs.csv")
ABOUT = About(
    question="Which concurrency?", source="a paper", tags=("sync",), facts={"disk": "7200 rpm"}
)


@pytest.fixture
def rows():
    return read_rows(PUBLISHED.read_bytes())


def test_an_import_is_a_finished_campaign_with_its_source(rows):
    campaign = import_runs(rows, ABOUT, None)

    campaign.refresh_from_db()
    assert campaign.state == Campaign.State.FINISHED
    assert (campaign.kind, campaign.order) == ("external", "blocked")
    assert (campaign.source, campaign.fidelity) == ("a paper", "raw")
    assert campaign.tags == ["sync"]
    assert campaign.repetitions == 3
    assert campaign.target is None
    assert campaign.launched_at == datetime(2020, 7, 24, 18, 51, 45, tzinfo=UTC)
    assert campaign.closed_at == datetime(2020, 7, 26, 3, 17, 12, tzinfo=UTC)
    assert campaign.sessions.get().kind == Session.Kind.IMPORT


def test_positions_follow_the_order_in_which_the_runs_were_made(rows):
    campaign = import_runs(rows, ABOUT, None)

    runs = campaign.runs.select_related("cell").order_by("position")
    made = [run.cell.levels_by_factor["concurrency"] for run in runs]
    assert made == [20, 20, 20, 5, 5, 5, *[10] * 3, *[3] * 3, *[15] * 3, *[7] * 3]
    assert [run.position for run in runs] == list(range(1, 19))
    assert list(runs) == list(runs.order_by("started_at"))


def test_block_n_holds_the_nth_run_of_every_level(rows):
    campaign = import_runs(rows, ABOUT, None)

    for block in campaign.blocks.all():
        assert block.repetition == block.number
        assert block.runs.values("cell").distinct().count() == 6


def test_every_run_has_one_accepted_attempt_with_its_duration_and_facts(rows):
    campaign = import_runs(rows, ABOUT, None)

    observed = observed_runs_by_metric(campaign, ["duration"])["duration"]
    assert [run.state for run in observed] == ["ok"] * 18
    assert {run.value for run in observed} == {row.seconds for row in rows}
    for attempt in Attempt.objects.select_related("run"):
        assert attempt.state == Attempt.State.ACCEPTED
        measurement = attempt.measurements.get()
        assert (measurement.unit, measurement.lower_is_better) == ("s", True)
        assert attempt.environment.get().value == "7200 rpm"


def test_runs_of_a_stand_in_are_imported_as_such(rows):
    about = replace(ABOUT, facts={STAND_IN: "model of a server"})

    campaign = import_runs(rows, about, None)

    assert stand_ins_of(campaign) == ["model of a server"]


def test_levels_with_different_numbers_of_runs_are_imported(rows):
    campaign = import_runs(rows[1:], ABOUT, None)

    assert campaign.runs.count() == 17
    assert campaign.blocks.get(number=3).runs.count() == 5


@pytest.mark.parametrize(
    ("about", "field"),
    [
        (About(question="", source="x"), "question"),
        (About(question="q" * 501, source="x"), "question"),
        (About(question="q\x00", source="x"), "question"),
        (About(question="q", source=""), "source"),
        (About(question="q", source="s" * 301), "source"),
        (About(question="q", source="s\x00"), "source"),
        (About(question="q", source="x", name="n" * 121), "name"),
        (About(question="q", source="x", tags=("t" * 41,)), "tags"),
    ],
)
def test_what_cannot_be_a_campaign_is_refused_and_nothing_is_stored(rows, about, field):
    with pytest.raises(Invalid) as caught:
        import_runs(rows, about, None)

    assert list(caught.value.errors) == [field]
    assert not Campaign.objects.exists()


def test_a_failure_half_way_stores_nothing(rows):
    twice = (*rows[:5], rows[4])
    about = About(question="q", source="x", facts={"n" * 101: "too long for its column"})

    with pytest.raises(Exception, match="too long"):
        import_runs(twice, about, None)

    assert not Campaign.objects.exists()
    assert not Run.objects.exists()


def test_equal_files_have_equal_bootstraps(rows):
    assert import_runs(rows, ABOUT, None).seed == import_runs(rows, ABOUT, None).seed
