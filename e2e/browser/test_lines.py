"""Lines: the how-to is done as it says, and the session that it asks for arrives."""

import re

import pytest
from playwright.sync_api import expect

from e2e.browser.campaigns import draft
from e2e.browser.test_every_page import Trouble, check
from e2e.browser.test_tutorials import LONG, follow
from e2e.conftest import ROOT

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]


def sections():
    """The numbered sections of the how-to."""
    text = (ROOT / "docs/how-to/lines.md").read_text(encoding="utf-8")
    _, *numbered = re.split(r"^## \d+[.] .*$", text.partition("\n## What")[0], flags=re.MULTILINE)
    return numbered


def test_a_line_begins_and_is_measured_as_the_how_to_says(visit, cookies, perfdash):
    _, begin, measure = sections()
    campaign = draft(perfdash, "lines", repetitions=3, launch=True)
    perfdash.until(campaign, "finished")
    page = visit(cookies)
    page.goto(f"/campaigns/{campaign}/")

    menu, _, table = begin.partition("\n| field")
    more, item = re.findall(r"\*\*(.+?)\*\*", menu)
    page.locator("summary", has_text=more).first.click()
    page.get_by_role("link", name=re.compile(f"^{item}")).click()
    follow(page, table, {})
    expect(page.get_by_role("heading", level=1)).to_have_text("Nightly")
    expect(page.get_by_text("in the only session")).to_be_visible()
    line = page.url

    follow(page, measure, {})
    page.wait_for_url(re.compile(r"/campaigns/\d+/"))
    (number,) = re.findall(r"/campaigns/(\d+)/", page.url)
    made = int(number)
    assert made != campaign
    perfdash.until(made, "finished")

    def two_sessions():
        page.goto(line)
        return page.get_by_text("in the newest of 2 sessions").is_visible()

    for _ in range(LONG // 500):
        if two_sessions():
            break
        page.wait_for_timeout(500)
    expect(page.get_by_role("heading", name="session by session")).to_be_visible()
    expect(page.locator("#history")).to_be_visible()
    expect(page.get_by_text("launched", exact=True)).to_be_visible()
    trouble = Trouble()
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        for trouble.name in (line, f"{line}edit/", "/lines/", "/board/"):
            page.goto(trouble.name)
            check(page, trouble)
    assert not trouble.found
