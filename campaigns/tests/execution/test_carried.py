"""Loads above what a target has carried: told in the preview, and on a production server allowed by its owner."""

from datetime import timedelta

import pytest
from django.utils import timezone

from campaigns.execution import dispatch
from campaigns.execution.claim import claim
from campaigns.execution.running import execute
from campaigns.execution.waiting import waiting_for
from campaigns.kinds.base import Health, Measured
from campaigns.kit.errors import NotPossible
from campaigns.models import Attempt, AuditEvent, Campaign, Exclusion, Run, Target
from campaigns.planning import checking, lifecycle, storage
from campaigns.planning import preview as previewing
from campaigns.planning.carried import asked_by, why_permission
from campaigns.planning.lifecycle.stopping import apply_limits
from campaigns.targets import overload

pytestmark = pytest.mark.django_db

NOT_CARRIED = r"has carried at most 10 level in an earlier test \(“What happens\?”, \d{4}-\d\d-\d\d\); this asks for level 20"


@pytest.fixture
def server(controlled):
    """Let the load be `level`, of which more than 30 fail."""
    controlled.load = ("level",)

    def measure(target, parameters, context):
        failed = parameters["level"] // 2 if parameters["level"] > 30 else 0
        done = parameters["level"] - failed
        return Measured(
            {"duration": 1.0}, Health("healthy", (), {}), units_done=done, units_failed=failed
        )

    controlled.measure = measure
    return controlled


@pytest.fixture
def measured(launched, server):
    """Run a campaign to its end: `measured(5, 10)`."""

    def make(*levels, **changes):
        campaign = launched(factors={"level": list(levels)}, **changes)
        go_on()
        campaign.refresh_from_db()
        assert campaign.state == Campaign.State.FINISHED
        return campaign

    return make


@pytest.fixture
def production(target):
    def mark(until=None):
        target.is_production, target.overload_until = True, until
        target.save()

    return mark


def go_on():
    while True:
        Campaign.objects.update(analysis_requested_at=None)
        dispatch.dispatch()
        attempt = Attempt.objects.filter(state=Attempt.State.QUEUED).first()
        if attempt is None:
            return
        execute(attempt.pk, "measure@here", "here")


def tomorrow():
    return timezone.now() + timedelta(days=1)


def remarks_of(campaign):
    return {
        text: tone
        for tone, text in previewing.preview(
            checking.check(storage.definition_of(campaign))
        ).remarks
        if "has carried" in text or "no earlier test" in text
    }


def most_carried(campaign):
    (asked,) = asked_by(campaign)
    return asked.carried and (asked.carried.load, asked.carried.campaign)


def claimed():
    dispatch.dispatch()
    attempt = claim(Attempt.objects.get(state="queued").pk, "measure@here", "here")
    assert attempt is not None
    return attempt


def is_stopped(attempt):
    return Attempt.objects.filter(pk=attempt.pk, interrupted_at__isnull=False).exists()


def test_a_test_server_that_has_carried_less_gets_a_warning_and_no_more(measured, draft):
    first = draft(factors={"level": [5, 10]})
    (text,) = remarks_of(first)
    assert "“server” has no earlier test with level: each level may overload" in text
    measured(5, 10)

    above, within = draft(factors={"level": [10, 20, 40]}), draft(factors={"level": [5, 8]})

    ((text, tone),) = remarks_of(above).items()
    assert "has carried up to 10 level (“What happens?”, " in text
    assert text.endswith("; 20, 40 are above that and may overload it.")
    assert tone == "warn"
    (text,) = remarks_of(draft(factors={"level": list(range(5, 40))}))
    assert "; 11, 12, 13, 14, 15, 16 and 23 more are above that" in text
    ((text, tone),) = remarks_of(within).items()
    assert (text.endswith("no level is above that."), tone) == (True, "pass")
    assert lifecycle.launch(above, None).state == Campaign.State.RUNNING


def test_what_fails_too_often_is_excluded_or_not_over_was_not_carried(
    measured, draft, launched, target
):
    campaign = measured(10, 20, 40)
    later = draft(factors={"level": [1, 50]})
    assert most_carried(later) == (20, campaign.pk)

    for run in campaign.runs.filter(cell__levels_by_factor={"level": 20}):
        Exclusion.objects.create(run=run, reason="a backup ran")
    assert most_carried(later) == (10, campaign.pk)
    campaign.runs.filter(cell__levels_by_factor={"level": 10}).update(state=Run.State.FAILED)
    Attempt.objects.filter(run__cell__levels_by_factor={"level": 10}).update(
        state=Attempt.State.FAILED, units_done=0
    )
    assert most_carried(later) is None
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.RUNNING)
    assert most_carried(later) is None


def test_the_preview_of_rest_tells_number_campaign_and_time(
    measured, draft, admin_client, django_assert_max_num_queries
):
    campaign = measured(5, 10)
    above = draft(factors={"level": [10, 20]})
    data = storage.definition_of(above)

    answer = admin_client.post(
        "/api/v1/campaigns/preview", data, content_type="application/json"
    ).json()

    (load,) = answer["loads"]
    assert (load["load"], load["levels"], load["above"]) == ("level", [10, 20], [20])
    assert load["carried"]["load"] == 10
    assert load["carried"]["campaign"] == campaign.pk
    assert load["carried"]["at"]
    page = admin_client.get(f"/campaigns/{above.pk}/").content.decode()
    assert "has carried up to 10 level" in page
    with django_assert_max_num_queries(6):  # five read the campaign, one all loads
        asked_by(Campaign.objects.get(pk=campaign.pk))


def test_a_production_server_is_not_loaded_above_it_without_its_owners_permission(
    measured, draft, target, production
):
    measured(5, 10)
    production()

    within = lifecycle.launch(draft(factors={"level": [5, 10]}), None, "server")
    assert within.state == Campaign.State.RUNNING
    go_on()
    above = draft(factors={"level": [10, 20]})
    with pytest.raises(NotPossible, match=f"{NOT_CARRIED}, and its owner has not allowed that"):
        lifecycle.launch(above, None, "server")
    fixed = draft(factors={}, parameters={"level": 20})
    with pytest.raises(NotPossible, match=NOT_CARRIED):
        lifecycle.launch(fixed, None, "server")
    with pytest.raises(NotPossible, match=NOT_CARRIED):
        lifecycle.try_one(above, None, above.cells.get(position=2), "server")
    lifecycle.try_one(above, None, above.cells.get(position=1), "server")
    go_on()

    production(tomorrow())
    ((text, tone),) = remarks_of(above).items()
    assert ("Its owner allows that until" in text, tone) == (True, "warn")
    lifecycle.launch(above, None, "server")
    go_on()

    above.refresh_from_db()
    target.refresh_from_db()
    assert above.state == Campaign.State.FINISHED
    assert target.overload_until is None  # it was for this campaign
    event = AuditEvent.objects.get(action="target_edited")
    assert event.user is None
    assert event.details["changes"]["overload_until"]["after"] is None


def test_what_a_campaign_needed_stays_so_where_another_carries_as_much_meanwhile(
    measured, target, production
):
    measured(5, 10)
    above = measured(10, 20)
    measured(20, 30)
    production()

    assert why_permission(above) == {}
    assert list(why_permission(above, before=above.launched_at)) == [target.pk]


def test_a_run_above_it_waits_and_one_within_it_begins(measured, draft, target, production):
    measured(5, 10)
    production(tomorrow())
    campaign = lifecycle.launch(
        draft(factors={"level": [10, 20]}, repetitions=1, order="blocked"), None, "server"
    )
    dispatch.dispatch()
    production()

    go_on()

    assert campaign.runs.get(state="done").cell.levels_by_factor == {"level": 10}
    assert "its owner has not allowed that" in waiting_for(campaign).why


def test_a_queued_run_above_it_does_not_begin_after_the_permission_was_taken_back(
    measured, draft, production
):
    measured(5, 10)
    production(tomorrow())
    lifecycle.launch(draft(factors={}, parameters={"level": 20}, repetitions=1), None, "server")
    dispatch.dispatch()
    queued = Attempt.objects.get(state="queued")

    production()

    assert claim(queued.pk, "measure@here", "here") is None
    assert queued.run.attempts.filter(state="running").count() == 0


@pytest.mark.parametrize("kind", ["taken back", "over", "hours"])
def test_a_run_above_it_is_stopped_when_the_permission_ends(
    measured, draft, target, production, kind
):
    measured(5, 10)
    production(tomorrow())
    campaign = lifecycle.launch(
        draft(factors={}, parameters={"level": 20}, repetitions=1), None, "server"
    )
    attempt = claimed()
    apply_limits(attempt.pk)
    assert not is_stopped(attempt)

    if kind == "hours":
        later = timezone.now() + timedelta(hours=2)
        target.overload_hours = f"daily {later:%H:%M}-{later + timedelta(hours=1):%H:%M}"
        target.save()
    else:
        production(timezone.now() - timedelta(seconds=1) if kind == "over" else None)
    apply_limits(attempt.pk)

    campaign.refresh_from_db()
    assert is_stopped(attempt)
    reason = Run.objects.get(pk=attempt.run_id).reason
    if kind == "hours":
        assert reason == "the hours in which server may be overloaded ended"
        assert campaign.state == Campaign.State.RUNNING
    else:
        assert reason == "the time in which server may be overloaded ended"
        assert campaign.state == Campaign.State.PAUSED
        assert "server may not be overloaded any more, so the run" in campaign.state_reason
        with pytest.raises(NotPossible, match=r"which is over|has not allowed"):
            lifecycle.resume(campaign, None, "server")


def test_a_run_within_it_goes_on_when_the_permission_ends(measured, draft, production):
    measured(5, 10)
    production(tomorrow())
    lifecycle.launch(draft(factors={"level": [10, 20]}, order="blocked"), None, "server")
    attempt = claimed()
    production()

    apply_limits(attempt.pk)

    assert not is_stopped(attempt)


@pytest.mark.parametrize("hours", [None, -1])
def test_a_search_without_the_permission_is_told_why_it_needs_one(hours):
    now = timezone.now()
    until = None if hours is None else now + timedelta(hours=hours)

    refused = overload.why_never(Target(name="server", overload_until=until), now)

    assert refused.startswith("A search loads “server” until work fails")


@pytest.mark.parametrize("until", [None, -1, 1])
def test_a_twin_in_production_whose_permission_is_over_closes_its_server(target, production, until):
    now = timezone.now()
    target.overload_until = now + timedelta(days=1)
    target.is_production = False
    target.save()
    Target.objects.create(
        name="twin",
        family=target.family,
        base_url=target.base_url,
        address=target.address,
        confirmed_rule=target.confirmed_rule,
        is_production=True,
        overload_until=None if until is None else now + timedelta(hours=until),
    )

    refused = overload.why_never(target, now)

    assert ("the same server as twin, a production server" in refused) is (until != 1)
    assert bool(refused) is (until != 1)
