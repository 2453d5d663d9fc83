from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.test import Client
from django.utils import timezone

from campaigns.accounts import second_factor
from campaigns.models import AuditEvent
from campaigns.tests.accounts.signing.at_provider import oidc, provider
from campaigns.tests.browsing import PASSWORD, browser, person

__all__ = ["browser", "oidc", "person", "provider"]


def code_of(secret, later=0):
    """What an app shows so many periods from now."""
    counter = int(timezone.now().timestamp()) // second_factor.PERIOD_SECONDS + later
    return format_hotp_value(hotp_value(secret, counter))


def switched_on(user):
    """Switch the second factor on with the code of the period before: that of now is still good."""
    secret = second_factor.new_secret()
    return secret, second_factor.switch_on(user, secret, code_of(secret, -1))


def typed(client, name="reviewer", password=PASSWORD, **named):
    """Send name and password."""
    return client.post("/sign-in/", {"username": name, "password": password}, **named)


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
