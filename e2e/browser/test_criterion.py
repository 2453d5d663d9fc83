"""The form of a campaign that asks for capacity: load, and rows of conditions."""

import os

import pytest
from playwright.sync_api import expect

from e2e.browser.pages import levels, vary

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]


def test_conditions_are_added_and_the_plan_tells_what_they_take(page):
    page.goto("/campaigns/new/?kind=downloader")
    page.get_by_label("What do you want to know?").fill("How many connections does it carry?")
    vary(page, "concurrency")
    levels(page, "concurrency", "2", "4", "8")
    page.get_by_label("load: how much is asked").check()
    plan = page.locator("#plan")
    expect(plan).to_contain_text("concurrency is load: its levels are never ranked")
    expect(plan).to_contain_text("No criterion is stated")

    page.get_by_label("Metric of condition 1", exact=True).select_option("file_time_p95")
    page.get_by_label("Limit of condition 1", exact=True).fill("2 s")
    expect(page.get_by_label("Metric of condition 3", exact=True)).to_be_hidden()
    page.get_by_role("button", name="Add a condition").click()
    page.get_by_label("Metric of condition 3", exact=True).select_option("throughput")
    page.get_by_label("Limit of condition 3", exact=True).fill("5 MB")
    expect(plan).to_contain_text("“5 MB” is in MB, and throughput in MB/s")
    page.get_by_label("Limit of condition 3", exact=True).fill("5 MB/s")
    page.get_by_text("Allowed failures, and resolution").click()
    page.get_by_label("Allowed failures").fill("1")
    expect(plan).to_contain_text("It takes 1,833 files per cell without a failure")
    if folder := os.environ.get("SHOTS"):
        page.screenshot(path=f"{folder}/light.png", full_page=True)
        page.set_viewport_size({"width": 390, "height": 900})
        page.emulate_media(color_scheme="dark")
        page.screenshot(path=f"{folder}/dark.png", full_page=True)
        page.set_viewport_size({"width": 1440, "height": 900})

    page.get_by_role("button", name="Save draft").click()
    expect(page.locator("main")).to_contain_text("Throughput: at least 5 MB/s")
