"""A campaign of 10,000 runs in a browser: every run is a point that can be pointed at and opened."""

import re
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from e2e.conftest import ROOT

pytestmark = pytest.mark.e2e

RUNS = 10_000
DRAWN = """box => box._fullData.filter(each => each.customdata)
    .reduce((sum, each) => sum + each.x.length, 0)"""
A_RUN = """box => {
    const trace = box._fullData.find(each => each.name.startsWith('run'));
    const { xaxis, yaxis } = box._fullLayout, { left, top } = box.getBoundingClientRect(), at = trace.x.length >> 1;
    return {
        x: left + xaxis._offset + xaxis.c2p(trace.x[at]), y: top + yaxis._offset + yaxis.c2p(trace.y[at]),
    };
}"""


@pytest.fixture(scope="module")
def large(perfdash):
    """The number of a finished campaign of 10,000 runs in 200 cells."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.large", "--cells", "200", "--repetitions", str(RUNS // 200), "--plain"],
        cwd=ROOT, env=perfdash.state["environment"], capture_output=True, text=True, check=True,
    )  # fmt: skip
    return int(done.stdout.split()[-1])


@pytest.fixture
def chart(page, large):
    """The chart of every run, drawn."""
    page.goto(f"/campaigns/{large}/?by=all&colour=all")
    box = page.locator("#curve")
    expect(box).to_have_attribute("data-drawn", "", timeout=60_000)
    return box


def test_every_run_is_drawn_or_stands_on_the_rail(page, chart):
    assert chart.evaluate(DRAWN) == RUNS


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


def test_a_folded_chart_comes_when_it_is_folded_out(page, chart, large):
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
    expect(page.locator("#curve, [data-group=curve]").first).to_have_attribute(
        "data-drawn", "", timeout=60_000
    )

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
