"""Headless Chromium in front of the running perfdash, signed in or not, with scripts or without.

The browser lives only as long as tests of this folder follow one another: Playwright keeps an event loop in this
thread while it is there, and neither Django's ORM nor asyncio.run works beside one.
"""

import urllib.request
from http.cookiejar import CookieJar

import pytest
from playwright.sync_api import expect, sync_playwright

from e2e.browser.campaigns import cancel, launch, manifest

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 20_000
"""Milliseconds; pages are waited for, never slept for."""

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="package")
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def cookies(perfdash):
    """The session of the owner, as a browser keeps it."""
    jar = CookieJar()
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    with opener.open(sign_in_link(perfdash), timeout=30) as answer:
        assert answer.status == 200
    return [
        {"name": cookie.name, "value": cookie.value, "url": perfdash.state["base_url"]}
        for cookie in jar
    ]


def sign_in_link(perfdash):
    return perfdash.manage("sign_in_link", "--base-url", perfdash.state["base_url"])


@pytest.fixture
def visit(chromium, perfdash):
    """Open pages in browsers of their own; none may have had an error in a script."""
    contexts, errors = [], []

    def open_page(cookies=(), **options):
        context = chromium.new_context(**{"base_url": perfdash.state["base_url"]} | options)
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        context.add_cookies(list(cookies))
        context.on("weberror", lambda error: errors.append(str(error.error)))
        return context.new_page()

    yield open_page
    for context in contexts:
        context.close()
    assert not errors


@pytest.fixture(scope="package")
def owners(chromium, perfdash):
    """The browser of the owner, which loads scripts once for all tests."""
    context = chromium.new_context(
        base_url=perfdash.state["base_url"], viewport={"width": 1440, "height": 1000}
    )
    context.set_default_timeout(PATIENCE)
    yield context
    context.close()


@pytest.fixture
def page(owners, perfdash, cookies):
    """A page of the owner, who is signed in; nothing of it but loaded files is left to the next test."""
    errors = []
    note = lambda error: errors.append(str(error.error))  # noqa: E731
    owners.clear_cookies()
    owners.add_cookies(cookies)
    owners.on("weberror", note)
    opened = owners.new_page()
    yield opened
    stored = {"origin": perfdash.state["base_url"], "storageTypes": "local_storage"}
    owners.new_cdp_session(opened).send("Storage.clearDataForOrigin", stored)
    for each in owners.pages:
        each.goto("about:blank")  # Chromium may never close a page that is about to reload itself
        each.close()
    owners.clear_permissions()
    owners.remove_listener("weberror", note)
    assert not errors


@pytest.fixture
def anonymous(visit):
    return visit()


@pytest.fixture(scope="session")
def paired(perfdash):
    """A finished campaign of two pairs: its number."""
    campaign = launch(
        perfdash, "paired", factors={"engine": ["futures", "asyncio"]},
        order="paired", paired_factor="engine", baseline="futures", repetitions=2,
    )  # fmt: skip
    perfdash.until(campaign, "finished")
    return campaign


@pytest.fixture(scope="module")
def slow(perfdash):
    """A campaign that is running as long as the tests of a module do: its number."""
    campaign = launch(
        perfdash, "slow",
        parameters={"manifest": manifest("slow", files=100, latency=300), "concurrency": 1},
        factors={"engine": ["futures", "asyncio"]}, repetitions=40,
    )  # fmt: skip
    yield campaign
    cancel(perfdash, campaign)
