"""Jobs on virtual hosts that are SSH servers: the simulated Katello logs in to them with a real client, and they answer."""

import socket
from dataclasses import replace

import pytest

from campaigns.kinds.base import (
    DriverError,
    GeneratorFailed,
    HostIdentity,
    NotClean,
    Target,
    TargetUnavailable,
)
from campaigns.kinds.hosts.answering_ssh import new_host_key
from campaigns.kinds.remote_execution import driver as kind
from campaigns.kinds.remote_execution import virtual_ssh, watching
from campaigns.kinds.remote_execution.driver import driver
from campaigns.kinds.remote_execution.form import ANSIBLE_DEFAULT, RemoteExecutionForm
from campaigns.kinds.remote_execution.virtual_ssh import NobodyLoggedIn
from campaigns.kinds.servers import katello as client_of
from campaigns.kinds.servers import ssh_hosts
from campaigns.kit.http.credentials import Tls
from campaigns.tests.kinds.foreman_place import when
from campaigns.tests.kinds.remote_execution.place import RULES, Place, parameters
from campaigns.tests.ports import free_port, free_ports
from sandbox.process import running
from sandbox.tests.katello.tls import REGISTER, Client, described

pytestmark = pytest.mark.system
HOSTS = 8
POPULATION = 3
SESSIONS = 13


@pytest.fixture(scope="module")
def simulator():
    settings = {"hosts": 5, "job_plan_seconds": 0.0, "iso": True, "cancel_seconds": 0}
    with running(katello=settings) as sandbox:
        yield sandbox.katello


def registered(simulator, count):
    """Register hosts as a population has them."""
    client = Client(simulator)
    for number in range(count):
        name = f"perfdash-0a1b2c3d-p{POPULATION}-{number:05}.perfdash.example"
        consumer = client.ask("POST", REGISTER, described(name)).json
        yield HostIdentity(consumer["uuid"], "", "", name)
    client.close()


@pytest.fixture
def place(simulator, tmp_path, monkeypatch):
    monkeypatch.setattr(client_of, "SHORTEST_WAIT", 0.02)
    monkeypatch.setattr(watching, "FIRST_LOOK_SECONDS", 0.05)
    monkeypatch.setattr(watching, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(kind, "PAGE_REST_SECONDS", 0.0)
    simulator.renew()
    hosts = list(registered(simulator, HOSTS))
    target = Target(
        *("simulator", "katello", simulator.base_url, "admin", "password"),
        tls=Tls(ca_bundle=simulator.ca()),
    )
    yield Place(
        driver,
        replace(target, installation="0a1b2c3d"),
        tmp_path,
        hosts_of=lambda _, most: hosts[:most],
    )
    simulator.renew()


@pytest.fixture
def values(simulator):
    """Return the parameters of a job on the virtual hosts; keywords change them."""
    first_port = free_ports(HOSTS)

    def given(**changes):
        virtual = {
            "hosts": HOSTS,
            "hosts_are": "virtual_ssh",
            "population": POPULATION,
            "proxy_url": simulator.tls_url,
            "address": "127.0.0.1",
            "first_port": first_port,
        }
        return parameters(**virtual | changes)

    return given


def shown(place, search=f"name ~ p{POPULATION}-"):
    """Return the hosts with their parameters, as Foreman shows them."""
    path = f"/api/v2/hosts?include=parameters&per_page=100&search={search.replace(' ', '+')}"
    return place.send("GET", path)["results"]


def test_a_smart_proxy_logs_in_to_virtual_hosts(place, simulator, values):
    given = values()
    measured, proofs = place.run(given)

    assert measured.failure == ""
    assert measured.values["success"] == 100
    assert all(proof.ok for proof in proofs), proofs
    found = {proof.name: proof.measured for proof in proofs}
    assert found["different scripts (SHA-256)"] == 1
    assert found["virtual hosts to which the smart proxy logged in"] == HOSTS
    assert found["commands that no smart proxy sends"] == 0
    assert measured.health.figures["sessions"] == HOSTS * SESSIONS
    assert measured.health.figures["refused"] == 0
    told = simulator.told()["ssh"]
    assert told == {"known_hosts": HOSTS, "logins": HOSTS, "sessions": HOSTS * SESSIONS}
    ports = f"127.0.0.1, ports {given['first_port']} to {given['first_port'] + HOSTS - 1}"
    assert f"{HOSTS} virtual hosts listen at {ports}" in place.lines
    assert f"Foreman is told where it reaches {HOSTS} hosts: {ports}" in place.lines


def test_foreman_is_told_once_where_it_reaches_a_host(place, values):
    given = values()
    *_, first = place.begin(given)[1]
    place.lines.clear()
    place.attempt += 1
    *_, second = place.begin(given)[1]

    assert place.lines == []
    for setting in (first, second):
        assert setting.ok
        assert (setting.asked, setting.in_force) == (HOSTS, HOSTS)
    for number, host in enumerate(sorted(shown(place), key=lambda host: host["name"])):
        assert host["ip"] == "127.0.0.1"
        assert {each["name"]: each["value"] for each in host["parameters"]} == {
            "remote_execution_ssh_port": given["first_port"] + number,
            "remote_execution_connect_by_ip": True,
            "remote_execution_connect_by_ip_prefer_ipv6": False,
        }


def test_other_ports_are_told_anew_and_other_parameters_stay(place, values):
    given = values()
    place.begin(given)
    [host] = shown(place, "name ~ p3-00002")
    others = [*host["parameters"], {"name": "rack", "value": "7", "parameter_type": "string"}]
    place.send(
        "PUT", f"/api/v2/hosts/{host['id']}", {"host": {"host_parameters_attributes": others}}
    )

    place.attempt += 1
    place.begin(values(first_port=given["first_port"] + 1, hosts=4))

    [host] = shown(place, "name ~ p3-00002")
    found = {each["name"]: each["value"] for each in host["parameters"]}
    assert (found["remote_execution_ssh_port"], found["rack"]) == (given["first_port"] + 3, "7")
    [last] = shown(place, "name ~ p3-00007")  # it has no part in the job
    ports = {each["name"]: each["value"] for each in last["parameters"]}
    assert ports["remote_execution_ssh_port"] == given["first_port"] + 7


def test_the_proxy_knows_the_hosts_of_each_run_again(place, simulator, values):
    given = values(hosts=3)
    for _ in range(2):
        measured, _ = place.run(given)
        assert measured.values["success"] == 100
        place.attempt += 1

    assert simulator.told()["ssh"]["known_hosts"] == 3


def test_a_script_takes_as_long_as_the_campaign_says(place, values):
    measured, _ = place.run(values(hosts=4, script_seconds=0.5))

    assert measured.values["host_time_p50"] >= 0.5


def test_the_slots_of_the_proxy_let_hosts_take_turns(place, simulator, values):
    simulator.set("rex_slots", 2)

    measured, _ = place.run(values(script_seconds=0.2))

    assert measured.values["success"] == 100
    assert measured.values["job_duration"] >= HOSTS / 2 * 0.2


def test_a_proxy_that_knows_another_host_key_is_told(place, simulator, values):
    given = values(hosts=3)
    place.run(given)
    place.attempt += 1
    place.begin(given)
    key = new_host_key()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(virtual_ssh, "host_key_of", lambda installation: key)
        with pytest.raises(NobodyLoggedIn) as told:
            place.measure(given)

    assert told.value.void
    assert told.value.lasting
    port = given["first_port"]
    assert str(told.value).startswith(
        "The smart proxy logged in to none of the 3 virtual hosts: it connected, and left before it showed a key. It knows another host "
        f"key of 127.0.0.1: remove the lines of this address from known_hosts of the user foreman-proxy on it (ssh-keygen -R '[127.0.0.1]:{port}'"
    )
    simulator.clear_known_hosts()
    place.attempt += 1
    place.begin(given)
    assert place.measure(given).values["success"] == 100


def test_a_proxy_with_another_key_is_told(place, values, monkeypatch):
    given = values(hosts=3)
    place.begin(given)
    stranger = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIqO0hS1mvNfNKDpHXLwhZ5AkSy3yRSEwyjc9p8jsLx9"
    monkeypatch.setattr(virtual_ssh, "keys_of", lambda *_: [stranger])

    with pytest.raises(NobodyLoggedIn, match=r"it showed another key than https://.* tells at"):
        place.measure(given)


def test_hosts_that_nobody_reaches_are_told(place, simulator, values):
    given = values(hosts=3)
    place.begin(given)
    for host in shown(place):
        changed = {"name": ssh_hosts.PORT, "value": free_port(), "parameter_type": "integer"}
        kept = [each for each in host["parameters"] if each["name"] != ssh_hosts.PORT]
        place.send(
            "PUT", f"/api/v2/hosts/{host['id']}", {"host": {"host_parameters_attributes": [*kept, changed]}}
        )  # fmt: skip

    with pytest.raises(NobodyLoggedIn, match=r"nobody connected to 127\.0\.0\.1, ports \d+ to"):
        place.measure(given)


def test_hosts_without_a_smart_proxy_have_failed_and_are_not_told_as_unreached(
    place, simulator, values
):
    simulator.set("rex_fail_share", 1)
    simulator.behave(job_failure="planning", mqtt_broker=f"127.0.0.1:{free_port()}")
    given = values(hosts=3) | {"time_to_pickup_seconds": 1}
    place.begin(given)

    measured = place.measure(given)  # nobody of them is told, as none is in the mode ssh

    assert measured.failures == {"pickup": 3}


def test_a_cancelled_run_ends_what_the_proxy_does(place, simulator, values):
    given = values(script_seconds=60)
    place.begin(given)
    cancelling = when(
        lambda: simulator.told()["ssh"].get("logins", 0) == HOSTS, place.cancelled.set
    )
    with pytest.raises(Exception) as ended:  # noqa: PT011
        place.measure(given)
    cancelling.join()
    assert type(ended.value).__name__ == "Cancelled"

    place.cancelled.clear()
    place.clean_up(given)
    assert simulator.told()["jobs"]["running"] == 0


def test_a_job_that_outlasts_the_run_has_failed_and_is_not_void(place, simulator, values):
    given = values(script_seconds=60)
    place.deadline_seconds = 1.0

    place.begin(given)
    measured = place.measure(given)

    assert "within the time of the run: 0 of 8 hosts" in measured.failure
    assert simulator.told()["jobs"]["running"] == 0


def test_a_port_in_use_makes_the_run_void(place, values):
    given = values(hosts=2)
    place.begin(given)
    with (
        socket.create_server(("127.0.0.1", given["first_port"])),
        pytest.raises(GeneratorFailed, match="1 of 2 virtual hosts cannot listen"),
    ):
        place.measure(given)


def test_a_launch_tells_what_is_missing(place, simulator, values):
    driver.look(place.target, values(), RULES)

    with pytest.raises(DriverError, match="is one of Ansible, and virtual hosts answer"):
        driver.look(place.target, values(template=ANSIBLE_DEFAULT), RULES)
    with pytest.raises(TargetUnavailable, match="The smart proxy has to tell its public key there"):
        driver.look(place.target, values(proxy_url=f"https://127.0.0.1:{free_port()}"), RULES)
    simulator.behave(may_edit_hosts=False)
    with pytest.raises(DriverError, match=r"may not change hosts.*give the user edit_hosts"):
        driver.look(place.target, values(), RULES)
    simulator.behave(may_edit_hosts=True, may_view_parameters=False)
    with pytest.raises(DriverError, match="view_params"):
        driver.look(place.target, values(), RULES)
    with pytest.raises(NotClean, match="Give the target's user view_params"):
        place.begin(values())


@pytest.mark.parametrize(
    ("changes", "name", "words"),
    [
        ({"population": ""}, "population", "the number of a population"),
        ({"proxy_url": ""}, "proxy_url", "the address of the smart proxy"),
        ({"address": ""}, "address", "an IP address of the worker"),
        ({"address": "worker.example"}, "address", "such as 192.0.2.10"),
        ({"address": "0.0.0.0"}, "address", "no address of one machine"),  # noqa: S104
        ({"first_port": "22"}, "first_port", "greater than or equal to 1024"),
        ({"first_port": "65530"}, "first_port", "a first port of at most 65528"),
        ({"hosts": 2001}, "hosts", "at most 2,000 virtual hosts that are SSH servers"),
    ],
    ids=["population", "proxy", "no address", "name", "any", "low port", "high port", "hosts"],
)
def test_what_virtual_hosts_need_is_asked_for(values, changes, name, words):
    initial = {key: each.initial for key, each in RemoteExecutionForm.base_fields.items()}
    form = RemoteExecutionForm(initial | values() | changes)

    assert words in str(form.errors[name])


def test_no_broker_is_needed(values):
    given = values()

    assert given["broker"] == ""
    assert driver.reads(given) == {"proxy_url": [given["proxy_url"]]}
