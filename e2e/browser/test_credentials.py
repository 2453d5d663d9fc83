"""A sync from an nginx that wants a client certificate, by the words of how-to/feed-with-a-certificate alone."""

import os
import re
from types import SimpleNamespace

import pytest
from playwright.sync_api import expect

from campaigns.tests.kinds.guarded_server import guarded
from e2e.browser.pages import LONG
from sandbox.process import running

__all__ = ["guarded"]

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def pulp():
    """The simulated Pulp, or a real one that the environment names."""
    if url := os.environ.get("PERFDASH_TEST_PULP_URL"):
        user, password = (os.environ[f"PERFDASH_TEST_PULP_{each}"] for each in ("USER", "PASSWORD"))
        yield SimpleNamespace(base_url=url, user=user, password=password)
        return
    with running(pulp={}) as sandbox:
        yield SimpleNamespace(base_url=sandbox.pulp.base_url, user="admin", password="password")  # noqa: S106


def of_pulp(page, pulp):
    """Steps 1 and 3 of how-to/sync."""
    page.goto("/targets/")
    page.get_by_role("link", name="New target").click()
    page.get_by_label("Name", exact=True).fill("my Pulp with feeds")
    page.get_by_label("Family").select_option("pulp")
    page.get_by_label("Base URL").fill(pulp.base_url)
    page.get_by_label("User name").fill(pulp.user)
    page.get_by_label("Password", exact=True).fill(pulp.password)
    page.get_by_label("This server belongs to perfdash alone").check()
    page.get_by_label("This server is mine; perfdash may put load on it").check()
    page.get_by_role("button", name="Save target").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("my Pulp with feeds")


def of_credential(page, name, places, certificate, key, ca):
    """The chapter “Make the credential”."""
    page.goto("/")
    page.locator("details.menu summary").click()
    page.get_by_role("link", name="Credentials").click()
    page.get_by_role("link", name="New credential").click()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("May be sent to").fill("\n".join(places))
    page.get_by_label("Client certificate", exact=True).fill(certificate)
    page.get_by_label("Key of the client certificate").fill(key)
    page.get_by_label("CA", exact=True).fill(ca)
    page.get_by_role("button", name="Save credential").click()


def test_the_how_to_is_walked_by_its_words(page, pulp, guarded):
    certificate, key = guarded.authority.identity("entitled")
    of_pulp(page, pulp)

    of_credential(page, "cdn", [guarded.entitled, pulp.base_url], certificate, "", guarded.ca)
    expect(page.locator("main")).to_contain_text("Give the key of the certificate.")
    expect(page.locator("main")).to_contain_text("Type the client certificate again")
    page.get_by_label("Client certificate", exact=True).fill(certificate)
    page.get_by_label("Key of the client certificate").fill(key)
    page.get_by_role("button", name="Save credential").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("cdn")
    expect(page.locator("main")).to_contain_text("CN=entitled")
    assert key.splitlines()[1] not in page.content()

    page.goto("/campaigns/new/")
    page.get_by_label("What do you want to know?").fill("Does a feed with a certificate sync?")
    page.get_by_role("radio", name=re.compile("^Sync")).check()
    option = page.locator("[name=target] option", has_text="my Pulp with feeds")
    page.get_by_label("Target", exact=True).select_option(option.get_attribute("value"))
    expect(page.get_by_label("Feed", exact=True)).to_be_visible()
    page.get_by_label("Feed", exact=True).fill(f"{guarded.entitled}/feed/PULP_MANIFEST")
    page.get_by_text(re.compile("^More parameters")).click()
    page.get_by_label("Credential", exact=True).fill("cdn")
    page.get_by_role("button", name="Save and try one run").click()
    page.get_by_label(re.compile("is mine; workers may read it")).check()
    page.get_by_role("button", name="Save and try one run").click()
    expect(page).to_have_url(re.compile("/campaigns/[0-9]+/"))
    page.get_by_role("link", name="Try-out 1").click()
    main = page.locator("main")
    expect(main).to_contain_text("client_cert, client_key, ca_cert", timeout=LONG)
    expect(main).to_contain_text("cdn, version 1, certificate")
    page.get_by_role("link", name="Does a feed with a certificate sync?").first.click()
    page.get_by_role("button", name="Ask the targets now").click()
    expect(main).to_contain_text("The certificate of the credential “cdn” ends on")
    page.goto("/credentials/")
    page.get_by_role("link", name="cdn", exact=True).click()
    page.get_by_role("button", name="Delete").click()
    expect(main).to_contain_text("may still need it")
