"""Sources that are reached by SSH where their address begins with ssh://."""

import asyncssh
import pytest

from campaigns.models import Watch
from campaigns.targets.watches.rows import access_of

pytestmark = pytest.mark.django_db

PASSWORD = "seven-times"  # noqa: S105
LOGIN = {"username": "watcher", "password": PASSWORD}
HAPROXY = LOGIN | {
    "source": "haproxy",
    "address": "ssh://Proxy.example",
    "options": {"socket": "/run/haproxy/admin.sock"},
}
PUMA = LOGIN | {
    "source": "puma",
    "address": "ssh://web.example:2222",
    "options": {"state_file": "/run/puma.state"},
}


@pytest.fixture(autouse=True)
def _allowed(settings):
    settings.ALLOWED_ADDRESSES = "*.example:*"


@pytest.fixture
def post(api, target):
    """Define a watch."""
    return lambda sent: api.post(f"targets/{target.pk}/watches", sent)


def test_the_address_says_how_the_socket_is_reached(post):
    status, body = post(HAPROXY)
    assert (status, body["address"]) == (201, "ssh://proxy.example")
    access = access_of(Watch.objects.get(pk=body["id"]))
    assert str(access.ssh) == "watcher@proxy.example:22"
    assert access.ssh is not None
    assert (access.ssh.password, access.password) == (PASSWORD, "")

    status, body = post(HAPROXY | {"address": "http://proxy.example:8404"})
    assert status == 201, body
    access = access_of(Watch.objects.get(pk=body["id"]))
    assert (access.ssh, access.password) == (None, PASSWORD)


def test_a_login_by_ssh_stays_with_its_machine(api, post, target):
    one = f"targets/{target.pk}/watches/{post(HAPROXY)[1]['id']}"
    _, changed = api.patch(one, {"address": "http://proxy.example:8404/stats"})
    assert changed["address"] == "http://proxy.example:8404/stats"
    assert not changed["has_password"]
    status, body = api.patch(one, {"address": "ssh://proxy.example"})
    assert status == 400, body
    assert "Give a private key or a password." in str(body)


def test_another_watch_takes_the_login_that_was_given_for_the_machine(post):
    post(HAPROXY)
    status, body = post(PUMA | {"address": "ssh://proxy.example", "password": ""})
    assert status == 201, body
    assert body["has_password"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"username": ""}, "username"),
        ({"password": ""}, "key"),
        ({"options": {}}, "state_file"),
        ({"address": "ssh://web.example/run"}, "address"),
    ],
)
def test_what_an_address_by_ssh_needs_is_told(post, change, field):
    status, body = post(PUMA | change)
    assert status == 400, body
    assert [each["field"] for each in body["errors"] if field in each["field"]], body


def test_another_address_takes_no_key(post):
    key = asyncssh.generate_private_key("ssh-ed25519").export_private_key().decode()
    assert post(PUMA | {"key": key})[0] == 201
    status, body = post(PUMA | {"key": key, "address": "http://web.example:9293"})
    assert status == 400, body
    assert "Only an address that begins with ssh:// takes a key." in str(body)


@pytest.mark.parametrize(
    ("sent", "source", "address"),
    [
        (HAPROXY | {"source": "haproxy_ssh", "address": "proxy.example"}, "haproxy", "ssh://proxy.example"),
        (PUMA | {"source": "puma_ssh", "address": "web.example:2222"}, "puma", "ssh://web.example:2222"),
    ],
)  # fmt: skip
def test_a_script_that_sends_the_earlier_name_goes_on(post, sent, source, address):
    status, body = post(sent)
    assert status == 201, body
    assert (body["source"], body["address"]) == (source, address)
