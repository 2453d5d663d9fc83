"""Who may come in, and by which door."""

import re
import secrets
import urllib.request

import pytest
from playwright.sync_api import expect

from e2e.browser.conftest import sign_in_link

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]


def test_a_sign_in_link_works_once(perfdash, visit):
    link = sign_in_link(perfdash)
    first, second = visit(), visit()

    first.goto(link)
    refused = second.goto(link)

    expect(first.get_by_role("heading", level=1)).to_have_text("Overview")
    expect(first.locator(".menu summary")).to_contain_text("owner")
    assert refused.status == 403
    expect(second.get_by_role("alert")).to_contain_text("used already; each works once")
    second.goto("/campaigns/")
    expect(second.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_a_name_and_a_password_sign_in_and_out(perfdash, anonymous):
    password = secrets.token_urlsafe(20)
    perfdash.manage(
        "shell", "--no-imports", "-c",
        "from django.contrib.auth.models import User; "
        f"User.objects.create_user('reader', password={password!r})",
    )  # fmt: skip
    anonymous.goto("/targets/")

    anonymous.get_by_label("Name").fill("reader")
    anonymous.get_by_label("Password").fill("wrong")
    anonymous.get_by_role("button", name="Sign in", exact=True).click()
    expect(anonymous.get_by_role("alert")).to_contain_text("correct username and password")
    expect(anonymous.get_by_label("Name")).to_have_value("reader")
    expect(anonymous.get_by_label("Password")).to_have_value("")
    anonymous.get_by_label("Password").fill(password)
    anonymous.get_by_role("button", name="Sign in", exact=True).click()
    expect(anonymous.get_by_role("heading", level=1)).to_have_text("Targets")
    anonymous.locator(".menu summary").click()
    anonymous.get_by_role("button", name="Sign out").click()

    expect(anonymous.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_somebody_who_is_not_signed_in_sees_sign_in_and_health_only(perfdash, anonymous):
    paths = [
        "/", "/campaigns/", "/campaigns/new/", "/campaigns/1/", "/campaigns/1/runs/1/",
        "/campaigns/1/runs.csv", "/campaigns/1/campaign.json", "/targets/", "/targets/1/",
        "/account/", "/running/",
    ]  # fmt: skip

    for path in paths:
        anonymous.goto(path)

        expect(anonymous).to_have_url(re.compile(r"/sign-in/"))
        expect(anonymous.get_by_role("heading", level=1)).to_have_text("Sign in")
    with urllib.request.urlopen(f"{perfdash.state['base_url']}/health/", timeout=10) as answer:  # noqa: S310
        assert answer.status == 200
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(f"{perfdash.state['base_url']}/api/v1/campaigns", timeout=10)  # noqa: S310
