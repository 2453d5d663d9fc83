"""Comments that try to run something, in a real browser: none of them does."""

import pytest

from campaigns.tests.attacks import ATTACKS

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]


@pytest.fixture
def thread(perfdash):
    """A thread that holds every attack that can be stored."""
    made = perfdash.api("POST", "campaigns/1/threads", {"text": "attacks follow"})
    for attack in ATTACKS:
        if not any(ord(sign) in (*range(9), 11, 12, *range(0x202A, 0x202F)) for sign in attack):
            perfdash.api("POST", f"threads/{made['id']}/comments", {"text": attack})
    return made["id"]


def test_no_comment_runs_fetches_or_covers_anything(visit, cookies, thread):
    page = visit(cookies, viewport={"width": 390, "height": 844})
    elsewhere = []
    page.on("request", lambda sent: elsewhere.append(sent.url))
    page.goto(f"/threads/{thread}/")
    page.wait_for_load_state("networkidle")
    for link in page.locator(".prose a").all():
        link.dispatch_event("mouseover")
        link.dispatch_event("focus")

    schemes = page.evaluate("[...document.querySelectorAll('.prose a')].map(a => a.protocol)")
    assert page.locator(".prose").count() > 60
    assert page.evaluate("window.attacked") is None
    assert set(schemes) <= {"http:", "https:", "mailto:"}
    assert not [url for url in elsewhere if "example" in url]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
