"""The page of the OpenAPI document draws itself from local files, and tries a request."""

import pytest
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

    expect(page.get_by_role("heading", name="perfdash")).to_be_visible()
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
