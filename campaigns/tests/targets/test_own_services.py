"""perfdash's own services are out of reach by name, and by what the name resolves to."""

import pytest

from campaigns.kit import name_service, own_services
from campaigns.kit.network import Refused, check_url
from campaigns.kit.own_services import own_addresses

BROKER = (("redis", 6379),)


@pytest.fixture(autouse=True)
def asked(monkeypatch, settings):
    """Every host that was asked for."""
    hosts: list[str] = []

    def resolve(host):
        hosts.append(host)
        return frozenset({"172.18.0.3", "fd00::3"})

    monkeypatch.setattr(name_service, "resolve", resolve)
    monkeypatch.setattr(own_services, "_known", {})
    settings.OWN_ADDRESSES = BROKER
    settings.ALLOWED_ADDRESSES = "172.16.0.0/12:*, [fd00::]/8:*"
    return hosts


@pytest.mark.parametrize("host", ["172.18.0.3", "[fd00::3]", "[::ffff:172.18.0.3]", "redis"])
def test_a_service_known_by_name_is_refused_by_its_address_too(host):
    with pytest.raises(Refused, match="a service of perfdash itself"):
        own_services.installation_rules().check(
            host.strip("[]") if host != "redis" else "172.18.0.3", 6379, host.strip("[]")
        )


def test_its_other_ports_and_other_addresses_are_left_to_the_rules():
    rules = own_services.installation_rules()

    check_url("http://172.18.0.3:6380/", rules)
    check_url("http://172.18.0.4:6379/", rules)


def test_the_name_service_is_asked_once_a_minute(asked, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(own_services, "monotonic", lambda: now[0])

    for now[0] in (0.0, 1.0, 59.0):
        own_addresses()
    assert asked == ["redis"]

    now[0] = 61.0
    own_addresses()
    assert asked == ["redis", "redis"]


def test_a_name_that_is_unknown_fails_nothing_and_keeps_what_was_known(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(own_services, "monotonic", lambda: now[0])
    known = own_addresses()

    def unknown(host):
        raise OSError("no such name")

    monkeypatch.setattr(name_service, "resolve", unknown)
    now[0] = 100.0
    assert own_addresses() == known

    own_services._known.clear()
    assert own_addresses() == list(BROKER)


def test_addresses_and_localhost_are_not_asked_for(asked, settings):
    settings.OWN_ADDRESSES = (("127.0.0.1", 5432), ("::1", 80), ("localhost", 81))

    assert own_addresses() == list(settings.OWN_ADDRESSES)
    assert not asked


def test_a_name_of_this_machine_stands_for_all_of_loopback(monkeypatch):
    monkeypatch.setattr(name_service, "resolve", lambda host: frozenset({"127.0.1.1"}))

    assert ("localhost", 6379) in own_addresses()
