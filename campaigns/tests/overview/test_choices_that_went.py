"""Campaigns that were stored with an engine that perfdash has no more: they open, and what would measure again says what to choose."""

from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from django.urls import reverse

from campaigns.findings import compute
from campaigns.kinds.downloader.form import DownloaderForm
from campaigns.kit.errors import NotPossible
from campaigns.models import Campaign, Run, Target
from campaigns.planning import checking, drafts, lifecycle, templates
from campaigns.reviews.bundles import verify, write_bundle
from campaigns.tests.browsing import Page, browser, person
from campaigns.tests.remembered import remembered
from campaigns.tests.rest import api, own_rates, owner, token
from campaigns.tests.reviews.bundles import conftest as bundles
from campaigns.tests.toy import worker

__all__ = ["api", "browser", "own_rates", "owner", "person", "token", "worker"]
pytestmark = pytest.mark.django_db

GONE = "“aria2” is no engine any more; choose curl, which also reuses connections."
UNTIMED = ("start_seconds", "first_byte_seconds", "total_seconds", "status")


@contextmanager
def before():
    """Let aria2 be an engine, as it was in earlier versions."""
    field: Any = DownloaderForm.base_fields["engine"]
    choices, gone = list(field.choices), field.gone
    field.choices, field.gone = [*choices, ("aria2", "aria2")], {}
    try:
        yield
    finally:
        field.choices, field.gone = choices, gone


def stored(state="draft", **changes):
    """A campaign as an earlier version stored it, with its runs where it was launched."""
    target, _ = Target.objects.get_or_create(
        name="server", family="http", base_url="http://127.0.0.1:9", address="127.0.0.1:9"
    )
    data = {
        "question": "Is aria2 faster?",
        "kind": "downloader",
        "target": target.pk,
        "parameters": {"manifest": "repo/PULP_MANIFEST"},
        "repetitions": 6,
        "seed": 1,
    }
    with before():
        campaign = drafts.create(checking.check(data | changes), None)
        if state != "draft":
            campaign = lifecycle.launch(campaign, None)
    if state == "finished":
        for run in campaign.runs.order_by("position"):
            bundles.measure(campaign, run, measured_by=untimed)
        Campaign.objects.filter(pk=campaign.pk).update(state=state, closed_at=bundles.START)
        campaign.refresh_from_db()
        compute.analyse(campaign)
        campaign.refresh_from_db()
    return campaign


def untimed(run, seconds):
    """What the engine aria2 gave: it knew no times."""
    measured = bundles.download_of(run, seconds)
    if run.cell.levels_by_factor.get("engine", "aria2") != "aria2":
        return measured
    values = {
        name: value
        for name, value in measured.values.items()
        if name not in ("effective_concurrency", "file_time_p50", "file_time_p95")
    }
    samples = {**measured.samples, **{name: [None] * 40 for name in UNTIMED}}
    return replace(measured, values=values, samples=samples, distributions=[], phases=[])


PAIRS = {
    "factors": {"engine": ["futures", "aria2"]},
    "order": "paired",
    "paired_factor": "engine",
    "baseline": "futures",
}
ONE = {"parameters": {"manifest": "repo/PULP_MANIFEST", "engine": "aria2"}}
EACH = pytest.mark.parametrize(
    ("design", "path"), [(PAIRS, "factors.engine"), (ONE, "parameters.engine")]
)


@pytest.fixture
def measured(db):
    """A finished, analysed campaign of six pairs, one side of which is aria2."""
    return remembered(_measured)


def _measured():
    return stored("finished", **PAIRS)


@pytest.fixture(autouse=True)
def _allowed(settings):
    settings.ALLOWED_ADDRESSES = "127.0.0.1:9"


PAGES = (
    *("campaign", "campaign-evidence", "campaign-trust", "campaign-runs", "campaign-settings"),
    *("campaign-print", "campaign-threads", "campaign-report"),
    *("campaign-runs-csv", "campaign-runs-parquet", "campaign-comparisons-csv", "campaign-json"),
    *("campaign-bundle", "template-new", "campaign-amend"),
)


@pytest.mark.parametrize("name", PAGES)
def test_a_result_with_it_opens(browser, measured, name):
    answer = browser.get(reverse(name, args=[measured.pk]))
    read = b"".join(answer)  # what is streamed is closed then

    assert (answer.status_code, bool(read)) == (200, True)


def test_its_runs_and_its_comparison_open(browser, measured):
    other = stored("finished", **ONE)

    run = browser.get(reverse("run", args=[measured.pk, run_with_it(measured).position]))
    compared = browser.get(reverse("compare"), {"c": [measured.pk, other.pk]})
    answer = browser.get(reverse("campaign", args=[measured.pk]))

    for page in (run, compared, answer):
        assert page.status_code == 200
        assert "aria2" in Page(page).text


@pytest.mark.parametrize(
    "path", ["", "/runs", "/runs/1", "/cells", "/findings", "/attempts", "/measurements", "/export"]
)
def test_rest_gives_it(api, measured, path):
    answer = api.client.get(f"/api/v1/campaigns/{measured.pk}{path}")

    read = b"".join(answer)

    assert (answer.status_code, bool(read)) == (200, True)


def test_its_bundle_holds(measured, tmp_path):
    place = tmp_path / "bundle.zip"
    with place.open("wb") as file:
        write_bundle(file, [measured])

    report = verify(place)

    assert report.holds, report


@pytest.mark.parametrize("page", ["campaign-clone", "campaign-edit"])
@EACH
def test_the_form_shows_it_with_what_to_choose(browser, page, design, path):
    campaign = stored(**design)

    answer = browser.get(reverse(page, args=[campaign.pk]))

    shown = Page(answer)
    row = {row.name: row for row in answer.context["form"].parameters.essential}["engine"]
    assert row.errors == [GONE]
    assert GONE in shown.text
    chosen = [a["value"] for tag, a in shown.elements if tag == "option" and "selected" in a]
    boxes = [box["value"] for box in shown.named("levels-engine") if "checked" in box]
    if path == "parameters.engine":
        assert "aria2" in chosen
        assert not {"asyncio", "futures", "curl"} & {*chosen[:1]}
    else:
        assert boxes == ["futures", "aria2"]


@EACH
def test_the_form_stores_it_nowhere_until_another_one_is_chosen(browser, design, path):
    campaign = stored(**design)
    page = Page(browser.get(reverse("campaign-clone", args=[campaign.pk])))
    known = Campaign.objects.count()

    refused = browser.post(
        reverse("campaign-clone", args=[campaign.pk]), sent_by(page) | {"act": "save"}
    )

    assert refused.status_code == 422
    assert refused.context["form"].errors[path] == [GONE]
    assert Campaign.objects.count() == known
    chosen = sent_by(Page(refused))
    if path == "factors.engine":
        assert chosen["levels-engine"] == ["futures", "aria2"]
        chosen["levels-engine"] = ["futures", "curl"]
        chosen |= dict.fromkeys(("primary_contrast.candidate", "primary_contrast.baseline"), "")
    else:
        assert chosen["p-engine"] == "aria2"
        chosen["p-engine"] = "curl"

    saved = browser.post(reverse("campaign-clone", args=[campaign.pk]), chosen | {"act": "save"})

    assert saved.status_code == 302, Page(saved).text
    made = Campaign.objects.latest("pk")
    assert "curl" in (made.parameters.get("engine"), *levels_of(made))


def sent_by(page):
    """What a browser sends of the form as it stands, without its buttons."""
    sent, select = {}, ""
    for tag, a in page.elements:
        name = a.get("name")
        if tag == "select":
            select, first = name, True
        elif tag == "option" and select:
            if first or "selected" in a:
                sent[select] = a["value"]
            first = False
        elif tag == "input" and name and a.get("type") in ("checkbox", "radio"):
            if "checked" in a:
                sent.setdefault(name, []).append(a.get("value", "on"))
        elif tag == "input" and name:
            sent[name] = a.get("value", "")
    return sent | {"question": "Is aria2 faster?", "excluded": ""}


def levels_of(campaign):
    return [level.value for factor in campaign.factors.all() for level in factor.levels.all()]


@EACH
def test_run_again_says_what_to_choose_and_opens_the_form(browser, design, path):
    campaign = stored("finished", **design)
    known = Campaign.objects.count()

    answer = browser.post(reverse("campaign-repeat", args=[campaign.pk]), follow=True)

    assert Campaign.objects.count() == known
    assert f"It cannot be launched again as it is. {path}: {GONE}" in Page(answer).text


@pytest.mark.parametrize(
    ("act", "design"),
    [("campaign-launch", PAIRS), ("campaign-launch", ONE), ("campaign-try", ONE)],
)
def test_a_draft_with_it_is_not_launched(browser, worker, act, design):
    campaign = stored(**design)

    answer = browser.post(reverse(act, args=[campaign.pk]), {"anyway": "on"}, follow=True)

    campaign.refresh_from_db()
    assert (campaign.state, campaign.runs.count()) == ("draft", 0)
    assert GONE in Page(answer).text


@EACH
def test_the_page_of_a_draft_says_it_and_no_calibration_is_made(browser, design, path):
    campaign = stored(**design)

    page = browser.get(reverse("campaign", args=[campaign.pk]))
    events = browser.get(reverse("campaign-expected-events", args=[campaign.pk]))
    calibrated = browser.post(reverse("campaign-calibrate", args=[campaign.pk]), follow=True)

    assert (page.status_code, events.status_code) == (200, 200)
    assert GONE in Page(page).text
    assert GONE in Page(calibrated).text
    assert Campaign.objects.count() == 1


@EACH
def test_a_running_campaign_with_it_opens(browser, design, path):
    campaign = stored("running", **design)

    for name in ("campaign", "campaign-progress", "campaign-live", "campaign-expected-events"):
        assert browser.get(reverse(name, args=[campaign.pk])).status_code == 200
    api_page = browser.get(reverse("campaign-json", args=[campaign.pk]))
    assert b"aria2" in b"".join(api_page)


@EACH
def test_nothing_more_is_measured_with_it(person, design, path):
    paused = lifecycle.pause(stored("running", **design), person)
    void = run_with_it(paused)
    Run.objects.filter(pk=void.pk).update(state=Run.State.VOID)
    finished = stored("finished", **design)

    for step in (
        lambda: lifecycle.resume(paused, person),
        lambda: lifecycle.extend(finished, 1, person),
        lambda: lifecycle.run_again(void, person),
    ):
        with pytest.raises(NotPossible, match=f"^{GONE} Clone the campaign.$"):
            step()


def run_with_it(campaign):
    rows = campaign.runs.select_related("cell")
    return next(run for run in rows if "futures" not in run.cell.levels_by_factor.values())


@EACH
def test_rest_clones_it_with_another_engine_only(api, design, path):
    campaign = stored(**design)
    other: dict[str, Any] = {"parameters": {"engine": "curl"}}
    if path == "factors.engine":
        other = {"factors": {"engine": ["futures", "curl"]}}

    for changes in ({}, {"question": "And now?"}, {"parameters": {"concurrency": 5}}):
        refuses(api.post(f"campaigns/{campaign.pk}/clone", changes), path)
    status, made = api.post(f"campaigns/{campaign.pk}/clone", other)
    assert status == 201, made


def refuses(answer, path):
    status, problem = answer
    assert status == 400
    assert problem["errors"] == [{"field": path, "message": GONE}]


@EACH
def test_rest_says_it_of_a_draft_that_is_changed(api, design, path):
    campaign = stored(**design)

    refuses(api.patch(f"campaigns/{campaign.pk}", {"repetitions": 7}), path)


@EACH
def test_a_template_with_it_says_what_to_choose(browser, person, api, design, path):
    campaign = stored(**design)
    made = templates.make_template(campaign, {"name": "Engines", "notes": ""}, person)
    target = campaign.target_id

    assert browser.get(reverse("template-list")).status_code == 200
    answer = browser.post(
        reverse("template-begin", args=[made.pk]), {"question": "Now?", "target": target}
    )
    assert answer.status_code == 422
    assert GONE in Page(answer).text
    assert "save that as a template" in Page(answer).text
    refuses(api.post(f"templates/{made.pk}/campaigns", {"target": target}), path)
