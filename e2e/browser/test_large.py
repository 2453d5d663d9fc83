"""A campaign of 10,000 runs in a browser: what is drawn of them can be pointed at, opened, zoomed and hidden."""

import re
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from e2e.conftest import ROOT

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

RUNS = 10_000
MOST_BYTES = 300_000
"""Of the page, and of its chart: they were 580 kB and 1.9 MB."""
RANGES = "box => [...box._fullLayout.xaxis.range, ...box._fullLayout.yaxis.range]"
DRAWN = """box => box._fullData.filter(each => each.customdata)
    .reduce((sum, each) => sum + each.x.length, 0)"""
A_RUN = """box => {
    const trace = box._fullData.find(each => each.name.startsWith('run'));
    const { xaxis, yaxis } = box._fullLayout, { left, top } = box.getBoundingClientRect();
    const within = (axis, value) => {
        const place = axis.c2p(value);
        return place > 0 && place < axis._length;
    };
    const inSight = trace.y.filter((y, n) => within(xaxis, trace.x[n]) && within(yaxis, y));
    const highest = Math.max(...inSight);
    const at = trace.y.findIndex((y, n) => y === highest && within(xaxis, trace.x[n]));
    return {
        x: left + xaxis._offset + xaxis.c2p(trace.x[at]), y: top + yaxis._offset + yaxis.c2p(trace.y[at]),
    };
}"""


@pytest.fixture(scope="module")
def large(perfdash):
    """The number of a finished campaign of 10,000 runs in 200 cells."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.large", "--cells", "200", "--repetitions", str(RUNS // 200), "--plain"],
        cwd=ROOT, env=perfdash.environment_of_commands, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return int(done.stdout.split()[-1])


@pytest.fixture
def chart(page, large):
    """The chart of every run, drawn."""
    page.goto(f"/campaigns/{large}/?by=all&colour=all")
    box = page.locator("#curve")
    expect(box).to_have_attribute("data-drawn", "", timeout=60_000)
    return box


def test_some_runs_of_each_cell_are_drawn_and_the_page_says_how_many(page, chart):
    drawn = chart.evaluate(DRAWN)

    assert 400 <= drawn <= 1000
    panel = page.locator("section[aria-labelledby=h-curve]")
    expect(panel).to_contain_text(f"{drawn} of {RUNS:,} runs are drawn")


def test_every_failed_run_stands_on_the_rail(page, chart):
    shown = chart.evaluate(
        "box => box._fullData.filter(t => t.name === 'failed').reduce((sum, t) => sum + t.x.length, 0)"
    )

    assert shown > 0
    legend = page.get_by_role("list", name="Legend").first
    expect(legend).to_contain_text(f"failed, no value ({shown})")


def test_the_page_and_its_chart_are_small(page, large):
    page.goto(f"/campaigns/{large}/?by=all&colour=all")

    for address in (f"/campaigns/{large}/", f"/campaigns/{large}/charts/curve/"):
        assert len(page.request.get(address).body()) < MOST_BYTES


def drag(page, chart):
    """Draw a rectangle over the middle of the chart, down to where most runs are."""
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.2 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 0.8 * box["height"], steps=5)
    page.mouse.up()


@pytest.mark.parametrize("axis", ["linear", "log"])
@pytest.mark.parametrize("leave", ["button", "double click", "double click on a run"])
def test_a_drag_zooms_until_somebody_resets_it(page, chart, large, leave, axis):
    reset = page.locator("[data-unzoom][data-chart=curve]")
    page.locator(f"[data-chart=curve][data-set-scale={axis}]").click()
    whole = chart.evaluate(RANGES)
    expect(reset).to_be_hidden()

    drag(page, chart)

    expect(reset).to_be_visible()
    near = chart.evaluate(RANGES)
    assert near[1] - near[0] < whole[1] - whole[0]
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert chart.evaluate(RANGES) == near
    if leave == "button":
        reset.click()
    elif leave == "double click":
        chart.dblclick()
    else:
        at = chart.evaluate(A_RUN)
        page.mouse.move(at["x"] - 1, at["y"])
        page.mouse.dblclick(at["x"], at["y"])
    expect(reset).to_be_hidden()
    assert chart.evaluate(RANGES) == whole
    page.wait_for_timeout(500)
    assert f"/campaigns/{large}/?" in page.url


def test_an_entry_of_the_legend_hides_what_it_names_and_the_address_keeps_it(page, chart):
    failures = page.locator("[data-key=curve]").get_by_role("button", name="failed, no value")
    expect(failures).to_have_attribute("aria-pressed", "true")

    failures.focus()
    page.keyboard.press("Enter")

    expect(failures).to_have_attribute("aria-pressed", "false")
    visible = "box => box._fullData.filter(t => t.visible === true).map(t => t.name)"
    assert "failed" not in chart.evaluate(visible)
    assert "hide-curve=failed" in page.url
    page.goto(page.url)
    again = page.locator("#curve")
    expect(again).to_have_attribute("data-drawn", "", timeout=60_000)
    assert "failed" not in again.evaluate(visible)
    page.locator("[data-key=curve]").get_by_role("button", name="failed, no value").click()
    assert "failed" in again.evaluate(visible)
    assert "hide-curve" not in page.url


def test_a_finger_on_the_chart_scrolls_the_page(visit, cookies, large):
    page = visit(cookies, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page.goto(f"/campaigns/{large}/")
    page.locator("section[aria-labelledby=h-curve]").scroll_into_view_if_needed()
    chart = page.locator("#curve")
    expect(chart).to_have_attribute("data-drawn", "", timeout=60_000)
    chart.evaluate("box => box.scrollIntoView({ block: 'center' })")
    before, whole = page.evaluate("scrollY"), chart.evaluate(RANGES)
    box = chart.bounding_box()

    touch = page.context.new_cdp_session(page)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    touch.send(
        "Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]}
    )
    for step in range(1, 11):
        at = {"x": x, "y": y - 20 * step}
        touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [at]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    page.wait_for_function("before => scrollY > before + 50", arg=before)
    assert chart.evaluate(RANGES) == whole


def test_folded_tables_of_levels_come_when_they_are_folded_out(page, large):
    page.goto(f"/campaigns/{large}/evidence/")
    group = page.locator("#panel-levels-2")
    group.locator("summary").first.click()

    expect(group.get_by_role("region", name="Table of comparisons")).to_be_visible()
    assert "open=levels-2" in page.url


def test_a_point_tells_its_run_and_a_click_opens_it(page, chart, large):
    chart.scroll_into_view_if_needed()
    at = chart.evaluate(A_RUN)

    page.mouse.move(at["x"] - 1, at["y"])
    page.mouse.move(at["x"], at["y"])

    hover = chart.locator(".hovertext").first
    expect(hover).to_contain_text(re.compile(r"run \d+"))
    expect(hover).to_contain_text("UTC")
    told = re.search(r"run (\d+)", hover.text_content() or "")
    assert told

    page.mouse.click(at["x"], at["y"])
    page.wait_for_url(f"**/campaigns/{large}/runs/{told[1]}/")


def test_a_folded_chart_comes_when_it_is_folded_out(page, large):
    page.goto(f"/campaigns/{large}/evidence/")
    panel = page.locator("#panel-drift")
    panel.locator("summary").first.click()

    expect(page.locator("#drift")).to_have_attribute("data-drawn", "", timeout=60_000)
    expect(panel).to_contain_text("How to read this")
    assert "open=drift" in page.url


def test_the_axes_can_be_changed_and_the_address_keeps_it(page, chart, large):
    page.locator('[data-chart="curve"][data-set-scale="log"]').click()

    assert chart.evaluate("box => box._fullLayout.yaxis.type") == "log"
    page.goto(page.url)
    again = page.locator("#curve")
    expect(again).to_have_attribute("data-drawn", "", timeout=60_000)
    assert again.evaluate("box => box._fullLayout.yaxis.type") == "log"


def test_the_page_does_not_scroll_sideways_on_a_phone(visit, cookies, large):
    page = visit(cookies, viewport={"width": 390, "height": 844})
    page.goto(f"/campaigns/{large}/")
    # The chart comes when somebody scrolls to it: on a phone the answer alone is longer than a screen.
    page.locator("section[aria-labelledby=h-curve]").scroll_into_view_if_needed()
    expect(page.locator("#curve, [data-group=curve]").first).to_have_attribute(
        "data-drawn", "", timeout=60_000
    )

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
