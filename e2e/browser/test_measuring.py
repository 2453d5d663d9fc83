"""A campaign from the form to its answer: launched, watched, paused, read, taken home."""

import csv
import json
import re

import pytest
from playwright.sync_api import expect

from e2e.browser.campaigns import launch, manifest, runs_of
from e2e.browser.charts import points, points_of_runs
from e2e.browser.pages import LONG, campaign_in, choose, finished_runs, levels, vary
from e2e.conftest import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]


def define(page, question, label):
    """Two factors against the sandbox, the first target there is: four cells, two blocks."""
    page.goto("/campaigns/new/?target=1")
    page.get_by_label("What do you want to know?").fill(question)
    page.get_by_label("Manifest", exact=True).fill(manifest(label))
    vary(page, "concurrency")
    levels(page, "concurrency", "2", "4")
    choose(page, "engine", "asyncio", "futures")
    page.get_by_label("Repetitions", exact=True).fill("2")
    expect(page.locator("#plan .facts")).to_contain_text("4 × 2")


def test_a_campaign_is_defined_launched_watched_paused_and_read(page, perfdash):
    define(page, "Which concurrency, and which engine?", "by-hand")
    page.get_by_role("button", name="Lock and launch").click()
    expect(page.get_by_role("heading", level=2, name="Log")).to_be_visible()
    campaign = campaign_in(page)

    # It runs: squares change, the log grows, progress moves, and nothing was clicked.
    expect(page.locator("#matrix a.cell")).to_have_count(8)
    expect(page.locator("#matrix .pulse")).to_have_count(1)
    expect(page.locator("#square-1[data-state=done]")).to_be_visible(timeout=LONG)
    expect(page.locator("#log")).to_contain_text("run 1 attempt 1 accepted")
    lines = page.locator("#log > div").count()
    expect(page.locator("#log > div").nth(lines)).to_be_visible(timeout=LONG)
    wait_for(lambda: finished_runs(page) >= 1, "progress")

    # Pause: the run that is on ends, and no other begins.
    page.get_by_role("button", name="Pause after this run").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    expect(page.locator("#matrix .pulse")).to_have_count(0, timeout=LONG)
    expect(page.locator("main .badge").first).to_have_text("Paused")
    before = finished_runs(page)
    assert 1 <= before < 8
    expect(page.locator("#progress")).to_contain_text("Paused: no further run begins")

    page.get_by_role("button", name="Resume").click()
    expect(page.locator("main .badge").first).to_have_text("Running")
    wait_for(lambda: finished_runs(page) > before, "a run after the pause")

    # The page turns into the result by itself, and tells nothing of a part of the runs.
    sentence = page.locator(".answer .sentence")
    expect(sentence).to_be_visible(timeout=LONG)
    stored = perfdash.api("GET", f"campaigns/{campaign}")["findings"]
    expect(sentence).to_have_text(stored["answer"]["text"]["sentence"])
    assert points_of_runs(page) == 8
    page.get_by_role("button", name=re.compile("Log")).click()
    assert points_of_runs(page) == 8
    page.get_by_role("link", name="Evidence").click()
    expect(page.get_by_role("region", name="Table of cells").locator("tbody tr")).to_have_count(4)
    page.get_by_role("link", name="Runs (8)").click()
    expect(page.locator("#runs tbody tr")).to_have_count(8)


def test_the_filter_of_runs_answers_at_once(page, paired):
    page.goto(f"/campaigns/{paired}/runs/")
    rows = page.locator("#runs tbody tr:visible")
    expect(rows).to_have_count(4)

    page.get_by_label("Filter runs").fill("asyncio")

    expect(rows).to_have_count(2)


def test_a_paired_result_shows_its_pairs(page, perfdash, paired):
    page.goto(f"/campaigns/{paired}/")
    stored = perfdash.api("GET", f"campaigns/{paired}")["findings"]
    whole = sum(
        pair["change_pct"] is not None
        for stratum in stored["pairs"]["result"]["strata"]
        for pair in stratum["pairs"]
    )

    drawn = points(page, "forest")

    assert sum(number for name, number in drawn.items() if "pair" in name) == whole
    page.get_by_role("link", name="Evidence").click()
    table = page.get_by_role("region", name="Table of comparisons")
    expect(table.locator("tbody tr")).to_have_count(1)
    expect(table.locator(".badge")).to_have_count(1)


def test_the_page_of_a_run_has_proofs_and_phases(page, perfdash, paired):
    page.goto(f"/campaigns/{paired}/runs/")
    page.locator("#runs").get_by_role("link", name="1", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Run 1:")
    detail = perfdash.api("GET", f"campaigns/{paired}/runs/1")
    attempt = detail["attempts"][-1]

    proofs = page.get_by_role("region", name="Table of proofs").locator("tbody tr")

    expect(proofs).to_have_count(len(attempt["proofs"]))
    assert len(attempt["proofs"]) >= 4
    assert all("holds" in text for text in proofs.all_inner_texts())
    phases = page.locator("section", has=page.get_by_role("heading", name="Phases"))
    for step in ("reset", "apply", "measure", "verify"):
        expect(phases.locator(".key").first).to_contain_text(step)
    settings = page.get_by_role("region", name="Effective settings")
    expect(settings.locator("tr", has_text="engine")).to_contain_text(
        detail["cell"]["levels"]["engine"]
    )
    assert points_are_drawn(page)


def points_are_drawn(page):
    """Each chart of the page has an SVG."""
    for box in page.locator("[data-figure]").all():
        box.scroll_into_view_if_needed()
        expect(box.locator(".main-svg").first).to_be_attached()
    return page.locator("[data-figure]").count() > 0


def test_the_runs_are_downloaded_as_csv(page, perfdash, paired):
    page.goto(f"/campaigns/{paired}/")
    page.get_by_text("Export", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("link", name=re.compile("Runs as CSV")).click()

    text = download.value.path().read_text()

    assert download.value.suggested_filename.endswith(".csv")
    rows = list(csv.DictReader(text.splitlines()))
    stored = runs_of(perfdash, paired)
    assert {int(row["position"]) for row in rows} == set(stored)
    for row in rows:
        run = stored[int(row["position"])]
        assert row["engine"] == run["cell"]["levels"]["engine"]
        assert float(row["duration"]) == run["measurements"]["duration"]["value"]
        assert row["state"] == ("bound" if run["measurements"]["duration"]["bound"] else "done")


def test_everything_is_downloaded_as_json(page, perfdash, paired):
    page.goto(f"/campaigns/{paired}/")
    page.get_by_text("Export", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("link", name=re.compile("Everything as JSON")).click()

    content = json.loads(download.value.path().read_text())

    stored = runs_of(perfdash, paired)
    assert content["campaign"]["id"] == paired
    assert content["definition"]["factors"] == {"engine": ["futures", "asyncio"]}
    assert {run["position"] for run in content["runs"]} == set(stored)
    for run in content["runs"]:
        measured = stored[run["position"]]["measurements"]
        assert {name: value["value"] for name, value in run["measurements"].items()} == {
            name: value["value"] for name, value in measured.items()
        }
    assert {finding["name"] for finding in content["findings"]} >= {"answer"}
    assert all(finding["data_hash"] for finding in content["findings"])


BEHIND = 'Object.defineProperty(document, "hidden", {get: () => true});'
"""A tab behind another one, which Chromium without a screen has not."""
NOTED = """
    window.Notification = new Proxy(window.Notification, {construct(real, words) {
        const note = Reflect.construct(real, words);
        console.info(JSON.stringify({notified: [note.title, note.body]}));
        return note;
    }});
"""
"""Tells of each notification, beside making it."""


def test_a_tab_behind_tells_how_far_it_is_and_that_it_ended(page, perfdash):
    page.context.grant_permissions(["notifications"], origin=perfdash.state["base_url"])
    page.add_init_script(BEHIND + NOTED)
    page.goto(f"/campaigns/{launch(perfdash, 'tab', name='tab', repetitions=3)}/")
    expect(page).to_have_title(re.compile(r"^\([0-3]/3\) tab"))
    icon = page.locator('link[rel="icon"]')
    expect(icon).to_have_attribute("href", re.compile("icon-running"))
    page.get_by_role("button", name="Notify me at the end").click()
    expect(page.get_by_role("button", name="Notifies you at the end")).to_be_visible()

    notified = page.expect_console_message(lambda said: "notified" in said.text, timeout=LONG)
    with notified as said:
        perfdash.until(campaign_in(page), "finished")
    expect(page).to_have_title(re.compile("^✓ tab"), timeout=LONG)
    expect(icon).to_have_attribute("href", re.compile("icon-done"))
    title, body = json.loads(said.value.text)["notified"]
    assert title == "✓ tab: finished"
    assert body == str(page.locator("#ended").text_content()).strip()
