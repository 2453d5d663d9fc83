"""What a newcomer finds: a finished campaign to read, and examples to launch with one click."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import expect

from e2e.browser.charts import points
from e2e.browser.pages import LONG, campaign_in, finished_runs
from e2e.conftest import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

SHOWN = """box => {
    const { xaxis, font } = box._fullLayout;
    return { range: xaxis.range.slice(), kind: xaxis.type, ink: font.color };
}"""


def test_the_published_campaign_is_finished_with_chart_and_caveat(page):
    page.goto("/campaigns/?q=published")
    page.get_by_role("link", name="Pulp 3 sync: download_concurrency").click()

    expect(page.locator(".answer .sentence")).to_contain_text("20 is the fastest")
    expect(page.locator(".answer .caveat")).to_contain_text("what differs may be the hour")
    drawn = points(page, "curve")
    assert drawn["run"] == 18
    assert drawn["geometric mean"] == 6
    page.get_by_role("link", name="Runs (18)").click()
    expect(page.locator("#runs tbody tr")).to_have_count(18)


def test_a_click_on_a_point_opens_its_run(page):
    page.goto("/campaigns/?q=published")
    page.get_by_role("link", name="Pulp 3 sync: download_concurrency").click()
    expect(page.locator("#curve .main-svg").first).to_be_attached()
    page.locator("#curve").scroll_into_view_if_needed()

    runs = page.locator("#curve g.trace").filter(has=page.locator("path.point")).all()
    first = next(t for t in runs if t.evaluate("g => g.__data__[0].trace.name") == "run")
    point = first.locator("path.point").first
    point.hover(force=True)
    expect(page.locator("#curve .hovertext").first).to_contain_text("2020-07-2")
    box = point.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    expect(page).to_have_url(re.compile(r"/campaigns/1/runs/\d+/$"))


def test_the_axis_that_somebody_chose_is_in_the_address_that_they_send(page):
    page.goto("/campaigns/1/")
    page.get_by_role("button", name="Log–log").first.click()
    expect(page).to_have_url(re.compile("scale-curve=log"))

    page.reload()

    button = page.get_by_role("button", name="Log–log").first
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#curve .main-svg").first).to_be_attached()
    kind = page.locator("#curve").evaluate("box => box._fullLayout.yaxis.type")
    assert kind == "log"
    page.goto("/campaigns/1/?scale-curve=nonsense")
    expect(page.get_by_role("button", name="Linear").first).to_have_attribute(
        "aria-pressed", "true"
    )


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_a_chart_is_saved_as_it_is_shown(page, kind):
    page.goto("/campaigns/?q=published")
    page.get_by_role("link", name="Pulp 3 sync: download_concurrency").click()
    expect(page.locator("#curve .main-svg").first).to_be_attached()

    page.get_by_label("Save the chart").first.click()
    with page.expect_download() as waiting:
        page.locator(f"[data-chart=curve][data-save={kind}]").click()

    saved = waiting.value
    assert saved.suggested_filename.endswith(f"curve.{kind}")
    body = saved.path().read_bytes()
    assert len(body) > 5000
    assert body.startswith(b"<svg" if kind == "svg" else b"\x89PNG")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_chart_is_saved_as_a_page_that_zooms_without_a_network(page, visit, tmp_path, scheme):
    page.goto("/campaigns/1/")
    page.get_by_role("button", name="Log–log").first.click()
    page.get_by_label("Save the chart").first.click()
    with page.expect_download() as waiting:
        page.locator("[data-chart=curve][data-save=html]").click()
    assert waiting.value.suggested_filename.endswith(".curve.html")
    file = tmp_path / "chart.html"
    waiting.value.save_as(file)

    alone = visit(viewport={"width": 1440, "height": 1000}, color_scheme=scheme, offline=True)
    said, asked = [], []
    alone.on("console", lambda message: said.append(message.text))
    alone.on("request", lambda request: asked.append(request.url))
    alone.goto(file.as_uri())
    expect(alone.locator("#curve .main-svg").first).to_be_visible()
    assert sum(points(alone, "curve").values()) >= 24
    before = alone.locator("#curve").evaluate(SHOWN)
    assert before["kind"] == "log"
    ink = alone.locator("h1").evaluate("heading => getComputedStyle(heading).color")
    assert re.findall(r"\d+", before["ink"])[:3] == re.findall(r"\d+", ink)
    assert Axe().run(alone).response["violations"] == []

    place = alone.locator("#curve .nsewdrag").first.bounding_box()
    alone.mouse.move(place["x"] + place["width"] * 0.3, place["y"] + place["height"] * 0.3)
    alone.mouse.down()
    alone.mouse.move(place["x"] + place["width"] * 0.6, place["y"] + place["height"] * 0.7, steps=4)
    alone.mouse.up()
    wait_for(
        lambda: alone.locator("#curve").evaluate(SHOWN)["range"] != before["range"], "the zoom"
    )
    low, high = alone.locator("#curve").evaluate(SHOWN)["range"]
    assert before["range"][0] < low < high < before["range"][1]
    assert asked == [file.as_uri()]
    assert said == []


@pytest.mark.parametrize("name", ["sync-study", "two-downloaders", "registrations"])
def test_an_example_is_launched_with_one_click_and_measures_its_first_runs(page, perfdash, name):
    page.goto("/examples/")
    page.locator(f"#example-{name}").get_by_role("button", name="Launch").click()
    wait_for(lambda: finished_runs(page) >= 1, "the first run of the example", seconds=120)

    page.get_by_role("link", name="Cancel…").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Cancel the campaign?")
    page.get_by_label("Reason").fill("a test saw <enough> of it")
    page.get_by_role("button", name="Cancel the campaign").click()

    wait_for(
        lambda: perfdash.sandbox_stats()["all"]["in_flight"] == 0, "the end of the load", seconds=5
    )
    note = page.locator(".note", has_text="a test saw <enough> of it")
    expect(note).to_contain_text("Cancelled", timeout=LONG)
    expect(page.locator("main .badge").first).to_have_text("Cancelled", timeout=LONG)
    page.goto(f"/campaigns/{campaign_in(page)}/runs/")
    states = page.locator("#runs tbody tr").evaluate_all("rows => rows.map(r => r.dataset.state)")
    assert set(states) <= {"done", "bound", "cancelled"}
    assert states.count("cancelled") > 0
    assert perfdash.api("GET", f"campaigns/{campaign_in(page)}")["state"] == "cancelled"
