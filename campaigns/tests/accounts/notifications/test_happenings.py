"""What happens to campaigns is announced once, in the transaction of what it tells."""

import pytest
from django.db import transaction
from django.db.models.functions import Now

from campaigns.accounts.notifications.messages import HAPPENED
from campaigns.execution import dispatch
from campaigns.kit.outbox import announce
from campaigns.models import Announcement, Attempt, Campaign, Run
from campaigns.planning import drafts, lifecycle
from campaigns.planning.checking import check
from campaigns.results.settling import stop_where_too_much_fails
from campaigns.tests.people import somebody
from campaigns.tests.toy import definition, target, toy, worker

__all__ = ["target", "toy", "worker"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def launched(target, monkeypatch) -> Campaign:
    monkeypatch.setattr("campaigns.kit.messages.current_app.send_task", lambda *a, **k: None)
    owner = somebody("owner")
    draft = drafts.create(check(definition(target=target.pk)), owner)
    lifecycle.launch(draft, owner)
    draft.refresh_from_db()
    return draft


def kinds() -> list[str]:
    return [row.kind for row in Announcement.objects.order_by("pk")]


def close_runs(campaign: Campaign, state: str) -> None:
    campaign.runs.update(state=state)


def test_a_campaign_that_has_finished_is_told_once(launched):
    close_runs(launched, Run.State.DONE)

    dispatch.dispatch()
    dispatch.dispatch()

    (row,) = Announcement.objects.all()
    assert (row.kind, row.campaign, row.team) == ("campaign_finished", launched, launched.team)
    assert row.data["what"] == "The campaign has finished: 6 of 6 measured runs succeeded."


def test_one_of_which_no_run_succeeded_has_failed(launched):
    close_runs(launched, Run.State.FAILED)

    dispatch.dispatch()

    assert kinds() == ["campaign_failed"]
    what = "The campaign has finished, but 0 of 6 measured runs succeeded."
    assert Announcement.objects.get().data["what"] == what


def test_one_that_its_budget_ended_has_failed(launched):
    close_runs(launched, Run.State.DONE)
    Campaign.objects.update(state_reason="time budget of 1 h is over")

    dispatch.dispatch()

    assert kinds() == ["campaign_failed"]
    assert "time budget of 1 h is over" in Announcement.objects.get().data["what"]


def test_one_that_somebody_cancelled_is_not_told_of(launched):
    lifecycle.cancel(launched, "enough", somebody("other"))

    dispatch.dispatch()

    assert kinds() == []


def test_one_that_paused_by_itself_is_told_once(launched):
    bad = launched.runs.all()[:5]
    for run in bad:
        Attempt.objects.create(
            run=run,
            number=1,
            pool="measure",
            token=1,
            state="failed",
            claimed_at=Now(),
            finished_at=Now(),
        )
    launched.runs.filter(pk__in=[run.pk for run in bad]).update(
        state=Run.State.FAILED, reason="refused"
    )

    stop_where_too_much_fails(launched)
    stop_where_too_much_fails(launched)

    (row,) = Announcement.objects.all()
    assert row.kind == "campaign_failed"
    assert "5 runs in a row failed" in row.data["what"]
    assert row.data["words"] == "refused"


def test_what_was_taken_back_is_not_told(launched):
    close_runs(launched, Run.State.DONE)

    with transaction.atomic():
        dispatch.dispatch()
        transaction.set_rollback(True)

    assert kinds() == []


def test_every_kind_has_its_words():
    assert set(HAPPENED) == set(Announcement.Kind)
    assert all(title and to_do.endswith((".", ".")) for title, to_do in HAPPENED.values())


def test_the_same_people_are_named_once(launched):
    one = somebody("one")

    row = announce(Announcement.Kind.MENTIONED, launched.team, to=[one, one])

    assert row.to == [one.pk]
