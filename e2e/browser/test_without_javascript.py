"""Every page is links and forms: what a browser without scripts can do."""

import pytest
from playwright.sync_api import expect

from e2e.browser.campaigns import launch, manifest
from e2e.browser.conftest import sign_in_link
from e2e.browser.pages import campaign_in

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

POINT = 'circle, svg[overflow="visible"] > path'
"""Of a run in an SVG: a circle, or, where this machine was too busy, another shape."""


def test_a_campaign_is_defined_launched_and_read_without_javascript(perfdash, visit):
    page = visit(java_script_enabled=False)
    page.goto(sign_in_link(perfdash))
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")

    page.get_by_role("link", name="New campaign").click()
    page.get_by_label("What do you want to know?").fill("Does it work without scripts?")
    page.get_by_label("Manifest", exact=True).fill(manifest("no-script"))
    page.get_by_role("switch", name="vary concurrency").check()
    page.get_by_label("Levels of concurrency").fill("5\n10")
    page.get_by_label("Repetitions", exact=True).fill("1")
    page.locator(".no-script").get_by_role("button", name="Show the plan").click()
    expect(page.locator("#plan .facts")).to_contain_text("2 × 1")
    expect(page.get_by_label("Levels of concurrency")).to_have_value("5\n10")
    page.get_by_role("button", name="Lock and launch").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Does it work without scripts?")
    expect(page.locator("#matrix a.cell")).to_have_count(2)

    perfdash.until(campaign_in(page), "finished")
    page.reload()
    expect(page.locator(".answer .sentence")).to_be_visible()
    expect(page.locator("main .badge").first).to_have_text("Finished")
    expect(page.locator("#curve .wide > svg")).to_be_visible()
    assert page.locator(f"#curve .wide :is({POINT})").count() > 0
    page.get_by_role("link", name="Evidence").click()
    cells = page.get_by_role("region", name="Table of cells").locator("tbody tr")
    expect(cells).to_have_count(2)
    assert [row.split()[0] for row in cells.all_inner_texts()] == ["5", "10"]
    page.get_by_role("link", name="Runs (2)").click()
    expect(page.locator("#runs tbody tr")).to_have_count(2)
    page.locator("#runs").get_by_role("link", name="2", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Run 2")


def test_a_running_campaign_is_paused_and_cancelled_without_javascript(perfdash, visit, cookies):
    campaign = launch(perfdash, "paused-by-hand", repetitions=100)
    page = visit(cookies, java_script_enabled=False)
    page.goto(f"/campaigns/{campaign}/")

    page.get_by_role("button", name="Pause after this run").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    page.get_by_role("link", name="Cancel…").click()
    page.get_by_label("Reason").fill("no script needed")
    page.get_by_role("button", name="Cancel the campaign").click()

    expect(page.locator("main")).to_contain_text("no script needed")
    perfdash.until(campaign, "cancelled")
