from base64 import b32decode, b32encode
from secrets import token_bytes

from allauth.mfa.models import Authenticator
from allauth.mfa.utils import encrypt
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP
from django.test import Client
from django.utils import timezone

from campaigns.accounts import second_factor
from campaigns.models import AuditEvent
from campaigns.tests.accounts.sign_in.at_provider import oidc, provider
from campaigns.tests.browsing import PASSWORD, browser, person

__all__ = ["browser", "oidc", "person", "provider"]

CODE = "/account/second-factor/authenticate/"


def code_of(secret, later=0):
    """What an app shows so many periods from now."""
    seconds = int(timezone.now().timestamp()) + later * second_factor.PERIOD_SECONDS
    app = TOTP(b32decode(secret), 6, SHA1(), second_factor.PERIOD_SECONDS)  # noqa: S303
    return app.generate(seconds).decode()


def switched_on(user):
    """Give the account a second factor whose code of now is still good; return its secret and recovery codes."""
    secret = b32encode(token_bytes(20)).decode()
    Authenticator.objects.create(user=user, type="totp", data={"secret": encrypt(secret)})
    codes = Authenticator.objects.create(
        user=user,
        type="recovery_codes",
        data={"seed": encrypt(token_bytes(40).hex()), "used_mask": 0},
    )
    return secret, codes.wrap().get_unused_codes()


def typed(client, name="reviewer", password=PASSWORD, **named):
    """Send name and password."""
    return client.post("/sign-in/", {"login": name, "password": password}, **named)


def is_in(client):
    return client.get("/account/").status_code == 200


def actions():
    return list(AuditEvent.objects.order_by("pk").values_list("action", flat=True))


def come_in(name="reviewer", **named):
    """A browser of its own that has signed in."""
    client = Client(**named)
    assert typed(client, name)["Location"] == "/"
    assert is_in(client)
    return client
