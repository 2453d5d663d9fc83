"""What the owner of a target allows holds for every campaign, also where it was lowered since."""

import pytest
from django.utils import timezone

from campaigns.kit.errors import Invalid, NotConfirmed, NotPossible
from campaigns.models import Run, Target
from campaigns.planning import drafts, lifecycle, storage
from campaigns.planning.checking import check
from campaigns.targets import saving
from campaigns.targets.allowed import allowed_on
from campaigns.tests.toy import definition

pytestmark = pytest.mark.django_db
REFUSAL = "8 requests at a time are more than the 4 that the owner of “toy server” allows"


def campaign_of(target, **changes):
    sent = {"order": "random", "factors": {"workers": [4, 8]}} | changes
    return check(definition(target=target.pk, **sent))


def allow(target, number):
    target.max_concurrency = number
    target.save()


def test_a_level_above_what_the_owner_allows_is_refused_by_name(target):
    allow(target, 4)

    with pytest.raises(Invalid) as caught:
        campaign_of(target)

    assert caught.value.errors["target"][0].startswith(f"At workers 8: {REFUSAL}")
    assert campaign_of(target, excluded=[{"workers": 8}])


def test_a_fixed_parameter_above_what_the_owner_allows_is_refused(target):
    allow(target, 4)

    with pytest.raises(Invalid, match=REFUSAL):
        campaign_of(
            target, factors={"engine": ["new", "old"]}, parameters={"path": "/a", "workers": 8}
        )


def test_what_was_drafted_before_the_owner_lowered_the_limit_is_not_launched(target):
    draft = drafts.create(campaign_of(target), None)
    allow(target, 4)

    for step in (lifecycle.launch, lifecycle.try_one):
        with pytest.raises(NotPossible, match=f"At workers 8: {REFUSAL}"):
            step(draft, None)


def test_what_was_launched_before_is_neither_extended_nor_run_again(target):
    campaign = lifecycle.launch(drafts.create(campaign_of(target), None), None)
    Run.objects.filter(position=1).update(state="failed")
    allow(target, 4)

    with pytest.raises(NotPossible, match=REFUSAL):
        lifecycle.extend(campaign, 1, None)
    with pytest.raises(NotPossible, match=REFUSAL):
        lifecycle.run_again(campaign.runs.get(position=1), None)


def second_name_of(target, **changes):
    """Another target, without any limit of the first one, that is the same server."""
    return Target.objects.create(
        **({"name": "second name"} | changes),
        family=target.family,
        base_url=target.base_url,
        address=target.address,
        confirmed_rule=target.confirmed_rule,
    )


def test_a_second_target_for_the_same_server_is_no_way_round_its_limits(target):
    allow(target, 4)

    with pytest.raises(Invalid, match=REFUSAL):
        campaign_of(second_name_of(target))


def test_the_strictest_of_all_targets_that_are_one_server_counts(target):
    target.max_concurrency, target.max_requests_per_second = 8, 2.5
    target.save()
    second = second_name_of(target, max_concurrency=4, max_requests_per_second=10)
    second_name_of(target, max_concurrency=1, retired_at=timezone.now(), name="former name")

    for row in (target, second):
        allowed = allowed_on(row)
        assert (allowed.most_concurrent, allowed.most_per_second) == (4, 2.5)
        assert allowed.concurrency == second


def test_one_production_mark_suffices_for_a_server(target):
    target.is_production = True
    target.save()
    draft = drafts.create(campaign_of(second_name_of(target)), None)

    with pytest.raises(NotConfirmed, match="is the same server as “toy server”"):
        lifecycle.launch(draft, None)
    assert lifecycle.launch(draft, None, "second name").state == "running"


def test_exactly_what_is_allowed_is_launched(target):
    allow(target, 8)

    assert lifecycle.launch(drafts.create(campaign_of(target), None), None).state == "running"


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("max_concurrency", 0, "greater than or equal to 1"),
        ("max_concurrency", 2.5, "whole number"),
        ("max_requests_per_second", 0, "greater than or equal to 0.01"),
        ("max_requests_per_second", float("inf"), "Enter a number"),
        ("quiet_hours", "at night", "“at night”, cannot be read"),
        ("quiet_hours", "daily 00:00-24:00", "whole week"),
        ("quiet_zone", "Mars", "no known time zone"),
        ("quiet_zone", "x" * 61, "at most 60"),
    ],
)
def test_a_limit_that_cannot_hold_is_refused_at_its_field(target, field, value, words):
    sent = {"name": "n", "family": "http", "base_url": "http://127.0.0.1:9", field: value}

    with pytest.raises(Invalid) as caught:
        saving.save_target({**sent, "confirm_address": True})

    assert words in caught.value.errors[field][0]


def test_the_limits_of_a_target_are_saved(target):
    limits = {
        "is_production": True,
        "max_concurrency": 20,
        "max_requests_per_second": 2.5,
        "quiet_hours": "Mon-Fri 08:00-18:00\n# and\nSat 00:00-24:00",
        "quiet_zone": "Europe/Berlin",
    }
    sent = {"name": "toy server", "family": "http", "base_url": target.base_url}

    saving.save_target({**sent, "forget_password": True, **limits}, target)
    target.refresh_from_db()
    assert {name: getattr(target, name) for name in limits} == limits

    saving.save_target(sent, target)
    target.refresh_from_db()
    assert target.max_concurrency is None
    assert (target.is_production, target.quiet_hours, target.quiet_zone) == (False, "", "UTC")


def test_a_campaign_keeps_its_limits_and_so_does_its_clone(target):
    limits = {
        "time_budget_seconds": 7200.0,
        "max_failed_percent": 12.5,
        "max_consecutive_failures": 3,
    }
    campaign = drafts.create(campaign_of(target, **limits), None)

    assert (campaign.max_failed_share, campaign.time_budget_seconds) == (0.125, 7200)
    clone = drafts.create(check(storage.definition_of(campaign)), None, clone_of=campaign)
    assert {name: storage.definition_of(clone)[name] for name in limits} == limits


def test_without_a_word_there_is_no_budget_and_failures_end_it(target):
    found = campaign_of(target)

    assert found.campaign.time_budget_seconds is None
    assert (found.campaign.max_failed_share, found.campaign.max_consecutive_failures) == (0.5, 5)


def test_a_load_above_what_the_owner_allows_is_refused_at_its_levels(target, toy, monkeypatch):
    monkeypatch.setattr(type(toy), "load", ("workers",))
    allow(target, 4)

    with pytest.raises(Invalid) as caught:
        campaign_of(target)

    assert caught.value.errors["factors.workers"][0].startswith(f"At workers 8: {REFUSAL}")


def test_one_request_more_than_the_owner_allows_is_refused(target):
    allow(target, 4)

    assert campaign_of(target, factors={"workers": [3, 4]})
    with pytest.raises(Invalid, match="5 requests at a time are more than the 4"):
        campaign_of(target, factors={"workers": [4, 5]})
