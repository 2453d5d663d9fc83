"""A team answers a question: written, sent back, answered, accepted, and re-opened by the data."""

import json
import re
import secrets

import pytest
from playwright.sync_api import expect

from e2e.browser.pages import LONG

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]

SIGHT = {"viewport": {"width": 1440, "height": 1000}}
CLAIM = "Eight downloads at a time are enough"
CHANGES = "Say for which network this holds."
STORY = {
    *("conclusion_created", "conclusion_sent", "conclusion_accepted", "conclusion_reopened"),
    *("decision_made", "run_excluded"),
}
WORD = "Seen, and it does not touch the claim."


@pytest.fixture
def campaign(perfdash):
    """A campaign of its own, one run of which will be excluded: its number."""
    document = {
        "campaign": {"question": "How many downloads at a time?", "name": "reviewed"},
        "metrics": {"duration": {"unit": "s", "lower_is_better": True}},
        "runs": [
            {"tags": {"concurrency": level}, "values": {"duration": seconds + noise}}
            for noise in (0.0, 0.4, -0.3)
            for level, seconds in ((3, 29.0), (8, 21.0), (20, 20.8))
        ],
    }
    made = perfdash.api("POST", "submissions", document)["submission"]["campaign"]["id"]
    perfdash.until(made, "finished")
    return made


@pytest.fixture
def owner(visit, cookies):
    return visit(cookies, **SIGHT)


@pytest.fixture
def invite(owner, visit):
    """Let the owner make a link for a role; give the page of whoever made an account by it."""

    def join(name, *roles):
        owner.goto("/teams/1/invitations/")
        for role in roles:
            owner.get_by_label(role, exact=True).check()
        owner.get_by_label("For whom?").fill(name)
        owner.get_by_role("button", name="Make a link").click()
        link = owner.locator("code.secret").inner_text()
        page = visit(**SIGHT)
        page.goto(link)
        page.get_by_label("Name").fill(name)
        password = secrets.token_urlsafe(20)
        for field in page.locator("input[type=password]").all():
            field.fill(password)
        page.get_by_role("button", name="Make the account and join").click()
        expect(page.locator(".menu summary", has_text=name)).to_be_visible()
        return page

    return join


def answer_every_warning(page):
    expect(page.get_by_role("heading", name="Warnings and failures")).to_be_visible()
    for word in page.locator("textarea[name^=word-]").all():
        word.fill(WORD)


def send(page, reviewer):
    page.get_by_role("link", name="Send to review").click()
    page.get_by_role("checkbox", name=reviewer).check()
    page.get_by_role("button", name="Send to review").click()


def state(page):
    return page.locator("main .page-head .badge").first


def test_a_conclusion_is_reviewed_signed_and_reopened_by_its_data(
    perfdash, campaign, owner, invite
):
    ((before,),) = perfdash.rows("SELECT max(id) FROM campaigns_auditevent")
    author, reviewer = invite("alma", "author"), invite("rosa", "reviewer")

    # The author concludes on it, and may not sign for it.
    author.goto(f"/campaigns/{campaign}/")
    author.get_by_role("link", name="Write a conclusion").click()
    author.get_by_role("textbox", name="Claim").fill(CLAIM)
    author.get_by_role("button", name="Store the draft").click()
    author.wait_for_url("**/edit/")
    conclusion = author.url.removesuffix("edit/")
    answer_every_warning(author)
    author.get_by_role("button", name="Store", exact=True).click()
    send(author, "rosa")
    expect(state(author)).to_have_text("in review", ignore_case=True)
    expect(author.get_by_role("button", name="Approve")).to_have_count(0)

    # The reviewer finds it in the inbox, and asks for changes: with a reason.
    reviewer.goto("/inbox/")
    reviewer.get_by_role("link", name=CLAIM).first.click()
    reviewer.get_by_role("button", name="Ask for changes").click()
    expect(reviewer.locator("main")).to_contain_text("Say why")
    reviewer.get_by_role("textbox", name="Reason").fill(CHANGES)
    reviewer.get_by_role("button", name="Ask for changes").click()
    expect(state(reviewer)).to_have_text("changes requested", ignore_case=True)

    # The author finds that, answers, and sends it once more.
    author.goto("/inbox/")
    author.get_by_role("link", name=CLAIM).first.click()
    expect(author.locator("main")).to_contain_text(CHANGES)
    author.get_by_role("link", name="Edit", exact=True).click()
    author.get_by_role("textbox", name="Limits").fill(
        "One server, in one network, with files of 10 KB."
    )
    author.get_by_role("button", name="Store", exact=True).click()
    send(author, "rosa")

    # The reviewer signs; a report says so, and what it is bound to.
    reviewer.goto(conclusion)
    failed = reviewer.get_by_label("I have seen that")
    if failed.count():
        failed.check()
    reviewer.get_by_role("button", name="Approve").click()
    expect(state(reviewer)).to_have_text("accepted", ignore_case=True)
    reviewer.get_by_role("link", name="Report").click()
    signed = reviewer.locator("main").inner_text()
    assert CLAIM in signed
    assert "rosa" in signed
    assert re.search(r"v1:[0-9a-f]{64}", signed)

    # The owner takes a run out: nobody has to say that the conclusion stands no more.
    owner.goto(f"/campaigns/{campaign}/runs/3/")
    owner.get_by_role("link", name="Exclude").click()
    owner.get_by_role("textbox", name="Reason").fill("a backup ran beside it")
    owner.get_by_role("button", name="Exclude").click()
    author.goto(conclusion)
    expect(state(author)).to_have_text("re-opened", ignore_case=True)
    expect(author.locator("main")).to_contain_text("Run 3 was excluded")
    expect(author.locator("main")).to_contain_text("a backup ran beside it")
    reviewer.reload()
    expect(reviewer.locator("main")).to_contain_text("re-opened", ignore_case=True)
    author.goto("/inbox/")
    expect(author.get_by_role("link", name=CLAIM).first).to_be_visible(timeout=LONG)

    # The record tells the whole story, in its order.
    owner.goto("/activity/")
    owner.get_by_text("Export", exact=True).click()
    with owner.expect_download() as download:
        owner.get_by_role("link", name="JSON lines").click()
    lines = [json.loads(line) for line in download.value.path().read_text().splitlines()]
    deeds = sorted(
        (each["id"], each["user"], each["action"]) for each in lines if each["id"] > before
    )
    told = [(who or "perfdash", what) for _, who, what in deeds if what in STORY]
    assert told == [
        ("alma", "conclusion_created"),
        ("alma", "conclusion_sent"),
        ("rosa", "decision_made"),
        ("alma", "conclusion_sent"),
        ("rosa", "conclusion_accepted"),
        ("rosa", "decision_made"),
        ("owner", "run_excluded"),
        ("perfdash", "conclusion_reopened"),
    ]
