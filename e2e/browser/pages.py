"""What the tests type into the campaign form, and read on the pages."""

import re
from contextlib import contextmanager

from playwright.sync_api import expect

LONG = 120_000
"""Milliseconds within which a few short runs end, on a busy machine."""


def figure(page, name):
    """One of the three figures of the plan."""
    words = name.replace(" ", r"\s+")
    term = page.locator("dt", has_text=re.compile(rf"^\s*{words}\s*$"))
    return page.locator("#plan .facts > div").filter(has=term).locator("dd")


def vary(page, parameter):
    page.get_by_role("switch", name=f"vary {parameter}").check()


def levels(page, parameter, *wanted):
    """Type levels into the chips in place of the present value, with which they begin."""
    box = page.get_by_role("textbox", name=f"Add a level of {parameter}")
    expect(box).to_be_visible()
    page.get_by_role("button", name=re.compile(rf"^Remove level .* of {parameter}$")).click()
    for level in wanted:
        box.fill(level)
        box.press("Enter")


def choose(page, parameter, *wanted):
    """Vary a choice over these of its levels alone; the one that it had is ticked at first."""
    vary(page, parameter)
    boxes = page.locator(f"input[name=levels-{parameter}]")
    expect(boxes.first).to_be_visible()
    for box in boxes.all():
        box.set_checked(box.get_attribute("value") in wanted)


def tiles(page):
    """The order of runs: a list of texts for each row of the strip."""
    rows = page.locator("#plan .strip ol").all()
    return [row.locator("li").all_inner_texts() for row in rows]


def campaign_in(page):
    """The number of the campaign whose page is open."""
    found = re.search(r"/campaigns/(\d+)/", page.url)
    assert found, page.url
    return int(found[1])


def finished_runs(page):
    """What the progress panel says."""
    said = page.locator("#progress dd").first.inner_text()
    return int(said.split()[0])


@contextmanager
def renewed(page):
    """Wait until the form of the campaign is that of another kind or target."""
    page.locator("#campaign-form").evaluate("form => form.dataset.before = ''")
    yield
    expect(page.locator("#campaign-form[data-before]")).to_have_count(0)
