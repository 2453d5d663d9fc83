"""Choosing campaigns in the list, comparing them, and changing the order by links."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import expect

from e2e.browser.campaigns import launch, manifest
from e2e.browser.charts import points

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def two(perfdash):
    """Finished campaigns of the same work, the second one on another event loop: their numbers."""
    keys = [
        launch(
            perfdash, f"compared {loop}", name=f"compared, {loop}",
            parameters={"manifest": manifest("compared"), "event_loop": loop},
            factors={"concurrency": [5, 10]}, repetitions=3,
        )
        for loop in ("asyncio", "uvloop")
    ]  # fmt: skip
    for key in keys:
        perfdash.until(key, "finished")
    return keys


@pytest.fixture(scope="module")
def other_work(perfdash):
    """A finished campaign of another manifest: its number."""
    key = launch(
        perfdash, "other work", name="other work",
        parameters={"manifest": manifest("other", files=30)},
        factors={"concurrency": [5, 10]}, repetitions=2,
    )  # fmt: skip
    perfdash.until(key, "finished")
    return key


def test_campaigns_that_are_ticked_in_the_list_are_compared(page, two):
    page.goto("/campaigns/?q=compared")
    for loop in ("asyncio", "uvloop"):
        page.get_by_role("checkbox", name=f"Compare compared, {loop}").check()
    page.get_by_role("button", name="Compare selected").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Compare campaigns")
    caveats = page.locator("section", has=page.get_by_role("heading", name="Caveats"))
    expect(caveats.first).to_contain_text("event loop")
    expect(page.locator(".answer .badge", has_text="environment differs")).to_be_visible()
    drawn = points(page, "compared")
    assert sum(number for name, number in drawn.items() if name.startswith("run ")) == 12
    red = page.locator("[data-tone=worse]", has_text=re.compile("asyncio|uvloop"))
    expect(red.first).to_be_visible()


def test_a_click_on_a_point_opens_its_run_in_its_own_campaign(page, two):
    page.goto(f"/compare/?c={two[0]}&c={two[1]}")
    page.locator("#compared").scroll_into_view_if_needed()
    expect(page.locator("#compared .main-svg").first).to_be_attached()

    traces = page.locator("#compared g.trace").filter(has=page.locator("path.point")).all()
    last = [t for t in traces if t.evaluate("g => g.__data__[0].trace.name").startswith("run 2")][
        -1
    ]
    point = last.locator("path.point").first
    point.hover(force=True)
    expect(page.locator("#compared .hovertext").first).to_be_attached()
    box = point.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    expect(page).to_have_url(re.compile(rf"/campaigns/{two[1]}/runs/\d+/$"))


def test_links_turn_the_comparison_round_and_the_address_keeps_it(page, two):
    page.goto(f"/compare/?c={two[0]}&c={two[1]}")
    first = page.locator(".chosen .item").first
    expect(first).to_contain_text("compared, asyncio")
    page.get_by_role("link", name="Swap sides").click()

    expect(first).to_contain_text("compared, uvloop")
    expect(page).to_have_url(re.compile(rf"\?c={two[1]}&c={two[0]}$"))
    page.get_by_role("link", name="Remove: compared, asyncio").click()
    expect(page.locator(".chosen .item")).to_have_count(1)
    expect(page.get_by_role("button", name="Compare selected")).to_be_visible()


def test_cells_are_chosen_without_a_script(visit, cookies, two):
    page = visit(cookies, java_script_enabled=False)
    page.goto(f"/compare/?c={two[0]}&c={two[1]}")
    page.get_by_text("Compare single cells instead").click()
    page.get_by_label("Baseline", exact=True).select_option(
        label="compared, asyncio: concurrency 5"
    )
    page.get_by_label("Against", exact=True).select_option(label="compared, uvloop: concurrency 10")
    page.get_by_role("button", name="Compare cells").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Compare cells")
    expect(page.locator("table").first).to_contain_text("concurrency: 5 vs. 10")


def test_other_work_is_refused_beside_what_may_be_compared(page, two, other_work):
    page.goto(f"/campaigns/{two[0]}/")
    page.get_by_role("link", name="Compare with…").click()
    page.get_by_role("checkbox", name="other work").check()
    page.get_by_role("checkbox", name="compared, uvloop").check()
    page.get_by_role("button", name="Compare selected").click()

    expect(page.locator(".answer .sentence")).to_contain_text(
        "“other work” is not comparable (manifest"
    )
    expect(page.get_by_text("refused: manifest:").first).to_be_visible()
    drawn = points(page, "compared")
    assert not any("other work" in name for name in drawn)


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_the_page_has_no_barrier_and_does_not_scroll_sideways(
    visit, cookies, two, other_work, width, scheme
):
    page = visit(cookies, viewport={"width": width, "height": 900}, color_scheme=scheme)
    cells = "&".join(f"c={key}" for key in (*two, other_work))
    for address in (f"/compare/?{cells}", "/compare/", "/compare/?c=x&cell=1"):
        page.goto(address)
        for box in page.locator("[data-figure]:visible").all():
            box.scroll_into_view_if_needed()
            expect(box.locator(".main-svg").first).to_be_attached()

        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        found = Axe().run(page).response["violations"]
        assert [(each["id"], each["nodes"][0]["html"][:200]) for each in found] == []
