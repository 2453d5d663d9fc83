"""A real OpenID Connect provider for tests: django-oauth-toolkit, in a process of its own on loopback."""

import re

import pytest
import requests
from django.test import Client

from campaigns.accounts.sign_in import oidc as signing
from campaigns.kit.rates import Rate
from campaigns.tests.accounts import oidc_server
from campaigns.tests.ports import free_port
from perfdash.oidc import Provider

BEGIN, BACK = "/sign-in/oidc/", "/sign-in/oidc/back/"


@pytest.fixture(scope="session")
def provider():
    with oidc_server.running(free_port(), f"http://testserver{BACK}") as process:
        yield process


def configured(provider, **changes):
    usual = {
        "issuer": provider.issuer, "client_id": oidc_server.CLIENT, "client_secret": oidc_server.SECRET,
        "name": "Staff", "everybody": True, "team": "", "roles": ("viewer",), "trusts_email": False,
        "seconds": 5.0,
    }  # fmt: skip
    return Provider(**(usual | changes))


@pytest.fixture
def oidc(provider, settings, monkeypatch):
    """Everybody of the provider may come in, as often as he likes; a function that changes the settings."""
    monkeypatch.setattr(signing, "TRIES", Rate(10_000, 60))
    settings.OIDC = configured(provider)

    def change(**changes):
        settings.OIDC = configured(provider, **changes)

    return change


def log_in_there(address, name):
    """Log in at the provider as a browser does; give where it sends the browser back to."""
    with requests.Session() as browser:
        page = browser.get(address, timeout=10)
        hidden = dict(re.findall(r'name="(csrfmiddlewaretoken|next)" value="([^"]*)"', page.text))
        hidden["next"] = hidden["next"].replace("&amp;", "&")
        sent = {**hidden, "username": name, "password": oidc_server.PASSWORD}
        answer = browser.post(page.url, data=sent, allow_redirects=False, timeout=10)
        while "Location" in answer.headers:
            where = requests.compat.urljoin(answer.url, answer.headers["Location"])
            if where.startswith("http://testserver/"):
                return where.removeprefix("http://testserver")
            answer = browser.get(where, allow_redirects=False, timeout=10)
    raise AssertionError(answer.text)


def by_provider(name, client=None, **query):
    """Sign in there; give the browser and what perfdash answers at the end."""
    client = client or Client()
    begun = client.get(BEGIN, query)
    return client, client.get(log_in_there(begun["Location"], name))


def refusal(answer):
    (text,) = re.findall(r'role="alert">.*?<span>(.*?)</span>', answer.content.decode(), re.DOTALL)
    return text
