"""Where a Foreman reaches a host by SSH, as its list of hosts shows it."""

import asyncssh
import pytest

from campaigns.kinds.hosts.answering_ssh import host_key_of, new_host_key
from campaigns.kinds.servers.ssh_hosts import Place, ReachedHost
from campaigns.kit.ssh.keys import fingerprint_of

pytestmark = pytest.mark.unit
V4, V6 = Place("192.0.2.10", 22005), Place("2001:db8::10", 22005)


def public(key):
    return asyncssh.import_private_key(key).export_public_key().decode()


def host(place, ip="", ip6="", **changes):
    values = place.parameters | changes
    rows = [{"name": name, "value": value} for name, value in values.items() if value is not None]
    return ReachedHost(1, "perfdash-1.example", {"ip": ip, "ip6": ip6}, rows)


@pytest.mark.parametrize(
    ("found", "place"),
    [
        (host(V4, ip="192.0.2.10"), V4),
        (host(V6, ip="10.0.0.1", ip6="2001:db8:0::10"), V6),
        (host(V4, ip="192.0.2.10", remote_execution_ssh_port="22005"), V4),
        (host(V4, ip="192.0.2.10", rack="7"), V4),
    ],
    ids=["v4", "v6 beside v4", "a text", "other parameters"],
)
def test_a_host_is_where_it_shall_be(found, place):
    assert found.is_at(place)


@pytest.mark.parametrize(
    "found",
    [
        host(V4, ip="192.0.2.11"),
        host(V4),
        host(V4, ip="192.0.2.10", remote_execution_ssh_port=22006),
        host(V4, ip="192.0.2.10", remote_execution_ssh_port=None),
        host(V4, ip="192.0.2.10", remote_execution_connect_by_ip=False),
        host(V6, ip="192.0.2.10", ip6="2001:db8::10"),
    ],
    ids=["address", "no address", "port", "no port", "by name", "IPv6 preferred"],
)
def test_a_host_is_elsewhere(found):
    assert not found.is_at(V4)


def test_the_host_key_of_an_installation_never_changes():
    known = "SHA256:pTpLGGXFY7EZnC+nXtkceebg8KVWXFC6/95Jrq8+JnM"
    assert fingerprint_of(public(host_key_of("0a1b2c3d"))) == known
    assert public(host_key_of("0a1b2c3e")) != public(host_key_of("0a1b2c3d"))
    assert public(new_host_key()) != public(new_host_key())
