import pytest
from django.test import RequestFactory

from perfdash.clients import client_address


def seen(peer, forwarded=None):
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    return client_address(RequestFactory(REMOTE_ADDR=peer).get("/", headers=headers))


def test_without_a_proxy_nobody_chooses_an_address(settings):
    settings.BEHIND_PROXY = False

    assert seen("192.0.2.7", "203.0.113.5") == "192.0.2.7"


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        ("203.0.113.5", "203.0.113.5"),
        ("10.1.1.1, 198.51.100.9, 203.0.113.5", "203.0.113.5"),
        ("203.0.113.5, forged", None),
        ("", "192.0.2.7"),
        (None, "192.0.2.7"),
    ],
)
def test_behind_a_proxy_the_word_that_it_added_counts(settings, forwarded, address):
    settings.BEHIND_PROXY = True

    assert seen("192.0.2.7", forwarded) == address


@pytest.mark.parametrize(
    ("peer", "address"),
    [
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("", None),
        ("unix:", None),
    ],
)
def test_a_network_of_one_client_counts_as_one(peer, address):
    assert seen(peer) == address
