"""What every answer says to browsers."""

import pytest

from perfdash.headers import CONTENT_SECURITY_POLICY


def directives(answer):
    policy = answer.headers["Content-Security-Policy"]
    return {name: text for name, *text in (part.split() for part in policy.split("; "))}


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path", ["/sign-in/", "/nothing/", "/api/v1/nothing", "/static/campaigns/style.css"]
)
def test_every_answer_forbids_what_is_inline_or_from_elsewhere(client, path):
    answer = client.get(path)
    answer.close()  # a file, where it is one

    policy = directives(answer)
    assert policy["default-src"] == ["'none'"]
    assert policy["script-src"] == policy["style-src"] == ["'self'"]
    assert (
        policy["script-src-attr"] == policy["frame-ancestors"] == policy["base-uri"] == ["'none'"]
    )


def test_only_style_attributes_may_be_inline_and_nothing_is_evaluated():
    loose = [part for part in CONTENT_SECURITY_POLICY.split("; ") if "unsafe" in part]

    assert loose == ["style-src-attr 'unsafe-inline'"]


@pytest.mark.django_db
def test_pages_are_not_framed_sniffed_shared_or_named_to_others(client):
    headers = client.get("/sign-in/").headers

    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "camera=()" in headers["Permissions-Policy"]
