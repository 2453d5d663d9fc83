"""What a form begins with works, and what cannot work is said before it is locked and launched."""

import pytest
from django.urls import reverse

from campaigns.kinds.base import DriverError, TargetUnavailable
from campaigns.kinds.registry import driver_of
from campaigns.models import Attempt, Campaign, Run, Target, Worker
from campaigns.planning import drafts, lifecycle
from campaigns.planning.checking import check
from campaigns.planning.launch_checks import Outcome, asked_checks, planned_by
from campaigns.tests.browsing import Page
from campaigns.tests.planning.pages.test_form import sent

__all__ = ["sent"]
pytestmark = pytest.mark.django_db

NEW = "/campaigns/new/"
SANDBOX = "http://127.0.0.1:8099"


@pytest.fixture
def missing(toy, monkeypatch):
    """The target has nothing at /gone; give what was asked for."""
    asked = []

    def look(target, parameters, rules):
        asked.append(parameters["path"])
        if parameters["path"] == "/gone":
            raise DriverError("/gone answered 404; check the parameter path.")

    monkeypatch.setattr(toy, "look", look)
    monkeypatch.setattr(toy, "urls", lambda base_url, parameters: {"path": base_url})
    return asked


def launch(browser, sent, **changes):
    return browser.post(NEW, sent | changes | {"act": "launch"}, follow=True)


def test_a_form_on_the_sandbox_begins_with_a_manifest_that_it_serves(browser, settings, person):
    settings.SANDBOX_URL = SANDBOX
    target = Target.objects.create(
        name="sandbox", family="http", base_url=f"{SANDBOX}/", address="127.0.0.1:8099"
    )

    page = Page(browser.get(NEW, {"kind": "downloader", "target": target.pk}))

    (field,) = page.named("p-manifest")
    assert field["value"] == "repo/files=100,size=20480/PULP_MANIFEST"
    assert field["list"] == "offers-manifest"
    assert len([tag for tag, _ in page.elements if tag == "datalist"]) >= 1


def test_on_another_server_it_begins_with_what_went_through_there(browser, settings, person):
    settings.SANDBOX_URL = SANDBOX
    target = Target.objects.create(
        name="mirror", family="http", base_url="http://127.0.0.2:80", address="127.0.0.2:80"
    )
    sent = {"kind": "downloader", "target": target.pk, "question": "?", "repetitions": 3,
            "parameters": {"manifest": "el9/PULP_MANIFEST"}}  # fmt: skip
    before = Page(browser.get(NEW, {"kind": "downloader", "target": target.pk}))
    assert before.named("p-manifest")[0]["value"] == "PULP_MANIFEST"
    done = drafts.create(check(sent, Target.objects.all()), person)
    Campaign.objects.filter(pk=done.pk).update(state="finished", launched_at=done.created_at)

    page = Page(browser.get(NEW, {"kind": "downloader", "target": target.pk}))

    assert page.named("p-manifest")[0]["value"] == "el9/PULP_MANIFEST"


def test_what_the_target_has_not_is_said_and_nothing_is_launched(browser, sent, missing, worker):
    answer = launch(browser, sent, **{"p-path": "/gone"})

    stored = Campaign.objects.get()
    assert (stored.state, stored.runs.count()) == ("draft", 0)
    text = Page(answer).text
    assert "Nothing was launched. /gone answered 404; check the parameter path." in text
    assert "Launch anyway" in text
    assert missing == ["/gone"]  # once, though there are four cells

    browser.post(reverse("campaign-launch", args=[stored.pk]), {"anyway": "on"})

    stored.refresh_from_db()
    assert stored.state == "running"
    assert missing == ["/gone"]


def test_a_draft_is_looked_at_by_the_button_of_its_page_too(browser, draft, missing, worker):
    draft.parameters |= {"path": "/gone"}
    draft.save()

    answer = browser.post(reverse("campaign-launch", args=[draft.pk]), follow=True)

    draft.refresh_from_db()
    assert draft.state == "draft"
    assert "Nothing was launched." in Page(answer).text


def test_what_is_there_is_launched(browser, sent, missing, worker):
    launch(browser, sent)

    assert Campaign.objects.get().state == "running"
    assert missing == ["/a"]


def test_a_server_that_another_campaign_measures_is_left_alone(
    browser, sent, missing, draft, worker
):
    browser.post(reverse("campaign-launch", args=[draft.pk]))
    Attempt.objects.update(state="running", claimed_at=draft.created_at)
    asked = list(missing)

    launch(browser, sent, **{"p-path": "/gone"})

    assert missing == asked
    assert Campaign.objects.order_by("-pk")[0].state == "running"


def test_a_server_that_gives_no_answer_here_keeps_nobody_back(draft, toy, monkeypatch):
    def look(target, parameters, rules):
        raise TargetUnavailable("no answer")

    monkeypatch.setattr(toy, "look", look)

    (made,) = asked_checks(planned_by(draft))
    assert made.outcome == Outcome.NOT_MADE


def test_the_server_may_be_probed_again_after_the_look(draft, missing):
    (made,) = asked_checks(planned_by(draft))
    assert made.outcome == Outcome.PASSED

    assert Target.objects.get(pk=draft.target_id).probe_began_at is None


@pytest.mark.parametrize("state", ["failed", "void"])
def test_a_failed_try_out_is_a_warning_beside_the_launch(browser, draft, state):
    run = lifecycle.try_one(draft, None)
    before = Page(browser.get(reverse("campaign", args=[draft.pk])))
    assert "Runs of a launch would probably end the same way" not in before.text
    Run.objects.filter(pk=run.pk).update(state=state, reason="/gone answered 404.")

    for name in ("campaign", "campaign-edit"):
        text = Page(browser.get(reverse(name, args=[draft.pk]))).text
        assert f"The last try-out is {state}: /gone answered 404. Runs of a launch" in text


def test_what_no_worker_can_run_is_greyed_with_the_reason(browser, target):
    why = "Install old on a worker: the program is missing."
    lacks = {"toy": {"engine": {"old": why}}}
    Worker.objects.create(name="a", host="a", lacks=lacks)

    page = browser.get(NEW, {"kind": "toy"})

    (box,) = [each for each in Page(page).named("levels-engine") if each["value"] == "old"]
    assert "disabled" in box
    assert why in Page(page).text
    Worker.objects.create(name="b", host="b")
    again = Page(browser.get(NEW, {"kind": "toy"}))
    assert not [each for each in again.named("levels-engine") if "disabled" in each]


def test_a_kind_tells_what_this_machine_lacks(monkeypatch):
    monkeypatch.setattr("campaigns.kinds.sql.engine.pgbench.candidates", list)

    assert set(driver_of("sql").lacking()) == {"script"}


def test_a_bad_level_is_marked_where_it_stands(browser, sent):
    answer = browser.post(NEW, sent | {"levels-workers": "1\n many \n2", "act": "save"})

    (box,) = [a for _, a in Page(answer).elements if a.get("data-levels") == "workers"]
    assert box["data-bad"] == "many"


def test_pairs_of_three_levels_name_the_order_that_takes_them(browser, sent):
    sent |= {"order": "paired", "paired_factor": "workers", "levels-workers": "1\n2\n3"}

    text = Page(browser.post(NEW, sent | {"act": "save"})).text

    assert "“workers” has 3 levels; a paired factor has exactly two." in text
    assert "choose the order “interleaved”" in text


def test_the_keyboard_comes_to_vary_before_the_levels(browser, target):
    names = [a.get("name") for _, a in Page(browser.get(NEW, {"kind": "toy"})).elements]

    assert names.index("vary-engine") < names.index("levels-engine")
    assert names.index("vary-workers") < names.index("levels-workers")


def test_what_was_cancelled_or_paused_is_corrected_and_repeated(browser, draft, person, worker):
    campaign = lifecycle.launch(draft, person)
    address = reverse("campaign", args=[campaign.pk])
    clone = reverse("campaign-clone", args=[campaign.pk])
    assert clone not in browser.get(address).content.decode()

    lifecycle.pause(campaign, person)
    paused = browser.get(address)
    Campaign.objects.filter(pk=campaign.pk).update(state="cancelled", state_reason="wrong path")
    cancelled = browser.get(address)

    for page in (paused, cancelled):
        assert clone in page.content.decode()
        assert "Correct and repeat" in Page(page).text


def test_a_tab_can_tell_how_far_its_campaign_is_and_how_it_ended(browser, draft, person, worker):
    campaign = lifecycle.launch(draft, person)
    address = reverse("campaign", args=[campaign.pk])

    progress = Page(browser.get(address)).by_id("progress")
    assert progress["data-tab"] == "(0/6)"
    assert "icon-running" in str(progress["data-icon"])
    lifecycle.pause(campaign, person)
    assert Page(browser.get(address)).by_id("progress")["data-tab"] == "⏸ (0/6)"
    for state, mark, icon in (("finished", "✓", "icon-done"), ("cancelled", "✕", "icon-stopped")):
        Campaign.objects.filter(pk=campaign.pk).update(state=state, state_reason="enough")
        ended = Page(browser.get(address)).by_id("ended")
        assert (ended["data-mark"], ended["data-name"]) == (mark, campaign.name)
        assert icon in str(ended["data-icon"])


@pytest.mark.parametrize(
    ("family", "kind"),
    [("http", "downloader"), ("pulp", "sync"), ("postgresql", "sql"), ("", "downloader")],
    ids=["http", "pulp", "postgresql", "no target"],
)
def test_a_form_begins_with_the_kind_that_is_most_about_the_server(browser, family, kind):
    query = {}
    if family:
        query["target"] = Target.objects.create(
            name="mirror", family=family, base_url="http://127.0.0.2:80", address="127.0.0.2:80"
        ).pk

    page = Page(browser.get(NEW, query))

    (chosen,) = [each for each in page.named("kind") if "checked" in each]
    assert chosen["value"] == kind
