"""The form of a campaign: a plan that changes while one types, and errors where they belong."""

import re
from contextlib import contextmanager, suppress

import pytest
from playwright.sync_api import Error, expect

from e2e.browser.campaigns import manifest, runs_of
from e2e.browser.pages import campaign_in, choose, figure, levels, renewed, tiles, vary
from e2e.conftest import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]

FORM = re.compile(r"/campaigns/new/")


def test_the_plan_changes_while_one_types(page):
    page.goto("/campaigns/new/?target=1")
    expect(figure(page, "cells × blocks")).to_have_text("1 × 3")
    first_time = figure(page, "about").inner_text()

    page.get_by_label("What do you want to know?").fill("What does the plan say?")
    vary(page, "concurrency")
    levels(page, "concurrency", "2", "4")
    expect(figure(page, "cells × blocks")).to_have_text("2 × 3")
    assert {tile for row in tiles(page) for tile in row} == {"2", "4"}
    choose(page, "engine", "asyncio", "futures")
    expect(figure(page, "cells × blocks")).to_have_text("4 × 3")
    expect(figure(page, "runs")).to_have_text("12")
    assert [sorted(row) for row in tiles(page)] == [["1", "2", "3", "4"]] * 3
    expect(figure(page, "about")).not_to_have_text(first_time)
    order = tiles(page)
    page.get_by_label("Repetitions", exact=True).fill("2")
    expect(figure(page, "cells × blocks")).to_have_text("4 × 2")
    expect(figure(page, "runs")).to_have_text("8")
    assert tiles(page) == order[:2]
    expect(page.locator("#plan-status")).to_contain_text("8 runs, about")

    page.get_by_role("radio", name="Paired").check()
    page.get_by_label("Paired factor").select_option("engine")

    expect(page.locator("#plan .strip .block").first).to_contain_text("pair 1")
    assert [sorted(row) for row in tiles(page)] == [["asyncio", "futures"]] * 4
    expect(page.locator("#plan")).to_contain_text("Pairs of engine")


def test_the_primary_contrast_follows_the_levels_and_keeps_what_was_chosen(page):
    page.goto("/campaigns/new/?target=1")
    page.get_by_label("What do you want to know?").fill("7 against 5?")
    vary(page, "concurrency")
    levels(page, "concurrency", "5", "7", "10")
    page.get_by_text("Primary contrast", exact=True).first.click()
    candidate, baseline = (
        page.locator(f'[id="f-primary_contrast.{side}"]') for side in ("candidate", "baseline")
    )
    expect(candidate.locator("option")).to_have_count(4)
    expect(candidate).to_have_value("")

    candidate.focus()
    candidate.select_option("7")
    expect(page.locator("#plan")).to_contain_text("Say which level is the baseline: 5, 7, 10.")
    expect(candidate).to_have_value("concurrency=7")
    expect(candidate).to_be_focused()
    baseline.select_option("5")
    expect(page.locator("#plan-status")).to_contain_text("9 runs, about")
    expect(candidate).to_have_value("concurrency=7")
    expect(baseline).to_have_value("concurrency=5")

    page.locator("[name=p-manifest]").fill(manifest("contrast"))
    page.get_by_role("button", name="Save draft").click()

    expect(page.locator(".meta").first).to_contain_text("primary contrast concurrency 7 vs. 5")


def test_the_keyboard_comes_to_the_buttons_and_from_an_error_to_its_field(page):
    page.goto("/campaigns/new/?target=1")
    for key in ("Tab", "Tab", "Enter", "Tab"):
        page.keyboard.press(key)
    expect(page.get_by_role("button", name="Lock and launch")).to_be_focused()

    page.get_by_label("What do you want to know?").fill("Where is the error?")
    page.get_by_text("More parameters (7)").click()
    page.get_by_label("File timeout in seconds", exact=True).fill("soon")
    page.get_by_role("button", name="Save draft").click()
    told = page.locator("#problems")
    expect(told).to_contain_text("Fix 1 error")
    page.get_by_text("More parameters (7)").click()
    expect(page.get_by_label("File timeout in seconds", exact=True)).to_be_hidden()
    told.get_by_role("link", name="File timeout in seconds").click()
    expect(page.get_by_label("File timeout in seconds", exact=True)).to_be_focused()


def test_another_kind_has_no_value_of_the_one_before(page):
    page.goto("/campaigns/new/?kind=downloader")
    page.locator("[name=kind][value=http]").check()
    expect(page.get_by_label("Scenario", exact=True)).to_be_visible()
    expect(page.locator("#plan-status")).to_contain_text("3 runs")
    expect(page.get_by_label("Processes", exact=True)).to_have_value("")


@contextmanager
def held_back(page, expected=1):
    """Hold back the form of another kind or target until the block ends; what was asked for last comes first."""
    held = []

    def hold(route):
        body = route.request.post_data or ""
        if "act=kind" in body or 'name="act"\r\n\r\nkind' in body:
            held.append(route)
        else:
            route.continue_()

    page.route(FORM, hold)
    yield
    wait_for(lambda: page.wait_for_timeout(10) or len(held) >= expected, "the request for the form")
    with renewed(page):
        for route in reversed(held):
            with suppress(Error):  # a later request replaced it
                route.continue_()
    page.unroute(FORM)


def test_what_is_typed_while_the_form_of_another_kind_comes_is_kept(page):
    page.goto("/campaigns/new/?kind=downloader")
    with held_back(page):
        page.get_by_role("radio", name=re.compile("^HTTP")).check()
        page.get_by_label("Repetitions", exact=True).fill("5")
        page.get_by_text("Short name and tags").click()
        page.get_by_label("Short name", exact=True).fill("typed meanwhile")
        question = page.get_by_label("What do you want to know?")
        question.press_sequentially("How many users does ")
    question.press_sequentially("it carry?")

    expect(question).to_have_value("How many users does it carry?")
    expect(page.get_by_label("Scenario", exact=True)).to_be_visible()
    expect(page.get_by_label("Repetitions", exact=True)).to_have_value("5")
    expect(page.get_by_label("Short name", exact=True)).to_have_value("typed meanwhile")
    expect(page.get_by_label("Short name", exact=True)).to_be_visible()
    expect(figure(page, "runs")).to_have_text("5")


def test_what_is_typed_while_the_form_of_another_target_comes_is_kept(page, perfdash):
    target = {"name": "another file server", "family": "http", "confirm_address": True}
    perfdash.api("POST", "targets", target | {"base_url": "http://127.0.0.1:9/"})
    page.goto("/campaigns/new/?kind=downloader")
    vary(page, "concurrency")
    box = page.get_by_role("textbox", name="Add a level of concurrency")
    with held_back(page):
        named = page.locator("[name=target] option", has_text="another file server")
        chosen = named.get_attribute("value")
        page.get_by_label("Target", exact=True).select_option(chosen)
        levels(page, "concurrency", "2", "4")
        choose(page, "engine", "asyncio", "futures")
        page.get_by_label("Metric of condition 1", exact=True).select_option("duration")
        page.get_by_label("Limit of condition 1", exact=True).fill("3 min")
        box.press_sequentially("1")
    page.keyboard.type("6")
    page.keyboard.press("Enter")

    assert page.locator(".chip .text").all_inner_texts() == ["2", "4", "16"]
    expect(figure(page, "cells × blocks")).to_have_text("6 × 3")
    expect(page.get_by_label("Limit of condition 1", exact=True)).to_have_value("3 min")
    expect(page.get_by_label("Metric of condition 1", exact=True)).to_have_value("duration")


def test_the_kind_that_was_chosen_last_is_shown(page):
    page.goto("/campaigns/new/?kind=downloader")
    with held_back(page, expected=2):
        page.get_by_role("radio", name=re.compile("^HTTP")).check()
        page.get_by_role("radio", name=re.compile("^Sync")).check()
    expect(page.get_by_role("radio", name=re.compile("^Sync"))).to_be_checked()
    page.wait_for_load_state("networkidle")
    expect(page.locator("[name=drawn_for]")).to_have_value("sync")


def test_a_pair_of_two_levels_is_complete_by_itself(page):
    page.goto("/campaigns/new/?kind=downloader")
    page.get_by_label("What do you want to know?").fill("Is futures faster?")
    choose(page, "engine", "asyncio", "futures")
    page.get_by_role("radio", name="Paired").check()
    expect(page.locator("#plan")).to_contain_text("Pairs of engine")
    expect(page.locator("#f-baseline")).to_have_value("asyncio")
    expect(page.locator('[id="f-primary_contrast.candidate"]')).to_have_value("engine=futures")


def test_a_bad_level_is_told_beside_its_field_and_what_was_typed_is_kept(page):
    page.goto("/campaigns/new/?target=1")
    page.get_by_label("What do you want to know?").fill("Is “many” <b>a number</b>?")
    vary(page, "concurrency")
    levels(page, "concurrency", "2", "many")
    expect(page.locator("#plan")).to_contain_text("No plan yet")
    expect(page.locator("#plan")).to_contain_text("many")

    page.get_by_role("button", name="Lock and launch").click()

    box = page.get_by_role("textbox", name="Add a level of concurrency")
    expect(box).to_have_attribute("aria-invalid", "true")
    expect(box).to_have_accessible_description(re.compile("“many”: Enter a whole number"))
    expect(page.locator("#campaign-form").get_by_role("alert")).to_contain_text("Nothing was saved")
    expect(page.get_by_label("What do you want to know?")).to_have_value(
        "Is “many” <b>a number</b>?"
    )
    assert page.locator(".chip .text").all_inner_texts() == ["2", "many"]
    expect(page.locator(".chip.bad .text")).to_have_text("many")
    page.get_by_role("button", name="Remove level many of concurrency").click()
    expect(figure(page, "cells × blocks")).to_have_text("1 × 3")


@pytest.mark.parametrize(
    ("label", "typed", "message"),
    [
        ("Repetitions", "0", "greater than or equal to 1"),
        ("Short name", "x" * 10_000, "at most 120 characters"),
        ("Short name", "turned\u202eround", "control character"),
    ],
)
def test_bad_input_is_told_beside_its_field(page, label, typed, message):
    page.goto("/campaigns/new/?target=1")
    page.get_by_text("Short name and tags").click()
    page.get_by_label("What do you want to know?").fill("What is refused?")

    page.get_by_label(label, exact=True).fill(typed)
    expect(page.locator("#plan")).to_contain_text("No plan yet")
    page.get_by_role("button", name="Save draft").click()

    expect(page.get_by_label(label, exact=True)).to_have_accessible_description(re.compile(message))
    expect(page.get_by_label(label, exact=True)).to_have_value(typed)


def test_a_draft_is_saved_changed_and_deleted(page):
    page.goto("/campaigns/new/?target=1")
    page.get_by_label("What do you want to know?").fill("Can a draft be changed?")
    page.get_by_label("Manifest", exact=True).fill(manifest("draft"))
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Can a draft be changed?")

    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Short name").fill("a draft of a test")
    page.get_by_role("button", name="Save draft").click()
    expect(page.locator(".crumbs")).to_contain_text("a draft of a test")
    page.get_by_text("Delete this draft").click()
    page.get_by_role("button", name="Delete the draft").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Campaigns")
    expect(page.get_by_role("link", name="a draft of a test")).to_have_count(0)


def test_a_choice_begins_to_vary_with_the_level_that_it_had(page):
    page.goto("/campaigns/new/?target=1")
    page.get_by_label("Engine", exact=True).select_option("futures")
    page.get_by_role("switch", name="vary engine").focus()
    page.keyboard.press("Space")

    ticked = page.locator("input[name=levels-engine]:checked")
    expect(ticked).to_have_count(1)
    expect(ticked).to_have_value("futures")
    page.keyboard.press("Tab")
    expect(page.locator("input[name=levels-engine]").first).to_be_focused()


def test_a_first_campaign_with_the_defaults_of_the_form_runs_to_its_end(page, perfdash):
    page.goto("/campaigns/new/?target=1")
    page.get_by_label("What do you want to know?").fill("Does a first campaign go through?")
    choose(page, "engine", "asyncio", "futures")
    page.get_by_role("button", name="Lock and launch").click()

    campaign = campaign_in(page)
    perfdash.until(campaign, "finished")
    assert {run["state"] for run in runs_of(perfdash, campaign).values()} == {"done"}


def test_a_manifest_that_is_not_there_is_told_before_anything_is_launched(page, perfdash):
    page.goto("/campaigns/new/?target=1")
    page.get_by_label("What do you want to know?").fill("Is what is not there missed?")
    page.get_by_label("Manifest", exact=True).fill("/PULP_MANIFEST")
    page.get_by_role("button", name="Lock and launch").click()

    expect(page.locator("main")).to_contain_text("Nothing was launched.")
    expect(page.locator("main")).to_contain_text("answered 404 instead of the manifest")
    expect(page.get_by_role("button", name="Launch anyway")).to_be_visible()
    assert runs_of(perfdash, campaign_in(page)) == {}


def test_a_scenario_is_written_in_the_form_and_a_wrong_name_is_told_with_its_line(page):
    page.goto("/campaigns/new/?kind=http")
    page.get_by_label("What do you want to know?").fill("How many hosts does a page carry?")
    box = page.locator("[name=p-scenario]")

    box.fill("steps:\n  - name: start\n    get: /{hsot}\n")
    page.get_by_role("button", name="Save draft").click()
    told = "Line 3, step 1 “start”: the name {hsot} in get is not known here. Did you mean {host}?"
    expect(page.locator("#scenario-lines")).to_contain_text(told)
    expect(page.get_by_text(told)).to_have_count(1)
    expect(page.locator("#row-scenario")).to_contain_text("each of its errors is shown below it")
    expect(box).to_have_value("steps:\n  - name: start\n    get: /{hsot}")

    box.fill("steps:\n  - name: start\n    get: /{host}\n")
    page.get_by_role("button", name="Save draft").click()
    folded = page.locator("dd details", has_text="steps: … (3 lines)")
    folded.locator("summary").click()
    expect(folded.locator("pre")).to_contain_text("get: /{host}")
