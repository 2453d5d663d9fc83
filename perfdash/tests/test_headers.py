"""What every answer says to browsers."""

import pytest


@pytest.mark.django_db
def test_every_page_forbids_scripts_from_elsewhere(client):
    answer = client.get("/sign-in/")

    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "script-src" not in policy
    assert "frame-ancestors 'none'" in policy
