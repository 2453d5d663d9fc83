"""A second person's yes, by REST."""

import pytest

from campaigns.accounts.access import make_token
from campaigns.models import Campaign, LaunchRequest, Run, Target, Team
from campaigns.tests.people import somebody
from campaigns.tests.rest import ApiClient

pytestmark = pytest.mark.django_db
NAME = {"confirm_target": "toy server"}


@pytest.fixture
def draft(draft, target):
    """A draft on a production server, of a team that wants two people there."""
    Target.objects.filter(pk=target.pk).update(is_production=True)
    Team.objects.filter(pk=target.team_id).update(second_for_production=True)
    return draft


@pytest.fixture
def bob(draft):
    return ApiClient(make_token(somebody("bob", "operator"), "tests")[1])


@pytest.fixture
def launched(api, bob, draft):
    _, asked = api.post(f"campaigns/{draft}/launch", NAME)
    status, _ = bob.post(f"launch-requests/{asked['id']}/approve")
    assert status == 200
    return draft


def test_a_launch_is_accepted_and_waits(api, draft):
    status, asked = api.post(f"campaigns/{draft}/launch", NAME)

    assert status == 202
    assert (asked["step"], asked["state"], asked["asked_by"]) == ("launch", "waiting", "owner")
    assert api.get(f"campaigns/{draft}")[1]["launch_request"]["id"] == asked["id"]


def test_a_run_that_is_made_again_waits_for_the_yes(api, bob, launched):
    Run.objects.filter(position=2).update(state="failed")

    status, asked = api.post(f"campaigns/{launched}/runs/2/again", NAME)

    assert status == 202
    assert (asked["step"], asked["run"], asked["blocks"], asked["cell"]) == ("again", 2, None, None)
    assert Run.objects.get(position=2).state == "failed"
    assert bob.post(f"launch-requests/{asked['id']}/approve")[0] == 200
    assert Run.objects.get(position=2).state == "planned"


def test_a_stop_rule_that_may_load_more_is_refused(api, launched):
    body = {"reason": "more", "stop_rule": "precision", "stop_most": 9, **NAME}

    status, answer = api.post(f"campaigns/{launched}/amend", body)

    assert status == 409
    assert "Extend the campaign, or clone it" in answer["detail"]
    assert Campaign.objects.get().stop_rule == "fixed"


def test_who_waits_for_the_yes_learns_of_a_no(api, bob, draft):
    _, asked = api.post(f"campaigns/{draft}/launch", NAME)
    _, before = api.get(f"campaigns/{draft}")

    bob.post(f"launch-requests/{asked['id']}/refuse", {"words": "not today"})

    _, after = api.get(f"campaigns/{draft}")
    assert after["version"] != before["version"]
    assert after["launch_request"] is None
    assert LaunchRequest.objects.get().words == "not today"
