"""The page of the OpenAPI document draws itself from local files, and tries a request."""

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import expect

from e2e.browser.test_every_page import VIOLATIONS

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]


def test_the_document_is_read_and_a_request_tried_with_the_session(page):
    complaints: list[str] = []
    asked: list[str] = []
    page.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
    page.on("request", lambda request: asked.append(request.url))
    page.add_init_script(VIOLATIONS)

    page.goto("/api/v1/docs")

    expect(page.get_by_role("heading", name="REST API", exact=True)).to_be_visible()
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    page.locator("#operations-tag-account").click()
    operation = page.locator("#operations-account-get_whoami")
    operation.locator(".opblock-summary-control").click()
    operation.get_by_role("button", name="Try it out").click()
    operation.get_by_role("button", name="Execute").click()
    expect(
        operation.locator(".live-responses-table tbody .response-col_status").first
    ).to_contain_text("200")
    here = page.url.partition("/api/")[0]
    assert [url for url in asked if not url.startswith((here, "data:", "blob:"))] == []
    assert complaints == []


def test_the_page_follows_the_theme_and_has_no_violation(page):
    page.goto("/api/v1/docs")
    for name in ("dark", "light"):
        page.emulate_media(color_scheme=name)
        page.locator("#operations-tag-account").wait_for()
        page.wait_for_function(
            "dark => document.documentElement.classList.contains('dark-mode') === dark",
            arg=name == "dark",
        )
        found = Axe().run(page).response["violations"]
        assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []
