"""Jobs on virtual hosts: the simulated Katello, Debian's mosquitto and the hosts that perfdash holds, all for real."""

from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from campaigns.kinds.base import DriverError, HostIdentity, NotClean, Target, TargetUnavailable
from campaigns.kinds.remote_execution import driver as kind
from campaigns.kinds.remote_execution import preparing, watching
from campaigns.kinds.remote_execution.driver import driver
from campaigns.kinds.remote_execution.form import RemoteExecutionForm
from campaigns.kinds.servers import katello as client_of
from campaigns.kit.http.credentials import Tls
from campaigns.tests.kinds.hosts import pull_mqtt
from campaigns.tests.kinds.hosts.pull_mqtt import MOSQUITTO, mosquitto
from campaigns.tests.kinds.remote_execution.place import RULES, Place, parameters
from campaigns.tests.ports import free_port
from sandbox.katello.site import PROXY_NAME
from sandbox.process import running
from sandbox.tests.katello.tls import REGISTER, Client, described

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(not MOSQUITTO, reason="mosquitto is not installed"),
]
HOSTS = 8
POPULATION = 3


@dataclass
class Ca:
    """The authority of the simulator, as the broker needs it."""

    directory: Path
    file: Path
    certificate: str

    def server(self) -> Path:
        file = self.directory / "server.pem"
        file.write_text(self.certificate)
        return file


@pytest.fixture(scope="module")
def simulator():
    settings = {"hosts": 5, "job_plan_seconds": 0.0, "iso": True, "cancel_seconds": 0}
    with running(katello=settings) as sandbox:
        yield sandbox.katello


@pytest.fixture(scope="module")
def broker(simulator, tmp_path_factory):
    place = tmp_path_factory.mktemp("broker")
    (place / "ca.pem").write_text(simulator.ca())
    authority = Ca(place, place / "ca.pem", simulator.broker_certificate())
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setattr(pull_mqtt, "ACL", pull_mqtt.ACL.replace(pull_mqtt.PROXY_NAME, PROXY_NAME))
        yield stack.enter_context(mosquitto(place / "mosquitto", authority))


def registered(simulator, count):
    """Register hosts as a population has them."""
    client = Client(simulator)
    for number in range(count):
        name = f"perfdash-0a1b2c3d-p{POPULATION}-{number:05}.perfdash.example"
        consumer = client.ask("POST", REGISTER, described(name)).json
        yield HostIdentity(
            consumer["uuid"], consumer["idCert"]["cert"], consumer["idCert"]["key"], name
        )
    client.close()


@pytest.fixture
def place(simulator, broker, tmp_path, monkeypatch):
    monkeypatch.setattr(client_of, "SHORTEST_WAIT", 0.02)
    monkeypatch.setattr(watching, "FIRST_LOOK_SECONDS", 0.05)
    monkeypatch.setattr(watching, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(kind, "PAGE_REST_SECONDS", 0.0)
    simulator.renew()
    simulator.behave(mqtt_broker=f"127.0.0.1:{broker.port}")
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
def values(simulator, broker):
    """Return the parameters of a job on the virtual hosts; keywords change them."""

    def given(**changes):
        virtual = {
            "hosts": HOSTS,
            "hosts_are": "virtual",
            "population": POPULATION,
            "broker": f"127.0.0.1:{broker.port}",
            "proxy_url": simulator.tls_url,
        }
        return parameters(**virtual | changes)

    return given


def test_virtual_hosts_answer_a_job(place, simulator, values):
    measured, proofs = place.run(values())

    assert measured.failure == ""
    assert all(proof.ok for proof in proofs), proofs
    assert measured.values["success"] == 100
    assert measured.health.figures["hosts_connected"] == HOSTS
    assert {proof.name: proof.measured for proof in proofs}["different scripts (SHA-256)"] == 1
    assert f"{HOSTS} virtual hosts are connected to the broker" in place.lines
    assert simulator.told()["pull"] == {"open": 0, "published": HOSTS, "not_published": 0}


def test_a_job_on_some_of_a_population_runs_on_the_first(place, values):
    measured, _ = place.run(values(hosts=3))

    names = [f"perfdash-0a1b2c3d-p{POPULATION}-{number:05}.perfdash.example" for number in range(3)]
    assert sorted(measured.samples["host"]) == names


def test_a_script_takes_as_long_as_the_campaign_says(place, values):
    measured, _ = place.run(values(script_seconds=0.5))

    assert measured.values["host_time_p50"] >= 0.5


def test_a_limit_of_the_proxy_lets_hosts_take_turns(place, simulator, values):
    simulator.set("mqtt_rate_limit", 2)

    measured, _ = place.run(values(script_seconds=0.2))

    assert measured.values["success"] == 100
    assert measured.values["job_duration"] >= HOSTS / 2 * 0.2


def test_a_host_that_was_not_told_is_told_again(place, simulator, broker, values):
    simulator.set("mqtt_ttl", 1)
    simulator.set("mqtt_resend_interval", 1)
    simulator.behave(mqtt_broker=f"127.0.0.1:{free_port()}")

    def mend():
        simulator.behave(mqtt_broker=f"127.0.0.1:{broker.port}")

    place.begin(values())
    place.on_progress = lambda: mend() if simulator.told()["pull"]["not_published"] else None
    measured = place.measure(values())

    assert measured.values["success"] == 100
    assert simulator.told()["pull"]["not_published"] == HOSTS


def test_hosts_that_do_not_fetch_their_job_in_time_have_failed(place, simulator, values):
    simulator.behave(mqtt_broker=f"127.0.0.1:{free_port()}")
    given = values() | {"time_to_pickup_seconds": 1}

    place.begin(given)
    measured = place.measure(given)

    assert measured.failures == {"pickup": HOSTS}
    assert measured.values["success"] == 0
    proofs = driver.verify(place.target, given, place.context(), measured)
    assert all(proof.ok for proof in proofs), proofs


def test_a_broker_that_is_not_there_makes_the_run_void(place, values):
    given = values(broker=f"127.0.0.1:{free_port()}")
    place.begin(given)

    with pytest.raises(TargetUnavailable, match="8 of 8 virtual hosts are not connected"):
        place.measure(given)


def test_a_population_that_is_too_small_is_told(place, values):
    with pytest.raises(DriverError, match="finds 8 hosts, and the job is to run on 9"):
        driver.look(place.target, values(hosts=9), RULES)


def test_a_job_that_outlasts_the_run_has_failed_and_is_not_void(place, simulator, values):
    given = values(script_seconds=60)
    place.deadline_seconds = 1.0

    place.begin(given)
    measured = place.measure(given)

    assert "within the time of the run: 0 of 8 hosts" in measured.failure
    assert simulator.told()["pull"]["open"] == 0


def test_a_host_of_the_population_that_is_gone_makes_the_run_void(place, values):
    [host] = place.send("GET", "/api/v2/hosts?search=name+~+p3-00001")["results"]
    place.send("DELETE", f"/api/v2/hosts/{host['id']}")
    driver.reset(place.target, values(hosts=4), place.context())

    with pytest.raises(NotClean, match="Population 3 lacks 1 of its hosts at the server"):
        driver.apply(place.target, values(hosts=4), place.context())


def test_a_run_that_is_given_up_ends_its_virtual_hosts(place, simulator, values):
    given = values(script_seconds=60) | {"give_up_seconds": 0.5}

    place.begin(given)
    measured = place.measure(given)

    assert measured.failure.startswith("The job did not finish: 0 of 8 hosts had succeeded")
    assert simulator.told()["pull"]["open"] == 0


@pytest.mark.parametrize(
    ("changes", "name", "words"),
    [
        ({"population": ""}, "population", "the number of a population"),
        ({"broker": ""}, "broker", "host and port"),
        ({"broker": "proxy.example"}, "broker", "such as proxy.example:1883"),
        ({"broker": "proxy.example:99999"}, "broker", "such as proxy.example:1883"),
        (
            {"proxy_url": "http://proxy.example:9090"},
            "proxy_url",
            "such as https://proxy.example:9090",
        ),
        ({"proxy_url": "https://proxy.example:9090/ssh"}, "proxy_url", "such as https://"),
        ({"proxy_url": "https://[::1"}, "proxy_url", "such as https://"),
        ({"proxy_url": "https://user:word@proxy.example"}, "proxy_url", "such as https://"),
        ({"proxy_url": "https://proxy.example#x"}, "proxy_url", "such as https://"),
        ({"broker": "..:1883"}, "broker", "such as proxy.example:1883"),
        ({"hosts": 4001}, "hosts", "at most 4,000 virtual hosts"),
        ({"hosts_are": "registered", "search_query": ""}, "search_query", "which hosts of Foreman"),
    ],
    ids=[
        "population",
        "broker",
        "no port",
        "port",
        "scheme",
        "path",
        "bracket",
        "user",
        "fragment",
        "dots",
        "hosts",
        "query",
    ],
)
def test_what_virtual_hosts_need_is_asked_for(values, changes, name, words):
    initial = {key: each.initial for key, each in RemoteExecutionForm.base_fields.items()}
    form = RemoteExecutionForm(initial | values() | changes)

    assert words in str(form.errors[name])


def test_where_virtual_hosts_connect_to_is_checked_like_a_feed(values):
    given = values()

    assert driver.reads(given) == {
        "broker": [f"https://{given['broker']}/"],
        "proxy_url": [given["proxy_url"]],
    }
    assert driver.reads(parameters()) == {}
    assert preparing.query_of(
        Target("k", "katello", "http://k", installation="0a1b2c3d"), given
    ) == (f"name ~ perfdash-0a1b2c3d-p{POPULATION}-")
