"""The levels of a result in a browser: how long the answer is, where old links lead, and what is on paper."""

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

TWO_SCREENS = 2 * 900
"""Pixels."""
PAPERS = {"A4": 695, "Letter": 717}
"""Pixels between the margins of a page."""
LOADS = (20, 50, 100, 140)
CHARTS = """() => [...document.querySelectorAll(".chart")].map((box) => ({
    right: Math.max(...[box, ...box.querySelectorAll(".main-svg")].map((each) => each.getBoundingClientRect().right)),
    cut: getComputedStyle(box).breakInside !== "avoid",
}))"""
PRINTED = """addEventListener("afterprint", () => {
    window.printed = [...document.querySelectorAll("[data-drawn]")].map((box) => box._fullLayout.width); })"""
"""Notes the widths of charts on paper, before the page takes them back."""


@pytest.fixture(scope="module")
def capacity(perfdash):
    """The number of a campaign of two settings over a load, with a criterion."""
    about = {
        "question": "How many hosts can register at once?",
        "roles": {"hosts": "load", "workers": "setting"},
        "criterion": {"conditions": [{"metric": "p95", "at_most": "10 s"}]},
    }
    runs = [
        {
            "tags": {"workers": workers, "hosts": hosts},
            "values": {"p95": 1 + 12 * (hosts / (60 * workers)) ** 2 * (1 + block / 100)},
        }
        for block in range(3)
        for workers in (2, 4)
        for hosts in LOADS
    ]
    metrics = {"p95": {"unit": "s", "lower_is_better": True}}
    sent = {"campaign": about, "metrics": metrics, "runs": runs}
    made = perfdash.api("POST", "submissions", sent)["submission"]["campaign"]["id"]
    perfdash.until(made, "finished")
    return made


def opened(page, address):
    """Open a page whose first chart is drawn."""
    page.goto(address)
    page.locator(".chart:visible").first.scroll_into_view_if_needed()
    expect(page.locator("[data-drawn] .main-svg").first).to_be_visible()


@pytest.mark.parametrize("kind", ["published", "paired", "capacity"])
def test_the_answer_takes_two_screens_at_most_and_has_one_chart(request, visit, cookies, kind):
    campaign = 1 if kind == "published" else request.getfixturevalue(kind)
    page = visit(cookies, viewport={"width": 1440, "height": 900})

    opened(page, f"/campaigns/{campaign}/")

    assert page.evaluate("document.documentElement.scrollHeight") <= TWO_SCREENS
    expect(page.locator("[data-figure]")).to_have_count(1)
    page.evaluate("scrollTo(0, 0)")
    expect(page.locator(".answer .sentence")).to_be_in_viewport()
    assert page.locator(".facts > div").count() <= 3


@pytest.mark.parametrize(
    ("link", "level", "part"),
    [
        ("#h-cells", "evidence/", "#h-cells"),
        ("?metric=duration#h-checks", "trust/?metric=duration", "#h-checks"),
        ("?state=done#runs-panel", "runs/?state=done", "#runs-panel"),
        ("?open=drift#panel-drift", "evidence/?open=drift", "#panel-drift"),
        ("#h-curve", "", "#h-curve"),
    ],
)
def test_a_link_of_before_the_levels_leads_to_its_part(page, link, level, part):
    page.goto(f"/campaigns/1/{link}")

    page.wait_for_url(f"**/campaigns/1/{level}{part}")
    expect(page.locator(part)).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_levels_are_printed_as_one_document(visit, cookies, capacity, paired, scheme):
    page = visit(cookies, viewport={"width": 1440, "height": 900}, color_scheme=scheme)
    page.add_init_script(PRINTED)
    for campaign in (1, capacity, paired):
        opened(page, f"/campaigns/{campaign}/print/")
        for part in (".answer", "#h-cells, #h-strata", "#h-checks", "#runs", "#h-environment"):
            expect(page.locator(part).first).to_be_visible()
        for paper in PAPERS:
            assert page.pdf(format=paper).startswith(b"%PDF")
            assert set(page.evaluate("window.printed")) == {640}


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("level", ["", "evidence/?open=drift", "print/"])
def test_no_chart_is_wider_than_paper_and_no_form_is_on_it(visit, cookies, paper, level):
    page = visit(cookies, viewport={"width": 1440, "height": 900})
    opened(page, f"/campaigns/1/{level}")

    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": PAPERS[paper], "height": 1000})

    charts = page.evaluate(CHARTS)
    assert charts
    assert all(each["right"] <= PAPERS[paper] and not each["cut"] for each in charts)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    expect(page.locator("form:visible")).to_have_count(0)
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("[data-drawn]").first.evaluate("box => box._fullLayout.autosize")
