"""Which campaign is analysed when, what waits for it, and what a burst of submissions leaves alone."""

from datetime import timedelta

import pytest
from celery import current_app
from django.db.models.functions import Now
from django.utils import timezone

from campaigns.execution import dispatch
from campaigns.execution.running import execute
from campaigns.execution.waiting import waiting_for
from campaigns.findings import compute
from campaigns.findings.compute import claiming
from campaigns.models import Attempt, Campaign, Finding, Run, Submission, Worker
from campaigns.planning import lifecycle
from campaigns.planning.analyses import (
    LEAST_COST_SECONDS,
    MOST_SHARE,
    request_analysis,
    request_analysis_after,
    request_analysis_of_received,
)
from campaigns.results.importing.document import read_submission
from campaigns.results.importing.receiving import append, create


@pytest.fixture
def sent(monkeypatch):
    """What was sent: name of the task, primary key, queue."""
    messages = []

    def keep(name, args, queue, **named):
        messages.append((name, *args, queue))

    monkeypatch.setattr(current_app, "send_task", keep)
    return messages


@pytest.fixture
def submitted(db):
    """Submit a small campaign: `submitted("build-7")`."""

    def submit(name):
        received = create(read_submission(document(name)), None)
        request_analysis(received.campaign)
        return received.campaign

    return submit


def document(name):
    """Runs that ended just now, elsewhere."""
    return {
        "id": name,
        "campaign": {"question": "Is it slower?"},
        "metrics": {"seconds": {"unit": "s", "lower_is_better": True}},
        "runs": [
            {
                "tags": {"build": build},
                "values": {"seconds": 1.0 + number},
                "finished_at": timezone.now().isoformat(),
            }
            for number in range(2)
            for build in ("old", "new")
        ],
    }


def analyses(sent):
    return [key for name, key, *_ in sent if name == "campaigns.analyse"]


def have_waited(*campaigns):
    """Let the requests of these have been made long ago."""
    of = Campaign.objects.filter(pk__in=[campaign.pk for campaign in campaigns])
    of.update(analysis_requested_at=Now() - timedelta(minutes=5))


def test_a_burst_of_submissions_puts_one_message_into_the_queue_of_analyses(
    submitted, analyst, sent
):
    burst = [submitted(f"build-{number}") for number in range(4)]
    for _ in range(5):
        dispatch.dispatch()

    assert sent == [("campaigns.analyse", burst[0].pk, "analysis")]


def test_the_next_analysis_is_sent_when_one_has_ended(submitted, analyst, sent):
    burst = [submitted(f"build-{number}") for number in range(3)]
    dispatch.dispatch()
    for _ in burst:
        with compute.claimed(analyses(sent)[-1]) as mine:
            assert mine is not None
            compute.analyse(mine)
        dispatch.dispatch()

    assert analyses(sent) == [campaign.pk for campaign in burst]
    assert Finding.objects.values("campaign").distinct().count() == len(burst)
    assert not Campaign.objects.exclude(analysis_requested_at=None).exists()


def test_a_campaign_that_measures_is_analysed_before_all_that_were_submitted(
    launched, submitted, analyst, sent
):
    campaign = launched()
    earlier = submitted("build-1")
    request_analysis(campaign)

    dispatch.dispatch()

    assert analyses(sent) == [campaign.pk, earlier.pk]


def test_an_analysis_of_runs_has_a_place_while_a_submission_is_computed(
    launched, submitted, analyst, sent
):
    first = submitted("build-1")
    submitted("build-2")
    dispatch.dispatch()
    campaign = launched()
    with compute.claimed(first.pk):
        request_analysis(campaign)
        dispatch.dispatch()

    assert analyses(sent) == [first.pk, campaign.pk]


def test_analyses_of_submissions_hold_no_run_back(launched, submitted, analyst, sent):
    first = submitted("build-1")
    dispatch.dispatch()
    launched()
    with compute.claimed(first.pk):
        dispatch.dispatch()

    assert Attempt.objects.filter(state=Attempt.State.QUEUED).exists()


def test_submissions_are_analysed_while_nothing_is_measured_or_after_a_long_wait(
    launched, submitted, analyst, sent
):
    launched()
    dispatch.dispatch()
    campaign = submitted("build-1")
    dispatch.dispatch()
    assert not analyses(sent)

    have_waited(campaign)
    dispatch.dispatch()

    assert analyses(sent) == [campaign.pk]


def test_a_campaign_that_just_ended_is_analysed_before_the_next_run(
    launched, submitted, analyst, sent
):
    submitted("build-1")
    ended = launched()
    lifecycle.cancel(ended, "enough")
    dispatch.dispatch()
    launched()

    dispatch.dispatch()

    assert ended.pk in analyses(sent)
    assert not Attempt.objects.filter(state=Attempt.State.QUEUED).exists()
    Campaign.objects.filter(pk=ended.pk).update(closed_at=Now() - timedelta(hours=1))
    dispatch.dispatch()
    assert Attempt.objects.filter(state=Attempt.State.QUEUED).exists()


def test_nothing_is_sent_that_nobody_takes(submitted, sent):
    submitted("build-1")
    dispatch.dispatch()
    assert not sent

    Worker.objects.create(name="analysis@here", host="here", pools=["analysis"])
    dispatch.dispatch()
    assert len(analyses(sent)) == 1


def test_a_message_that_was_lost_is_sent_again(submitted, analyst, sent):
    campaign = submitted("build-1")
    dispatch.dispatch()
    Campaign.objects.update(analysis_sent_at=Now() - timedelta(seconds=40))

    dispatch.dispatch()

    assert analyses(sent) == [campaign.pk, campaign.pk]


def test_an_analysis_that_takes_minutes_is_not_sent_again_while_it_gives_signs_of_life(
    submitted, analyst, sent
):
    campaign = submitted("build-1")
    dispatch.dispatch()
    with compute.claimed(campaign.pk):
        Campaign.objects.update(
            analysis_began_at=Now() - timedelta(minutes=9),
            analysis_sent_at=Now() - timedelta(seconds=20),
        )
        dispatch.dispatch()
        assert len(analyses(sent)) == 1
        Campaign.objects.update(analysis_sent_at=Now() - timedelta(seconds=90))
        dispatch.dispatch()

    assert analyses(sent) == [campaign.pk, campaign.pk]


def test_who_computes_for_long_gives_signs_of_life(submitted):
    campaign = submitted("build-1")
    alive = Campaign.objects.filter(analysis_sent_at__gt=Now() - timedelta(seconds=15))
    with compute.claimed(campaign.pk) as mine:
        assert mine is not None
        Campaign.objects.update(analysis_sent_at=Now() - timedelta(seconds=50))

        claiming.report_alive(mine)
        assert alive.exists()

        Campaign.objects.update(
            analysis_began_at=Now(), analysis_sent_at=Now() - timedelta(seconds=50)
        )
        claiming.report_alive(mine)
        assert not alive.exists(), "another worker has it"


def test_an_analysis_that_somebody_computes_is_not_computed_again(submitted):
    campaign = submitted("build-1")
    with compute.claimed(campaign.pk) as first, compute.claimed(campaign.pk) as second:
        assert first == campaign
        assert second is None


def test_data_that_comes_while_it_is_analysed_is_analysed_after_it(submitted, analyst, sent):
    campaign = submitted("build-1")
    with compute.claimed(campaign.pk) as mine:
        assert mine is not None
        request_analysis(campaign)
        again = Campaign.objects.get().analysis_requested_at
        request_analysis(campaign)
        assert Campaign.objects.get().analysis_requested_at == again
        dispatch.dispatch()
        assert not sent
        assert mine.analysis_requested_at != again

    dispatch.dispatch()

    assert analyses(sent) == [campaign.pk]


def test_runs_that_are_added_while_it_is_analysed_are_analysed_after_it(submitted, analyst, sent):
    campaign = submitted("build-1")
    more = {"runs": document("build-1")["runs"]}
    with compute.claimed(campaign.pk):
        received = append(campaign.pk, read_submission(more, appended=True), None)
        request_analysis_of_received(received.campaign, received.runs)

    dispatch.dispatch()

    assert analyses(sent) == [campaign.pk]


def test_a_worker_that_begins_has_sent_again_what_the_last_one_had(submitted, analyst, sent):
    campaign = submitted("build-1")
    Campaign.objects.update(analysis_began_at=Now(), analysis_sent_at=Now())
    dispatch.dispatch()
    assert not sent

    dispatch.send_again(["analysis"])
    dispatch.dispatch()

    assert analyses(sent) == [campaign.pk]


def test_files_and_submissions_have_one_place_together(submitted, analyst, sent):
    submitted("build-1")
    for _ in range(2):
        Submission.objects.create(state=Submission.State.WAITING, digest="x")
    for _ in range(3):
        dispatch.dispatch()

    assert [name for name, *_ in sent] == ["campaigns.read_file"]


def test_the_page_says_that_a_run_waits_for_an_analysis_and_no_time(launched, analyst, worker):
    campaign = launched()
    request_analysis(campaign)
    dispatch.dispatch()

    wait = waiting_for(Campaign.objects.get())

    assert "the analysis of its runs so far" in wait.why
    assert wait.open_end


def test_the_page_says_that_a_run_waits_for_the_analysis_of_another_campaign(
    launched, analyst, worker
):
    ended = launched(name="The first")
    lifecycle.cancel(ended, "enough")
    dispatch.dispatch()
    campaign = launched(name="The second")
    dispatch.dispatch()

    wait = waiting_for(Campaign.objects.get(pk=campaign.pk))

    assert "the analysis of “The first”" in wait.why
    assert wait.open_end


def test_the_page_says_that_an_adaptive_campaign_waits_for_its_analysis(launched, worker):
    campaign = launched(stop_rule="precision", repetitions=8)
    campaign.runs.update(state=Run.State.DONE)
    request_analysis(campaign)

    wait = waiting_for(Campaign.objects.get())

    assert "decides whether another block is measured" in wait.why
    assert "No worker of the queue “analysis” answers" in wait.why
    assert wait.open_end


def test_an_analysis_is_sent_between_runs_and_the_next_run_waits_for_it(launched, analyst):
    campaign = launched()
    dispatch.dispatch()
    execute(Attempt.objects.get().pk, "w", "here")
    request_analysis(campaign)

    dispatch.dispatch()

    campaign.refresh_from_db()
    assert campaign.analysis_sent_at is not None
    assert not Attempt.objects.filter(state=Attempt.State.QUEUED).exists()


def test_an_analysis_that_never_comes_through_does_not_hold_the_runs_back_for_ever(
    launched, analyst
):
    campaign = launched()
    request_analysis(campaign)
    dispatch.dispatch()
    assert not Attempt.objects.exists()

    for minutes in (2, 4):  # each time it is sent again, as nobody cleared the request
        Campaign.objects.update(
            analysis_requested_at=Now() - timedelta(minutes=minutes),
            analysis_sent_at=Now() - timedelta(minutes=2),
        )
        dispatch.dispatch()

    campaign.refresh_from_db()
    assert campaign.analysis_requested_at is not None
    assert Attempt.objects.get().state == Attempt.State.QUEUED


def test_no_run_waits_for_an_analysis_that_nobody_takes(launched):
    campaign = launched()
    request_analysis(campaign)

    dispatch.dispatch()

    assert Attempt.objects.get().state == Attempt.State.QUEUED


def test_a_request_that_is_repeated_keeps_its_age(launched):
    campaign = launched()
    request_analysis(campaign)
    first = Campaign.objects.get().analysis_requested_at

    request_analysis(campaign)
    assert Campaign.objects.get().analysis_requested_at == first

    Campaign.objects.update(analysis_sent_at=Now())
    request_analysis(campaign)
    assert Campaign.objects.get().analysis_requested_at == first


def test_an_analysis_is_requested_at_the_end_of_a_block_and_not_too_often(launched):
    campaign = launched()
    first, second, third, fourth = campaign.runs.order_by("position")

    def requested_after(*runs):
        Campaign.objects.update(analysis_requested_at=None)
        Run.objects.filter(pk__in=[run.pk for run in runs]).update(state=Run.State.DONE)
        request_analysis_after(runs[-1])
        return Campaign.objects.get().analysis_requested_at is not None

    assert not requested_after(first)
    assert requested_after(second)
    Finding.objects.create(campaign=campaign, name="answer", result={}, data_hash="x")
    assert not requested_after(third, fourth)
    Finding.objects.update(computed_at=Now() - timedelta(seconds=LEAST_COST_SECONDS / MOST_SHARE))
    assert requested_after(fourth)
    Campaign.objects.update(analysis_seconds=10 * LEAST_COST_SECONDS)
    campaign.refresh_from_db()
    fourth.campaign = campaign
    assert not requested_after(fourth)


def test_a_try_out_is_never_analysed(draft):
    run = lifecycle.try_one(draft(), None)
    Run.objects.update(state=Run.State.DONE)

    request_analysis_after(run)

    assert Campaign.objects.get().analysis_requested_at is None


def test_an_analysis_waits_while_something_is_measured(launched, analyst):
    campaign = launched()
    dispatch.dispatch()
    Attempt.objects.update(state=Attempt.State.RUNNING, claimed_at=Now())
    request_analysis(campaign)

    dispatch.dispatch()

    campaign.refresh_from_db()
    assert campaign.analysis_sent_at is None
