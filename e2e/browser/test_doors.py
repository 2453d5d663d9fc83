"""Password with a second factor, an OpenID Connect provider, an invitation, and sessions, in a browser."""

import re
import secrets
from base64 import b32decode

import pytest
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP
from playwright.sync_api import Error, expect

from campaigns.tests.accounts import oidc_server
from campaigns.tests.ports import free_port
from e2e.browser.conftest import PATIENCE, sign_in_link
from e2e.browser.test_every_page import Trouble, check, find_barriers
from e2e.conftest import FAST, copied, place, served, wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

WINDOWS = (
    {"viewport": {"width": 1440, "height": 900}, "color_scheme": "light"},
    {"viewport": {"width": 390, "height": 900}, "color_scheme": "dark"},
)
MAKE = """
from django.contrib.auth.models import User
for name, password in {people!r}:
    User.objects.create_user(name, password=password)
"""


@pytest.fixture(scope="module")
def perfdash(first_start):
    """One of its own, whose provider is django-oauth-toolkit on loopback."""
    port = free_port()
    settings = {
        "PERFDASH_OIDC_ISSUER": f"http://127.0.0.1:{port}/o",
        "PERFDASH_OIDC_CLIENT_ID": oidc_server.CLIENT,
        "PERFDASH_OIDC_CLIENT_SECRET": oidc_server.SECRET,
        "PERFDASH_OIDC_NAME": "Example staff",
        "PERFDASH_OIDC_SIGN_UP": "everybody",
    }
    with place() as path, served(copied(first_start, path / "data"), **FAST, **settings) as running:
        back = f"{running.state['base_url'].rstrip('/')}/sign-in/oidc/back/"
        with oidc_server.running(port, back):
            yield running


SEEN = "window.isSound = true"


def is_next(page):
    """Whether a page is there whole that was not looked at yet; it may come just now."""
    try:
        return page.evaluate("document.readyState === 'complete' && !window.isSound")
    except Error:
        return False


class Sound:
    """Whatever page is open: it is one at both widths, and nothing is against the policy."""

    def __init__(self):
        self.trouble = Trouble()

    def __call__(self, page, name):
        self.trouble.name = name
        wait_for(lambda: is_next(page), name)  # a click does not wait for the page it leads to
        for window in WINDOWS:
            page.set_viewport_size(window["viewport"])
            page.emulate_media(color_scheme=window["color_scheme"])
            check(page, self.trouble)
            find_barriers(page, self.trouble)
        page.evaluate(SEEN)


@pytest.fixture
def sound(visit):
    found = Sound()
    yield found
    assert found.trouble.found == []


@pytest.fixture(scope="module")
def people(perfdash):
    """Accounts with passwords, one for each test that asks for a `person`."""
    made = [(f"person-{number}", secrets.token_urlsafe(16)) for number in range(4)]
    perfdash.manage("shell", "--no-imports", "-c", MAKE.format(people=made))
    return made


@pytest.fixture
def person(people):
    """An account with a password: both."""
    return people.pop()


def leave(page, control):
    """Click what leads to another page, which `sound` then waits for."""
    page.evaluate(SEEN)
    control.click()


def sign_in(page, name, password):
    page.goto("/sign-in/")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    leave(page, page.get_by_role("button", name="Sign in", exact=True))


def log_in_there(page, name):
    """The provider's own page."""
    expect(page.get_by_role("button", name="Log in there")).to_be_visible()
    page.locator("[name=username]").fill(name)
    page.locator("[name=password]").fill(oidc_server.PASSWORD)
    page.get_by_role("button", name="Log in there").click()


def is_in(page, name):
    expect(page.locator(".menu summary")).to_contain_text(name)


def code_of(secret, page, later):
    """What an app shows by the clock of this machine, so many periods later."""
    seconds = page.evaluate("() => Math.floor(Date.now() / 1000)")
    return TOTP(b32decode(secret), 6, SHA1(), 30).generate(seconds + 30 * later).decode()  # noqa: S303


def confirm(page, password):
    """What is asked before an account is changed."""
    expect(page.get_by_role("heading", level=1)).to_have_text("Confirm that it is you")
    page.get_by_label("Your password").fill(password)
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("heading", level=1)).not_to_have_text("Confirm that it is you")


def test_a_person_of_the_provider_comes_in_without_a_password(perfdash, visit, sound):
    page = visit()
    sound.trouble.watch(page.context)
    page.goto("/targets/")
    sound(page, "sign-in with a provider")

    page.get_by_role("link", name="Sign in with Example staff").click()
    log_in_there(page, "anna")

    is_in(page, "anna")
    expect(page).to_have_url(re.compile(r"/targets/$"))
    page.goto("/account/")
    expect(page.get_by_text("connected", exact=True)).to_be_visible()
    sound(page, "account of a provider's person")


def test_who_stops_at_the_provider_is_told_so(perfdash, visit):
    page = visit()

    answer = page.goto("/sign-in/oidc/back/?error=access_denied&state=guessed")

    assert answer.status == 400
    expect(page.get_by_role("alert")).to_contain_text("did not begin in this browser")


def test_an_account_is_connected_by_a_link_as_no_form_may_lead_elsewhere(
    perfdash, visit, person, sound
):
    page = visit()
    sound.trouble.watch(page.context)
    sign_in(page, *person)
    page.goto("/account/")

    leave(page, page.get_by_role("button", name="Connect"))
    sound(page, "confirm")
    confirm(page, person[1])
    sound(page, "connect")
    page.get_by_role("link", name="Go on to Example staff").click()
    log_in_there(page, "bert")

    expect(page.get_by_role("status").first).to_contain_text("lets you into this account")
    other = visit()
    other.goto("/sign-in/")
    other.get_by_role("link", name="Sign in with Example staff").click()
    log_in_there(other, "bert")
    is_in(other, person[0])


def test_a_second_factor_is_switched_on_asked_for_and_switched_off(perfdash, visit, person, sound):
    name, password = person
    page = visit()
    sound.trouble.watch(page.context)
    sign_in(page, name, password)
    page.goto("/account/")
    page.get_by_role("link", name="switch on").click()
    confirm(page, password)
    sound(page, "second factor on")
    secret = page.locator(".secret").inner_text().replace(" ", "")
    page.get_by_label("The code that the app shows now").fill(code_of(secret, page, 0))
    page.get_by_role("button", name="Switch it on").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Recovery codes")
    sound(page, "recovery codes")
    codes = page.locator(".codes code").all_inner_texts()
    page.get_by_role("link", name="I have saved them").click()
    expect(page.get_by_text("10 left")).to_be_visible()
    page.locator(".menu summary").click()
    page.get_by_role("button", name="Sign out").click()

    sign_in(page, name, password)
    expect(page.get_by_role("heading", level=1)).to_have_text("Second factor")
    sound(page, "code")
    page.goto("/targets/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Second factor")  # not in yet
    page.get_by_label("Code").fill(code_of(secret, page, 1))
    page.get_by_role("button", name="Sign in", exact=True).click()
    is_in(page, name)

    page.goto("/account/second-factor/totp/deactivate/")
    sound(page, "confirm by a code")
    page.get_by_label("Code").fill(codes[0])
    page.get_by_role("button", name="Go on").click()
    sound(page, "second factor off")
    page.get_by_role("button", name="Switch it off").click()
    expect(page.get_by_role("link", name="switch on")).to_be_visible()


def test_a_guest_joins_a_team_by_a_link_that_works_once(perfdash, visit, sound):
    owner, guest = visit(), visit()
    for page in (owner, guest):
        sound.trouble.watch(page.context)
    owner.goto(sign_in_link(perfdash))
    owner.goto("/teams/1/invitations/")
    owner.get_by_label("reviewer").check()
    owner.get_by_label("For whom?").fill("Gina")
    owner.get_by_role("button", name="Make a link").click()
    link = owner.locator(".secret").inner_text()
    sound(owner, "invitations")

    guest.goto(link)
    sound(guest, "invitation")
    name, password = f"gina-{secrets.token_hex(3)}", secrets.token_urlsafe(12)
    guest.get_by_label("Name").fill(name)
    guest.get_by_label("New password").fill(password)
    guest.get_by_label("Repeat password").fill(password)
    guest.get_by_role("button", name="Make the account and join").click()

    is_in(guest, name)
    second = visit()
    assert second.goto(link).status == 403
    expect(second.get_by_role("alert")).to_contain_text("used already")


def test_a_session_is_ended_from_another_one_and_a_new_password_ends_all(
    perfdash, visit, person, sound
):
    name, password = person
    first, second, third = (visit() for _ in range(3))
    for page in (first, second, third):
        sign_in(page, name, password)
        is_in(page, name)
    sound.trouble.watch(first.context)
    first.goto("/account/")
    rows = first.locator("[aria-label='Sessions table'] tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.filter(has_text="this one")).to_have_count(1)
    sound(first, "sessions")

    rows.get_by_role("button").last.click()
    expect(rows).to_have_count(2)
    still_in = [page for page in (second, third) if _stays(page)]
    assert len(still_in) == 1

    first.goto("/account/password/")
    sound(first, "password")
    first.get_by_label("Your password").fill(password)
    first.get_by_label("New password").fill("a better one 9")
    first.get_by_label("Repeat password").fill("a better one 9")
    first.get_by_role("button", name="Change it").click()
    expect(rows).to_have_count(1)
    assert not _stays(still_in[0])
    first.goto("/account/email/")
    confirm(first, "a better one 9")
    sound(first, "email")


def test_a_passkey_signs_in_alone_and_confirms(perfdash, visit, person, sound):
    name, password = person
    page = visit(base_url=perfdash.state["base_url"].replace("127.0.0.1", "localhost"))
    sound.trouble.watch(page.context)
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    key = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
    }
    options = key | {"isUserVerified": True, "automaticPresenceSimulation": True}
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    sign_in(page, name, password)
    page.goto("/account/")
    leave(page, page.get_by_role("link", name="manage"))
    sound(page, "no passkeys")
    page.get_by_role("link", name="Add a passkey").click()
    confirm(page, password)
    sound(page, "new passkey")
    page.get_by_label("Name", exact=True).fill("this laptop")
    page.get_by_label("Sign in with it alone").check()
    page.get_by_role("button", name="Add it").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Recovery codes")
    page.goto("/account/second-factor/webauthn/")
    expect(page.get_by_role("cell", name="alone")).to_be_visible()
    sound(page, "passkeys")
    page.locator(".menu summary").click()
    page.get_by_role("button", name="Sign out").click()

    page.get_by_role("button", name="Sign in with a passkey").click()
    is_in(page, name)
    page.locator(".menu summary").click()
    page.get_by_role("button", name="Sign out").click()

    sign_in(page, name, password)
    sound(page, "second factor with a passkey")
    page.get_by_role("button", name="Use a passkey").click()
    is_in(page, name)
    page.goto("/account/second-factor/webauthn/")
    leave(page, page.get_by_role("link", name="Rename this laptop"))
    sound(page, "confirm by a recovery code")
    page.get_by_role("link", name="Use a passkey").click()
    sound(page, "confirm by a passkey")
    page.get_by_role("button", name="Use a passkey").click()
    sound(page, "rename a passkey")
    page.get_by_label("Name", exact=True).fill("the laptop")
    page.get_by_role("button", name="Save").click()
    leave(page, page.get_by_role("link", name="Remove the laptop"))
    sound(page, "remove a passkey")
    page.get_by_role("button", name="Remove it").click()
    expect(page.get_by_text("No passkey yet.")).to_be_visible()


def _stays(page):
    page.goto("/account/")
    page.wait_for_load_state(timeout=PATIENCE)
    return "/sign-in/" not in page.url
