"""Servers under test: whose they are, how they are, and that their passwords stay hidden."""

import re

import pytest
from playwright.sync_api import expect

from sandbox.process import running

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]

SECRET = "correct horse <battery> staple"  # noqa: S105


@pytest.fixture(scope="module")
def server():
    with running() as sandbox:
        yield sandbox


def fill(page, name, base_url):
    page.goto("/targets/new/")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Base URL").fill(base_url)


def test_a_loopback_port_asks_for_its_owner_and_is_probed(page, server):
    fill(page, "a server of mine", server.base_url)
    question = page.get_by_label("This server is mine; perfdash may put load on it")
    expect(question).to_be_visible()
    page.get_by_label("Base URL").fill("https://server.example/")
    expect(question).to_have_count(0)
    page.get_by_label("Base URL").fill(server.base_url)
    expect(question).to_be_visible()
    page.get_by_label("User name").fill("somebody")
    page.get_by_label("Password").fill(SECRET)
    page.get_by_role("button", name="Save target").click()

    expect(page.get_by_label("Password")).to_have_accessible_description(
        re.compile("Type the password again")
    )
    expect(question).to_have_accessible_description(re.compile("loopback or private address"))
    expect(page.get_by_label("Name", exact=True)).to_have_value("a server of mine")
    expect(page.get_by_label("Base URL")).to_have_value(server.base_url)
    assert SECRET not in page.content()
    question.check()
    page.get_by_label("Password").fill(SECRET)
    page.get_by_role("button", name="Save target").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("a server of mine")
    expect(page.locator("main")).to_contain_text("confirmed by its owner")
    page.get_by_role("button", name="Probe now").click()
    expect(page.locator("#health .state").first).to_have_text("ready")
    expect(page.locator("#health tbody tr").first).to_contain_text("as expected")
    expect(page.locator("main")).to_contain_text("stored, encrypted")
    page.get_by_role("link", name="Edit").click()
    expect(page.get_by_label("Password", exact=True)).to_have_value("")
    assert SECRET not in page.content()
    page.get_by_text("Hardware and notes").click()
    page.get_by_label("Notes").fill("It stands <b>under</b> the desk.")
    page.get_by_role("button", name="Save target").click()
    expect(page.locator("main")).to_contain_text("It stands <b>under</b> the desk.")
    expect(page.locator("main")).to_contain_text("stored, encrypted")
    page.goto("/targets/")
    expect(page.get_by_role("link", name="a server of mine")).to_be_visible()


@pytest.mark.parametrize(
    ("base_url", "message", "kept"),
    [
        ("http://169.254.169.254/latest/", "169.254.169.254", "http://169.254.169.254/latest/"),
        ("file:///etc/passwd", "http", "file:///etc/passwd"),
        ("http://user:pw@127.0.0.1:8099/", "user name", "http://127.0.0.1:8099/"),
    ],
)
def test_an_address_that_is_never_allowed_is_told_beside_its_field(page, base_url, message, kept):
    fill(page, "nobody's", base_url)

    page.get_by_role("button", name="Save target").click()

    field = page.get_by_label("Base URL")
    expect(field).to_have_attribute("aria-invalid", "true")
    errors = page.locator("#f-base_url-error, [id$=base_url-error]")
    expect(errors).to_contain_text(re.compile(message, re.IGNORECASE))
    expect(field).to_have_value(kept)
    expect(page.get_by_role("heading", level=1)).to_have_text("New target")


def test_hosts_of_a_population_are_registered_and_deleted_while_its_panel_is_watched(
    page, perfdash
):
    with running(katello={}) as sandbox:
        target = perfdash.api(
            "POST", "targets",
            {
                "name": "Katello with hosts", "family": "katello", "base_url": sandbox.katello.tls_url,
                "username": "admin", "password": "password", "ca_bundle": sandbox.katello.ca(), "confirm_address": True,
            },
        )["id"]  # fmt: skip
        page.goto(f"/targets/{target}/")
        panel = page.locator("#populations")
        expect(panel).to_contain_text("None yet.")
        panel.get_by_role("link", name="Population").click()
        page.get_by_label("Hosts", exact=True).fill("3")
        page.get_by_label("Organization").fill("ACME")
        page.get_by_label("Activation keys").fill("bench-ak")
        page.get_by_role("button", name="Register").click()

        expect(page.locator("main")).to_contain_text("3 hosts are being registered at")
        expect(panel.locator(".badge")).to_have_text("ready")
        expect(panel).to_contain_text("3 of 3 registered")
        panel.get_by_role("button", name="Delete population").click()

        expect(page.locator("main")).to_contain_text("will be deleted at the server.")
        expect(panel).to_contain_text("None yet.")
