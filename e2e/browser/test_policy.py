"""Nothing inline runs or styles a page, and charts look as Plotly means them to."""

import pytest
from playwright.sync_api import expect

from e2e.browser.charts import points_of_runs
from e2e.browser.test_every_page import VIOLATIONS

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]

INLINE = """async () => {
    const seen = [];
    addEventListener("securitypolicyviolation", (event) => seen.push(event.effectiveDirective));
    const add = (name, text) => {
        const element = document.createElement(name);
        element.textContent = text;
        document.head.append(element);
    };
    add("script", "window.ran = true");
    add("style", "body { position: fixed }");
    const button = document.createElement("button");
    button.setAttribute("onclick", "window.ran = true");
    document.body.append(button);
    button.click();
    const elsewhere = new Image();
    elsewhere.src = "https://example.invalid/seen.png";
    await new Promise((done) => setTimeout(done, 300));
    return { seen, ran: window.ran, position: getComputedStyle(document.body).position };
}"""
DRAWN = """() => {
    const style = (selector) => getComputedStyle(document.querySelector(selector));
    return {
        elements: document.querySelectorAll("style").length,
        svg: style("#curve .main-svg").position,
        pointer: style("#curve .main-svg").pointerEvents,
        drag: style("#curve .draglayer").pointerEvents,
        border: style("#curve .plotly div").borderTopWidth,
    };
}"""


@pytest.fixture
def watched(visit, cookies, request):
    """A page, and what it complains of."""
    page = visit(cookies, viewport={"width": 1440, "height": 1000}, color_scheme=request.param)
    said = []
    page.context.add_init_script(VIOLATIONS)
    page.context.on("console", lambda message: said.append(message.text))
    return page, said


@pytest.mark.parametrize("watched", ["light", "dark"], indirect=True)
def test_charts_are_drawn_and_answer_the_mouse_without_any_style_element(watched):
    page, said = watched
    page.goto("/campaigns/1/")

    assert points_of_runs(page) > 0
    assert page.evaluate(DRAWN) == {
        "elements": 0, "svg": "absolute", "pointer": "none", "drag": "all", "border": "0px",
    }  # fmt: skip
    page.locator("#curve path.point").first.hover(force=True)
    expect(page.locator("#curve .hoverlayer .hovertext").first).to_be_visible()
    page.locator("[data-theme-switch]").click()
    assert points_of_runs(page) > 0
    assert said == []


@pytest.mark.parametrize("watched", ["light"], indirect=True)
def test_what_is_inline_or_from_elsewhere_is_stopped(watched):
    page, said = watched
    page.goto("/campaigns/1/")

    found = page.evaluate(INLINE)

    assert found.get("ran") is None
    assert found["position"] == "static"
    assert set(found["seen"]) == {
        "script-src-elem", "style-src-elem", "script-src-attr", "img-src",
    }  # fmt: skip
    assert any("against the policy" in line for line in said)
