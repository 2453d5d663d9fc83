"""What is asked of hosts, organizations, keys and commands, on the simulator; and what Foreman writes."""

import pytest

from campaigns.kinds.servers import foreman_hosts
from campaigns.kinds.servers.candlepin import Candlepin, place_of
from campaigns.kinds.servers.katello import Katello
from campaigns.kit.http.connection import Connection
from campaigns.kit.http.credentials import Login, Tls
from campaigns.kit.http.errors import Answered, LoginRefused, Strange
from campaigns.kit.network import parse_rules
from sandbox.process import running

pytestmark = pytest.mark.system

WRITTEN = (
    "set -o pipefail && curl --silent --show-error  --insecure 'https://server/register?activation_keys="
    "bench-ak&force=true&location_id=2' --header 'Authorization: Bearer eyJ0.eyJ1.c2ln-_' | bash"
)


@pytest.fixture(scope="module")
def simulator():
    with running(katello={}) as sandbox:
        yield sandbox.katello


@pytest.fixture
def connection(simulator):
    made = Connection(
        simulator.tls_url, parse_rules("127.0.0.1:*"), tls=Tls(ca_bundle=simulator.ca())
    )
    yield made
    made.close()


@pytest.fixture
def katello(connection, simulator):
    return Katello(connection, simulator.tls_url, Login("admin", "password"))


def test_a_command_as_foreman_writes_it_gives_url_and_token():
    url = foreman_hosts.URL_IN_QUOTES.search(WRITTEN)
    token = foreman_hosts.BEARER.search(WRITTEN)

    assert url
    assert token
    assert url[1] == "https://server/register?activation_keys=bench-ak&force=true&location_id=2"
    assert token[1] == "eyJ0.eyJ1.c2ln-_"


def test_a_command_is_asked_for_and_its_token_is_not_shown(katello, simulator):
    command = foreman_hosts.command_for(
        katello, {"organization_id": 1, "activation_keys": ["bench-ak"]}
    )

    assert command.path.startswith("/register?activation_keys=bench-ak")
    assert command.origin == simulator.tls_url
    assert command.token not in repr(command)


def test_a_command_without_a_key_is_refused_in_foremans_words(katello):
    with pytest.raises(Answered, match="Missing activation key!"):
        foreman_hosts.command_for(katello, {"organization_id": 1, "activation_keys": []})


def test_organizations_are_found_by_label_and_their_keys_by_name(katello):
    organization = foreman_hosts.organization_of(katello, "ACME")
    assert organization
    keys = foreman_hosts.activation_keys_of(katello, organization)

    assert foreman_hosts.organization_of(katello, "acme") is None
    assert keys["bench-ak"].most is None
    assert keys["few-ak"].most == 10
    assert "other-ak" not in keys


def test_settings_are_told_by_name_and_those_that_are_not_there_left_out(katello):
    told = foreman_hosts.settings_of(katello, ("host_profile_assume", "no_such_setting"))

    assert told == {"host_profile_assume": "True"}


def test_a_host_without_a_name_is_strange():
    with pytest.raises(Strange, match="A host cannot be read"):
        foreman_hosts._host({"id": 1})


def test_a_candlepin_without_a_login_tells_its_status_alone(connection, simulator):
    candlepin = Candlepin(connection, f"{simulator.tls_url}/candlepin", Login())

    assert candlepin.status()["mode"] == "NORMAL"
    with pytest.raises(LoginRefused):
        candlepin.has_owner("ACME")


def test_deleting_a_consumer_that_is_gone_is_no_error(connection, simulator):
    login = Login("admin", "password")
    candlepin = Candlepin(connection, f"{simulator.tls_url}/candlepin", login)

    candlepin.delete("00000000-0000-0000-0000-000000000000")
    assert candlepin.has_owner("ACME")
    assert not candlepin.has_owner("X")
    assert "bench-ak" in candlepin.activation_keys("ACME")


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://c:23443", "/candlepin"),
        ("https://c:23443/candlepin/", "/candlepin"),
        ("https://p/rhsm", "/rhsm"),
    ],
)
def test_a_candlepin_stands_where_its_url_says(url, place):
    assert place_of(url) == place
