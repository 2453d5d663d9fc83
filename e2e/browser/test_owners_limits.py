"""What the owner of a server decides: production marks, quiet hours; and who goes first."""

import re

import pytest
from playwright.sync_api import expect

from e2e.browser.campaigns import cancel, definition, draft, launch, manifest
from e2e.browser.pages import LONG, campaign_in
from e2e.conftest import wait_for
from sandbox.process import running

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

NAME = "the shop of everybody"


@pytest.fixture(scope="module")
def production(perfdash):
    """The number of a production server: a sandbox of its own, so that nobody else's is guarded."""
    with running() as server:
        yield perfdash.api(
            "POST", "targets",
            {
                "name": NAME, "family": "http", "base_url": server.base_url,
                "confirm_address": True, "is_production": True,
            },
        )["id"]  # fmt: skip


def state_of(perfdash, campaign):
    return perfdash.rows("SELECT state FROM campaigns_campaign WHERE id = %s", campaign)[0][0]


@pytest.mark.parametrize("scripts", [True, False])
def test_a_production_server_is_loaded_only_by_its_name(
    perfdash, visit, cookies, production, scripts
):
    number = draft(perfdash, f"production-{scripts}", target=production)
    page = visit(cookies, java_script_enabled=scripts)
    page.goto(f"/campaigns/{number}/")
    expect(page.locator("main .badge", has_text="production").first).to_be_visible()

    page.get_by_role("link", name="Lock and launch…").click()
    field = page.get_by_label("Type the name of the server")
    field.fill("the sandbox")
    page.get_by_role("button", name="Lock and launch").click()
    expect(field).to_have_accessible_description(re.compile(f"the server is called “{NAME}”"))
    expect(field).to_have_value("the sandbox")
    assert state_of(perfdash, number) == "draft"
    field.fill(NAME)
    page.get_by_role("button", name="Lock and launch").click()

    expect(page.locator("main .badge").first).not_to_have_text("Draft")
    perfdash.until(number, "finished")


def test_the_form_asks_for_the_name_after_it_saved_a_draft(page, perfdash, production):
    page.goto(f"/campaigns/new/?target={production}")
    page.get_by_label("What do you want to know?").fill("Is the form's button guarded too?")
    page.get_by_label("Manifest", exact=True).fill(manifest("guarded"))
    page.get_by_role("button", name="Lock and launch").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Launch on a production server?")
    expect(page.get_by_role("status").first).to_contain_text("is saved as a draft")
    assert state_of(perfdash, campaign_in(page)) == "draft"


def test_a_try_out_of_a_production_server_keeps_its_cell(page, perfdash, production):
    number = draft(
        perfdash, "production-try", target=production, factors={"concurrency": [1, 2]},
        parameters={"manifest": manifest("production-try")},
    )  # fmt: skip
    page.goto(f"/campaigns/{number}/")
    page.get_by_label("Cell").select_option(index=1)
    page.get_by_role("button", name="Try one run…").click()
    page.get_by_label("Type the name of the server").fill(NAME)
    page.get_by_role("button", name="Try one run").click()

    expect(page.locator("#trials li").first).to_contain_text("concurrency 2", timeout=LONG)
    expect(page.locator("#trials li").first).to_contain_text("done", timeout=LONG)


def test_quiet_hours_that_cannot_be_read_are_told_below_their_field(page):
    page.goto("/targets/new/")
    page.get_by_label("Name", exact=True).fill("sleeps at night")
    page.get_by_label("Base URL").fill("http://127.0.0.1:8099")
    page.get_by_text("Limits of its owner").click()
    field = page.get_by_label("Quiet hours", exact=True)
    field.fill("daily 22:00-06:00\nafter lunch")
    page.get_by_label("Time zone of the quiet hours").fill("Middle-earth/Shire")
    page.get_by_role("button", name="Save target").click()

    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_accessible_description(re.compile("Line 2, “after lunch”, cannot be"))
    expect(field).to_have_value("daily 22:00-06:00\nafter lunch")
    zone = page.get_by_label("Time zone of the quiet hours")
    expect(zone).to_have_accessible_description(re.compile("is no known time zone"))


def names_in(page):
    return page.locator(".queue .item a.strong").all_inner_texts()


def test_a_campaign_that_is_moved_up_runs_first(page, perfdash):
    busy = launch(
        perfdash, "busy", name="busy", repetitions=50,
        parameters={"manifest": manifest("busy", files=100, latency=300), "concurrency": 1},
    )  # fmt: skip
    second = launch(perfdash, "second", name="second")
    third = launch(perfdash, "third", name="third")
    wait_for(
        lambda: perfdash.rows(
            "SELECT 1 FROM campaigns_attempt a JOIN campaigns_run r ON r.id = a.run_id"
            " WHERE a.state = 'running' AND r.campaign_id = %s", busy,
        ),
        "the first run",
    )  # fmt: skip

    page.goto("/queues/")
    assert names_in(page) == ["busy", "second", "third"]
    page.get_by_role("button", name="Move third up").click()
    expect(page.locator(".queue .item a.strong").nth(1)).to_have_text("third")
    page.goto(f"/campaigns/{third}/")
    expect(page.locator("#queue-place")).to_contain_text("2nd in the queue of sandbox")
    expect(page.locator("#queue-place")).to_contain_text("behind “busy”")
    page.get_by_role("button", name="Move up").click()
    expect(page.locator("#queue-place")).to_contain_text("1st in the queue of sandbox")
    expect(page.locator("#log")).to_contain_text("moved before “busy” in the queue by owner")

    cancel(perfdash, busy)
    perfdash.until(third, "finished")
    perfdash.until(second, "finished")
    rows = perfdash.rows(
        "SELECT campaign_id, min(started_at) FROM campaigns_run"
        " WHERE campaign_id IN (%s, %s) GROUP BY 1", second, third,
    )  # fmt: skip
    begun = dict(rows)
    assert begun[third] < begun[second]


def test_the_limits_of_a_campaign_are_said_and_warned_of(page, perfdash):
    page.goto("/campaigns/new/")
    page.get_by_label("What do you want to know?").fill("How long may it take?")
    expect(page.locator("#limits-words")).to_contain_text("after 5 failures in a row")
    # Whatever runs of earlier tests took, a hundred take longer.
    page.get_by_label("Repetitions", exact=True).fill("100")
    page.locator("#limits > summary").click()
    page.get_by_label("Time budget").fill("1 s")

    expect(page.locator("#limits-words")).to_contain_text("ends after 1 s")
    expect(page.locator("#plan")).to_contain_text("longer than the time budget of 1 s")
    sent = definition(perfdash, "budget", time_budget_seconds=1, repetitions=100)
    remarks = perfdash.api("POST", "campaigns/preview", sent)["remarks"]
    assert "warn" in {each["tone"] for each in remarks if "time budget" in each["text"]}
