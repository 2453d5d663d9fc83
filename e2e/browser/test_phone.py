"""What somebody with a phone sees at once: answers, not what stands beside them."""

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]

WIDTH, HEIGHT = 390, 844
PHONE = {
    "viewport": {"width": WIDTH, "height": HEIGHT},
    "is_mobile": True,
    "has_touch": True,
}


@pytest.mark.usefixtures("paired")
def test_the_overview_begins_with_answers_once_something_was_measured(visit, cookies):
    page = visit(cookies, **PHONE)
    page.goto("/")

    answer = page.locator("section[aria-labelledby=h-answers] a.a").first.bounding_box()
    assert answer["y"] + answer["height"] < HEIGHT
    folded = page.locator("details", has_text="Published experiments")
    assert folded.locator("#example-sync-study").is_hidden()
    folded.locator("summary").click()
    folded.locator("#example-sync-study").get_by_role("button", name="Launch").wait_for()


@pytest.mark.usefixtures("paired")
def test_the_board_has_each_answer_within_the_width(visit, cookies):
    page = visit(cookies, **PHONE)
    page.goto("/board/")

    links = page.locator("table.board td:nth-child(3) > a").all()
    assert links
    for box in (link.bounding_box() for link in links):
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= WIDTH
