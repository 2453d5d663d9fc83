from dataclasses import asdict
from datetime import timedelta

import pytest
import time_machine
from django.urls import reverse
from django.utils import timezone

from campaigns.execution import progress
from campaigns.findings import compute
from campaigns.findings.charts.strips import spark
from campaigns.findings.wording.verdicts import Display
from campaigns.models import (
    Attempt,
    Campaign,
    Finding,
    PublishedAnswer,
    Run,
    Target,
    TargetLease,
    Worker,
)
from campaigns.overview import home as queries
from campaigns.planning import drafts, lifecycle
from campaigns.planning.checking import check
from campaigns.stats.methods import METHODS
from campaigns.targets.holders import target_rows
from campaigns.tests import measured
from campaigns.tests.browsing import Page
from campaigns.tests.people import everywhere
from campaigns.tests.toy import definition

pytestmark = pytest.mark.django_db


@pytest.fixture
def launched(draft, person):
    return lifecycle.launch(draft, person)


@pytest.fixture
def measuring(launched):
    """The second run measures; the first one took 10 s."""
    now = timezone.now()
    first, second = launched.runs.all()[:2]
    Attempt.objects.create(
        run=first,
        number=1,
        state=Attempt.State.ACCEPTED,
        pool="measure",
        token=1,
        claimed_at=now - timedelta(seconds=10),
        finished_at=now,
    )
    Run.objects.filter(pk=first.pk).update(state=Run.State.DONE)
    Run.objects.filter(pk=second.pk).update(state=Run.State.RUNNING)
    attempt = Attempt.objects.create(
        run=second,
        number=1,
        state=Attempt.State.RUNNING,
        phase=Attempt.Phase.MEASURE,
        pool="measure",
        token=2,
        claimed_at=now,
        worker="measure@here",
    )
    TargetLease.objects.create(
        address=launched.target.address,
        attempt=attempt,
        holder="run 2 of the toy",
        token=2,
        expires_at=now + timedelta(minutes=1),
    )
    return attempt


@pytest.fixture
def answered():
    """A function that ends a campaign with an answer."""

    def end(campaign, means=(3.0, 1.0, 2.0)):
        Campaign.objects.filter(pk=campaign.pk).update(state="finished", launched_at=timezone.now())
        Finding.objects.create(
            campaign=campaign,
            name="answer",
            data_hash="x",
            versions={"methods": METHODS},
            result={},
        )
        PublishedAnswer.objects.create(
            campaign=campaign,
            sentence="The <new> engine takes 19.5 % less time.",
            caveat="",
            badges=[asdict(Display("faster", "better", "up", "solid"))],
            means=means,
        )

    return end


def test_an_empty_installation_says_where_to_begin(browser):
    page = Page(browser.get(reverse("home")))

    assert "No campaign yet" in page.text
    assert "Add the first target" in page.text


def test_a_campaign_is_run_again_with_one_click(browser, draft, person, worker):
    lifecycle.launch(draft, person)
    Campaign.objects.filter(pk=draft.pk).update(state="finished", tags=["nightly"])
    draft.runs.all().update(state="cancelled", reason="over")

    answer = browser.post(reverse("campaign-repeat", args=[draft.pk]))

    made = Campaign.objects.order_by("-pk")[0]
    assert answer["Location"] == reverse("campaign", args=[made.pk])
    assert (made.state, made.clone_of, made.tags) == ("running", draft, ["nightly"])
    assert made.seed != draft.seed


def test_what_cannot_be_run_again_as_it_is_leads_to_the_form(browser, draft, target):
    Target.objects.filter(pk=target.pk).update(retired_at=draft.created_at)

    answer = browser.post(reverse("campaign-repeat", args=[draft.pk]))

    assert answer["Location"] == reverse("campaign-clone", args=[draft.pk])
    assert Campaign.objects.count() == 1


def test_the_overview_says_what_a_campaign_is(browser):
    text = Page(browser.get(reverse("home"))).text

    assert "A campaign asks one question of a server" in text


def test_a_running_campaign_shows_its_phase_and_what_is_left(measuring):
    (row,) = queries.open_campaigns(everywhere().see)

    assert (row.closed, row.total, row.blocks) == (1, 6, 3)
    assert row.run is not None
    assert [step.mark for step in row.run.steps] == ["done", "done", "now", ""]
    assert row.seconds_left == pytest.approx(5 * 10, rel=0.01)
    assert row.waits is None


@pytest.mark.parametrize(("order", "word"), [("interleaved", "block"), ("random", "repetition")])
def test_runs_that_are_not_made_together_are_of_a_repetition(browser, measuring, order, word):
    Campaign.objects.update(order=order)

    assert f"{word} 1 of 3" in Page(browser.get(reverse("home"))).text


def test_what_the_run_says_of_itself_is_shown(measuring, monkeypatch):
    monkeypatch.setattr(progress, "read", lambda attempt: {"phase": "measure", "seconds": 7.0})

    (row,) = queries.open_campaigns(everywhere().see)

    assert row.run is not None
    assert row.run.steps[2].seconds == 7.0


def test_a_campaign_that_waits_says_for_what(launched):
    (no_worker,) = queries.open_campaigns(everywhere().see)
    Worker.objects.create(name="measure@here", host="here", pools=["measure"])
    (ready,) = queries.open_campaigns(everywhere().see)
    Campaign.objects.filter(pk=launched.pk).update(not_before=timezone.now() + timedelta(hours=1))
    (cooling,) = queries.open_campaigns(everywhere().see)

    assert no_worker.waits is not None
    assert ready.waits is not None
    assert cooling.waits is not None
    assert "No worker" in no_worker.waits.why
    assert no_worker.waits.open_end
    assert "take the next run" in ready.waits.why
    assert "Cool-down" in cooling.waits.why
    assert not cooling.waits.open_end


def test_a_campaign_waits_for_the_one_that_holds_its_target(measuring, target, person):
    other = drafts.create(check(definition(target=target.pk, question="Me too?")), person)
    lifecycle.launch(other, person)
    Worker.objects.create(name="measure@here", host="here", pools=["measure"])

    _, waiting = queries.open_campaigns(everywhere().see)

    assert waiting.waits is not None
    assert "run 2 of the toy" in waiting.waits.why
    assert waiting.waits.open_end


def test_a_try_out_of_a_draft_is_shown(draft, person):
    run = lifecycle.try_one(draft, person)
    Attempt.objects.create(
        run=run,
        number=1,
        state=Attempt.State.RUNNING,
        phase=Attempt.Phase.RESET,
        pool="measure",
        token=1,
        claimed_at=timezone.now(),
    )

    (row,) = queries.open_campaigns(everywhere().see)

    assert row.run is not None
    assert row.run.trial


def test_the_latest_answers_are_escaped_and_lead_to_their_campaigns(browser, draft, answered):
    answered(draft)

    answer = browser.get(reverse("home"))

    assert "The &lt;new&gt; engine" in answer.content.decode()
    assert reverse("campaign", args=[draft.pk]) in answer.content.decode()
    assert "faster" in Page(answer).text


def test_a_card_tells_target_kind_person_date_and_one_word(browser, target, person):
    campaign = measured.launched(target, person)
    measured.store(campaign, lambda run: 8.0 + run.position)
    measured.finish(campaign)

    shown = browser.get(reverse("home"))

    ((answer, curve),) = shown.context["answers"]
    assert (answer.target, answer.kind, answer.author) == (target.name, "Toy", person.username)
    assert answer.ended_at == campaign.closed_at
    assert curve is None
    for text in (answer.text.word.word, target.name, "Toy", person.username):
        assert text in Page(shown).text


def test_the_campaign_that_ended_last_is_first_though_another_was_analysed_again(target, person):
    keys = []
    for _ in range(2):
        campaign = measured.launched(target, person)
        measured.store(campaign, lambda run: 8.0 + run.position)
        keys.append(measured.finish(campaign).pk)
    compute.analyse(Campaign.objects.get(pk=keys[0]))

    assert [row.pk for row in queries.latest_answers(everywhere().see)] == keys[::-1]


def test_no_verdict_is_shown_before_the_stop_rule(browser, launched, answered):
    answered(launched)
    Campaign.objects.filter(pk=launched.pk).update(state=Campaign.State.RUNNING)

    assert queries.latest_answers(everywhere().see) == []
    assert "19.5" not in Page(browser.get(reverse("campaign-list"))).text


def test_targets_and_workers_show_who_holds_and_who_is_silent(measuring):
    now = timezone.now()
    Worker.objects.create(name="measure@here", host="here", pools=["measure"])
    Worker.objects.create(name="control@here", host="here", pools=["control"])
    Worker.objects.create(name="measure@old", host="old", pools=["measure"], version="0.0.1")
    Worker.objects.create(
        name="measure@gone", host="gone", pools=["measure"], seen_at=now - timedelta(minutes=14)
    )

    (target,) = target_rows(everywhere().see)
    workers = {row.name: row.state for row in queries.worker_rows(everywhere().see)}

    assert (target.held_by, target.campaign) == ("run 2 of the toy", measuring.run.campaign_id)
    assert workers == {
        "measure@here": "busy",
        "control@here": "idle",
        "measure@gone": "lost",
        "measure@old": "other",
    }


def test_a_lease_that_has_run_out_holds_nothing(measuring):
    TargetLease.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    (target,) = target_rows(everywhere().see)

    assert target.campaign is None


def test_an_unchanged_panel_is_not_sent_again(browser, measuring):
    with time_machine.travel(timezone.now(), tick=False):  # remaining times change
        first = browser.get(reverse("home-running"))
        same = browser.get(reverse("home-running"), headers={"If-None-Match": first["ETag"]})
    Attempt.objects.filter(pk=measuring.pk).update(phase=Attempt.Phase.VERIFY)
    changed = browser.get(reverse("home-running"), headers={"If-None-Match": first["ETag"]})

    assert same.status_code == 304
    assert changed.status_code == 200


def test_the_first_page_costs_few_queries(
    browser, target, person, measuring, django_assert_max_num_queries
):
    for _ in range(2):
        campaign = measured.launched(target, person)
        measured.store(campaign, lambda run: 8.0 + run.position)
        measured.finish(campaign)

    with django_assert_max_num_queries(27):
        page = browser.get(reverse("home"))

    assert len(page.context["answers"]) == 2


def test_pages_hold_no_script_and_no_handler_of_their_own(browser, draft, target, answered):
    answered(draft)
    paths = [
        reverse("home"),
        reverse("campaign-list"),
        reverse("campaign-new"),
        reverse("account"),
        reverse("target-list"),
        reverse("target", args=[target.pk]),
        reverse("target-new"),
    ]
    for path in paths:
        page = Page(browser.get(path))
        scripts = [attributes for tag, attributes in page.elements if tag == "script"]
        assert all((script.get("src") or "").startswith("/static/") for script in scripts), path
        handlers = [name for _, attributes in page.elements for name in attributes]
        assert not [name for name in handlers if name.startswith(("on", "hx-on"))], path
        ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
        assert len(ids) == len(set(ids)), path


@pytest.mark.parametrize("path", ["/nowhere/", "/targets/99999999999999999999999/", "/%ff%fe/"])
def test_what_is_not_there_is_said_on_a_page(browser, path):
    answer = browser.get(path)

    assert answer.status_code == 404
    assert "Page not found" in Page(answer).text


def test_a_spark_leaves_the_place_of_a_missing_value_empty():
    curve = spark([1.0, None, 3.0])

    assert curve is not None
    assert curve.points == (("4.0", "28.0"), ("116.0", "4.0"))
    assert spark([1.0]) is None
    assert spark([]) is None
