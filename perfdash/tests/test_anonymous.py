"""What answers to somebody who is not signed in: a list, and nothing beside it."""

import pytest
from django.test import Client
from django.urls import URLPattern, get_resolver

PUBLIC = {
    "/sign-in/",
    "/sign-in/link/x/",
    "/sign-out/",  # also gives up a sign-in that waits for its second factor
    "/account/second-factor/authenticate/",  # only leads back, where no password came before
    "/account/second-factor/webauthn/login/",
    "/sign-in/oidc/",  # not there, where no provider is configured
    "/sign-in/oidc/back/",
    "/sign-in/invitation/x/",
    "/sign-in/reset/",  # not there, where no mail server is configured
    "/sign-in/reset/code/",
    "/sign-in/reset/password/",
    "/sign-in/reset/done/",
    "/health",
    "/ready",
    "/api/v1/schemas/campaign.json",
    "/public/x/",
    "/hooks/x/",  # takes signed messages of other servers alone
}
"""The schema is for editors, which have no token, and tells nothing of this installation.

A public link shows one accepted report, and a wrong one nothing: campaigns/tests/reviews/reports/test_links.py.

And /metrics, on this machine only; campaigns/tests/overview/pages/test_metrics.py."""
API_PAGE = "/api/v1/docs"
METHODS = ("get", "head", "post", "put", "patch", "delete")
EXAMPLES = {
    "pk": "1",
    "position": "1",
    "token": "x",
    "chart": "curve",
    "plot": "samples",
    "kind": "sync",
    "number": "1",
    "source": "ssh",
    "name": "x",
    "exclusion": "1",
    "user": "x",
    "link": "1",
    "page": "api",
    "word": "acknowledge",
}


def routes(patterns=None, prefix="/"):
    """An address of every route there is."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        text = str(pattern.pattern)
        for name, converter in pattern.pattern.converters.items():
            kind = {"int": "int", "string": "str", "path": "path", "slug": "slug"}[
                converter.__class__.__name__[:-9].lower()
            ]
            text = text.replace(f"<{kind}:{name}>", EXAMPLES[name])
        text = text.removeprefix("^").removesuffix("/?$")
        if isinstance(pattern, URLPattern):
            yield prefix + text
        else:
            yield from routes(pattern.url_patterns, prefix + text)


ROUTES = sorted(set(routes()))


def test_the_scan_sees_every_kind_of_route():
    assert {"/", "/api/v1/campaigns/1/launch", "/campaigns/1/runs/1/", "/metrics"} <= set(ROUTES)
    assert not [route for route in ROUTES if set(route) & set("<>^$?*")]
    assert set(ROUTES) >= PUBLIC
    assert len(ROUTES) > 60


@pytest.mark.django_db
def test_nobody_comes_in_without_signing_in(subtests):
    client = Client(REMOTE_ADDR="192.0.2.1")

    for route in ROUTES:
        if route in PUBLIC:
            continue
        with subtests.test(route):
            for method in METHODS:
                answer = getattr(client, method)(route)
                if (route.startswith("/api/") and route != API_PAGE) or route == "/metrics":
                    assert answer.status_code in (401, 405), method
                else:
                    assert answer.status_code == 302, method
                    assert answer["Location"].startswith("/sign-in/?next=")
