"""One list of checks before a launch: pages, REST, the preview and the launch read it."""

import pytest
from django.urls import reverse
from django.utils import timezone

from campaigns.kinds.base import DriverError
from campaigns.kit.errors import NotPossible
from campaigns.models import Campaign, Target
from campaigns.planning import drafts, lifecycle
from campaigns.planning.checking import check
from campaigns.planning.launch_checks import Outcome, known_checks
from campaigns.planning.preview import preview
from campaigns.targets.saving import save_target
from campaigns.tests.browsing import Page, browser, draft, person
from campaigns.tests.rest import api, own_rates, owner, token
from campaigns.tests.toy import definition, worker

__all__ = ["api", "browser", "draft", "own_rates", "owner", "person", "token", "worker"]

pytestmark = pytest.mark.django_db
PASSED, FAILED, NOT_MADE = Outcome.PASSED, Outcome.FAILED, Outcome.NOT_MADE


def outcomes(campaign, **more):
    return {each.name: each.outcome for each in known_checks(campaign, **more)}


def refused(campaign):
    with pytest.raises(NotPossible) as error:
        lifecycle.launch(campaign, None)
    return str(error.value)


@pytest.fixture
def gone(toy, monkeypatch):
    """Let the server lack what runs request."""

    def look(target, parameters, rules):
        raise DriverError(f"{parameters['path']} is not there.")

    monkeypatch.setattr(toy, "look", look)


def test_every_check_says_whether_it_was_made_and_how_it_ended(draft, worker):
    assert outcomes(draft) == {
        "in use": PASSED,
        "address allowed": PASSED,
        "limits of its owner": PASSED,
        "what a run needs": PASSED,
        "health": NOT_MADE,
        "workers": PASSED,
        "try-out": NOT_MADE,
        "definition": PASSED,
    }
    later = outcomes(draft, launch=False)
    assert set(later) == {"in use", "address allowed", "limits of its owner", "what a run needs"}


def test_what_refuses_a_launch_is_what_the_list_says(draft, settings):
    settings.OWNER_CONFIRMS = False
    Target.objects.update(max_concurrency=2)

    refusals = [each for each in known_checks(draft) if each.refuses]

    assert [each.name for each in refusals] == ["address allowed", "limits of its owner"]
    told = refused(draft)
    assert all(each.text in told and each.of == "toy server" for each in refusals)
    assert "no rule allows it" in told
    assert "have the owner raise the limit" in told


def test_a_draft_that_could_not_be_saved_any_more_is_not_launched(draft):
    draft.parameters["engine"] = draft.parameters.pop("path")
    draft.save()

    assert outcomes(draft)["definition"] == FAILED
    assert "This field is required." in refused(draft)


def test_what_only_warns_is_launched(draft, worker):
    Target.objects.update(
        health="unreachable",
        proofs=[{"name": "schema", "expected": "yes", "measured": "no", "unit": "", "ok": False}],
    )
    worker.delete()

    checks = {each.name: each for each in known_checks(Campaign.objects.get())}

    assert checks["health"].text == ("toy server is unreachable. schema: expected yes, found no.")
    assert checks["health"].warns
    assert checks["workers"].warns
    assert lifecycle.launch(draft, None).state == Campaign.State.RUNNING


@pytest.mark.parametrize("step", ["extend", "resume", "try", "again"])
def test_each_step_that_loads_a_target_reads_the_list(draft, step):
    if step != "try":
        lifecycle.launch(draft, None)
        draft.runs.filter(position=1).update(state="void")
        lifecycle.pause(draft)
    Target.objects.update(retired_at=timezone.now())
    steps = {
        "extend": lambda: lifecycle.extend(draft, 1, None),
        "resume": lambda: lifecycle.resume(draft),
        "try": lambda: lifecycle.try_one(draft, None),
        "again": lambda: lifecycle.run_again(draft.runs.get(position=1), None),
    }

    with pytest.raises(NotPossible, match="The target was retired: toy server"):
        steps[step]()


def test_the_preview_has_the_checks_of_what_is_not_stored(target):
    made = {each.name: each.outcome for each in preview(check(definition(target=target.pk))).checks}

    assert made["health"] == NOT_MADE
    assert made["workers"] == FAILED
    assert "try-out" not in made


def test_the_draft_shows_them_and_asks_the_targets_now(draft, browser, gone):
    page = Page(browser.get(reverse("campaign", args=[draft.pk]))).text
    assert "Before the launch" in page
    assert "Workers : No worker of the pool “measure” answers" in page
    assert page.count("No worker of the pool") == 1
    assert "There for a run , not made: A launch asks “toy server”" in page
    assert "is not there" not in page

    asked = Page(browser.post(reverse("campaign-checks", args=[draft.pk]))).text
    assert "There for a run : /a is not there." in asked
    draft.refresh_from_db()
    assert draft.state == Campaign.State.DRAFT


def test_rest_lists_them_and_asks_the_targets_now(draft, api, gone):
    place = f"campaigns/{draft.pk}/launch-checks"

    _, body = api.get(place)
    assert body["may_launch"] is True
    workers = next(each for each in body["checks"] if each["name"] == "workers")
    assert (workers["outcome"], workers["required"]) == ("failed", False)
    assert "no worker" in workers["text"].lower()
    assert [each["outcome"] for each in body["checks"] if each["name"] == "there for a run"] == [
        "not made"
    ]

    _, body = api.post(place)
    (made,) = [each for each in body["checks"] if each["name"] == "there for a run"]
    assert made == {
        "name": "there for a run",
        "of": "toy server",
        "outcome": "failed",
        "text": "/a is not there.",
        "required": False,
    }
    Target.objects.update(retired_at=timezone.now())
    assert api.get(place)[1]["may_launch"] is False


def test_rest_launches_what_lacks_something_only_if_asked_to(draft, api, gone, target, worker):
    place = f"campaigns/{draft.pk}/launch"

    status, body = api.post(place, {})
    assert status == 409
    assert body["detail"].startswith("/a is not there. Nothing was launched; send `anyway`")
    assert api.post(place, {"anyway": True})[0] == 200

    new = definition(target=target.pk) | {"launch": True}
    assert api.post("campaigns", new)[0] == 409
    assert Campaign.objects.count() == 1
    assert api.post("campaigns", new | {"anyway": True})[0] == 201


def test_targets_that_turn_out_to_be_one_server_are_not_compared(target):
    target.address = "127.0.0.1:9"
    other = save_target(
        {
            "name": "other",
            "family": "http",
            "base_url": "http://127.0.0.1:8",
            "confirm_address": True,
        }
    )
    both = definition(targets=[target.pk, other.pk], order="interleaved")
    campaign = drafts.create(check(both), None)
    Target.objects.filter(pk=other.pk).update(address="127.0.0.1:9")

    assert "are the same server" in refused(Campaign.objects.get(pk=campaign.pk))
