"""Virtual hosts, Debian's mosquitto with TLS and client certificates, and the pull-MQTT side of a smart proxy, all for real."""

import hashlib
import os
import signal
import socket
import time
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from campaigns.kinds.base import (
    AddressRefused,
    Cancelled,
    DriverError,
    GeneratorFailed,
    HostIdentity,
)
from campaigns.kinds.hosts.answering import (
    PretendedScript,
    answering,
    answering_request,
    unconnected,
)
from campaigns.kinds.load.judging import judge
from campaigns.tests.kinds.hosts.pull_mqtt import (
    MOSQUITTO,
    Job,
    identities_of,
    mosquitto,
    smart_proxy,
)
from campaigns.tests.kinds.programs.certificates import Authority
from campaigns.tests.kinds.programs.servers import behaving

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(not MOSQUITTO, reason="mosquitto is not installed"),
]
SCRIPT = "#!/bin/sh\ntouch {marker}\ndate\n"


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"), "katello")


@pytest.fixture(scope="module")
def identities(authority):
    return identities_of(authority, 20)


@pytest.fixture(scope="module")
def broker(authority, tmp_path_factory):
    with mosquitto(tmp_path_factory.mktemp("mosquitto"), authority) as running:
        yield running


@pytest.fixture
def proxy(authority, broker):
    with smart_proxy(authority, broker.port) as running:
        yield running


@pytest.fixture
def request_for(authority, broker, proxy, keeper):
    """Return the request to hold hosts; keywords change the call."""

    def request(identities, **changes):
        values = {
            "broker": ("127.0.0.1", broker.port),
            "proxy_url": proxy.url,
            "ca": authority.file.read_text(),
        } | changes
        return answering_request(keeper.context(), identities, **values)

    return request


def column(answered, name):
    return list(answered.rows[name])


def soon(condition, seconds=10.0):
    """Wait until it is so."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_twenty_hosts_answer_a_job_and_execute_nothing(
    keeper, request_for, identities, proxy, tmp_path
):
    script = SCRIPT.format(marker=tmp_path / "executed")
    with answering(keeper.context(), request_for(identities)) as hosts:
        assert (hosts.connected, hosts.asked) == (20, 20)
        jobs = proxy.start([each.uuid for each in identities], script)
        proxy.wait(jobs)
        answered = hosts.end()

    assert not (tmp_path / "executed").exists()
    assert column(answered, "failure") == [""] * 20
    assert answered.scripts == {hashlib.sha256(script.encode()).hexdigest(): 20}
    assert column(answered, "script_bytes") == [len(script)] * 20
    assert column(answered, "exit_code") == [0] * 20
    assert {*zip(column(answered, "uuid"), column(answered, "job"), strict=True)} == {
        (proxy.jobs[job].consumer, job) for job in jobs
    }
    for name in ("duplicates", "disconnects", "bad_messages", "cancelled"):
        assert column(answered, name) == [0] * 20
    rows = (
        column(answered, f"{name}_us") for name in ("connected", "notified", "fetched", "finished")
    )
    for connected, notified, fetched, finished in zip(*rows, strict=True):
        assert connected < 0 < notified < fetched < finished
    assert answered.counts["hosts_connected"] == 20
    assert unconnected(answered) == ""
    assert judge(answered.figures).word
    for job in jobs:
        output, end = proxy.jobs[job].updates
        assert (output["type"], output["stream"]) == ("output", "stdout")
        assert "nothing was executed" in output["content"]
        assert (end["type"], end["exit_code"]) == ("exit", 0)
    assert proxy.agents == {"perfdash"}


def test_hosts_shared_by_processes_and_scripts_that_take_time_and_fail(
    keeper, request_for, identities, proxy
):
    pretended = PretendedScript(0.05, 0.4, failed_percent=25, failed_exit_code=3, seed=7, output="")
    request = request_for(identities, script=pretended, processes=2)
    with answering(keeper.context(), request) as hosts:
        assert hosts.connected == 20
        jobs = proxy.start([each.uuid for each in identities], "date")
        proxy.wait(jobs)
        answered = hosts.end()

    assert Counter(column(answered, "exit_code")) == {0: 15, 3: 5}
    assert Counter(code for job in jobs for code in proxy.jobs[job].exit_codes) == {0: 15, 3: 5}
    assert all(len(proxy.jobs[job].updates) == 1 for job in jobs)
    assert answered.failures == {}  # that a script fails is no failure of its host
    took = [
        finished - fetched
        for fetched, finished in zip(
            column(answered, "fetched_us"), column(answered, "finished_us"), strict=True
        )
    ]
    assert min(took) >= 50_000
    assert sorted(column(answered, "host")) == list(range(20))
    assert answered.counts["hosts_done"] == 20


def test_a_message_that_comes_again_is_counted_and_done_once(
    keeper, request_for, identities, proxy
):
    with answering(keeper.context(), request_for(identities[:1])) as hosts:
        (job,) = proxy.start([identities[0].uuid], "date")
        proxy.wait([job])
        proxy.publish_start(job)
        answered = hosts.end()

    assert column(answered, "duplicates") == [1]
    assert proxy.jobs[job].fetched == 1
    assert proxy.jobs[job].exit_codes == [0]


def test_a_cancelled_script_ends_as_one_that_a_signal_ended(keeper, request_for, identities, proxy):
    pretended = PretendedScript(600, 600)
    with answering(keeper.context(), request_for(identities[:2], script=pretended)) as hosts:
        jobs = proxy.start([each.uuid for each in identities[:2]], "sleep 600")
        soon(lambda: all(proxy.jobs[job].fetched for job in jobs))
        proxy.publish_cancel(jobs[0])
        proxy.wait(jobs[:1])
        answered = hosts.end()

    assert proxy.jobs[jobs[0]].cancelled
    assert proxy.jobs[jobs[0]].exit_codes == [-1]
    assert column(answered, "cancelled") == [1, 0]
    assert column(answered, "failure") == ["", "timeout"]
    assert column(answered, "words")[1] == "it was not done when the hosts were ended"


@pytest.mark.parametrize(
    ("status", "kind"), [(404, "4xx"), (500, "5xx"), (403, "auth"), (302, "protocol")]
)
def test_a_proxy_that_hands_out_no_script_fails_the_job_until_it_publishes_again(
    keeper, request_for, identities, proxy, status, kind
):
    with answering(keeper.context(), request_for(identities[:2])) as hosts:
        jobs = ["one", "two"]
        proxy.statuses = {f"/ssh/jobs/{job}": status for job in jobs}
        for job, identity in zip(jobs, identities, strict=False):
            proxy.jobs[job] = Job(identity.uuid, "date")
            proxy.publish_start(job)
        soon(lambda: hosts.progress.get("hosts_failed") == 2)
        proxy.statuses = {}
        proxy.publish_start(jobs[0])
        proxy.wait(jobs[:1])
        answered = hosts.end()

    assert column(answered, "failure") == ["", kind]
    assert f"the server answered {status}" in column(answered, "words")[1]
    assert column(answered, "duplicates") == [1, 0]


def test_bad_messages_are_counted_and_followed_nowhere(keeper, request_for, identities, proxy):
    uuid, topic = identities[0].uuid, f"yggdrasil/{identities[0].uuid}/data/in"
    with socket.create_server(("127.0.0.1", 0)) as elsewhere:
        elsewhere.settimeout(0.2)
        other = f"https://127.0.0.1:{elsewhere.getsockname()[1]}/ssh/jobs/there"
        proxy.jobs["there"] = Job(uuid, "date")
        with answering(keeper.context(), request_for(identities[:1])) as hosts:
            proxy.publish(topic, b"no JSON")
            proxy.publish(topic, bytes(100_000))
            proxy.publish_start("there", content=other)
            (job,) = proxy.start([uuid], "date")
            proxy.wait([job])
            answered = hosts.end()
        with pytest.raises(TimeoutError):
            elsewhere.accept()

    assert column(answered, "bad_messages") == [3]
    assert column(answered, "failure") == [""]
    assert column(answered, "words") == ["a message of the broker is not understood: it is no JSON"]


def test_a_job_of_another_host_is_not_handed_out(keeper, request_for, identities, proxy):
    with answering(keeper.context(), request_for(identities[:2])) as hosts:
        proxy.jobs["others"] = Job(identities[1].uuid, "date")
        proxy.publish(f"yggdrasil/{identities[0].uuid}/data/in", proxy.message_of_start("others"))
        soon(lambda: hosts.progress.get("hosts_failed") == 1)
        answered = hosts.end()

    assert column(answered, "failure") == ["4xx", ""]
    assert column(answered, "job") == ["others", ""]
    assert column(answered, "notified_us")[1] is None


def test_a_huge_message_costs_the_connection_and_the_host_comes_back(
    keeper, request_for, identities, proxy
):
    with answering(keeper.context(), request_for(identities[:1])) as hosts:
        proxy.publish(f"yggdrasil/{identities[0].uuid}/data/in", bytes(300_000))
        soon(lambda: hosts.progress.get("disconnects") == 1)
        soon(lambda: hosts.connected == 1)
        (job,) = proxy.start([identities[0].uuid], "date")
        proxy.wait([job])
        answered = hosts.end()

    assert column(answered, "disconnects") == [1]
    assert column(answered, "exit_code") == [0]


def test_hosts_come_back_to_a_broker_that_was_away(keeper, authority, identities, tmp_path):
    with (
        mosquitto(tmp_path / "first", authority) as first,
        smart_proxy(authority, first.port) as proxy,
    ):
        request = answering_request(
            keeper.context(), identities[:5], ("127.0.0.1", first.port), proxy.url,
            ca=authority.file.read_text(),
        )  # fmt: skip
        with answering(keeper.context(), request) as hosts:
            first.process.terminate()
            first.process.wait()
            soon(lambda: hosts.connected == 0)
            with mosquitto(tmp_path / "second", authority, port=first.port):
                soon(lambda: hosts.connected == 5)
                jobs = proxy.start([each.uuid for each in identities[:5]], "date")
                proxy.wait(jobs)
                answered = hosts.end()

    assert column(answered, "disconnects") == [1] * 5
    assert column(answered, "failure") == [""] * 5


def test_a_host_that_no_broker_admits_says_why(keeper, request_for, identities, tmp_path):
    strangers = identities_of(Authority(tmp_path, "strangers"), 2)
    with answering(keeper.context(), request_for([*identities[:1], *strangers])) as hosts:
        assert hosts.connected == 1
        told = unconnected(hosts)
        answered = hosts.end()

    assert told.startswith("2 of 3 virtual hosts are not connected to the broker: TLS ended the")
    assert told.endswith(
        "A broker that has some of the hosts and not the others has often reached its limit of open files: raise LimitNOFILE of "
        "its service above the number of hosts."
    )
    assert "UNKNOWN_CA" in told.upper().replace(" ", "_")
    assert column(answered, "failure") == ["", "tls", "tls"]
    assert column(answered, "connected_us")[1:] == [None, None]
    assert answered.counts["unconnected_tls"] == 2
    assert "UNKNOWN_CA" in unconnected(answered).upper().replace(" ", "_")


def test_certificate_and_key_that_do_not_belong_together(keeper, request_for, identities):
    mixed = HostIdentity(identities[0].uuid, identities[0].certificate, identities[1].key)
    nonsense = HostIdentity("nonsense", "no certificate", "no key")
    with answering(keeper.context(), request_for([mixed, nonsense])) as hosts:
        assert hosts.connected == 0
        answered = hosts.end()

    assert column(answered, "failure") == ["tls", "tls"]
    assert "the certificate of nonsense" in column(answered, "words")[1]
    assert identities[1].key not in str(answered)


@pytest.mark.parametrize(
    ("more", "open_files"), [("max_connections 8", 0), ("", 22)], ids=["connections", "files"]
)
def test_a_broker_that_has_no_room_for_all_says_so(
    keeper, authority, identities, tmp_path, more, open_files
):
    with (
        mosquitto(tmp_path, authority, more, open_files) as broker,
        smart_proxy(authority, broker.port) as proxy,
    ):
        request = answering_request(
            keeper.context(), identities, ("127.0.0.1", broker.port), proxy.url,
            ca=authority.file.read_text(), tls_timeout_seconds=2.0, connect_seconds=4.0,
        )  # fmt: skip
        with answering(keeper.context(), request) as hosts:
            assert 0 < hosts.connected < 20
            assert "raise LimitNOFILE" in unconnected(hosts)
            answered = hosts.end()

    assert 0 < answered.failures.total() < 20
    assert answered.failures.keys() <= {"connect", "timeout", "tls"}


CONNACK, SUBACK = b"\x20\x02\x00\x00", b"\x90\x03\x00\x01\x01"


@pytest.mark.parametrize(
    ("answers", "kind", "words"),
    [
        ([b"\x20\x02\x00\x05"], "auth", "the broker does not admit this client"),
        ([b"\x20\x02\x00\x03"], "connect", "the broker is not available"),
        ([b"\x20\x02\x00\x99"], "connect", "the broker refuses it with the code 153"),
        (
            [CONNACK, b"\x90\x03\x00\x01\x80"],
            "auth",
            "the broker refuses the subscription to yggdr",
        ),
        (
            [CONNACK, b"\x90\x03\x00\x02\x01"],
            "auth",
            "the broker refuses the subscription to yggdr",
        ),
        ([b""], "connect", "the broker closed the connection"),
        ([CONNACK, b""], "connect", "the broker closed the connection"),
        ([b"HTTP/1.1 400 Bad Request\r\n\r\n"], "protocol", "the broker sent a packet of type 4"),
        ([b"\x30\xff\xff\xff\x7f"], "protocol", "the broker sent a packet of 268,435,455 bytes"),
        ([SUBACK], "protocol", "the broker sent no CONNACK first"),
        ([CONNACK + CONNACK], "protocol", "the broker sent an answer that nothing had asked for"),
        ([CONNACK, None], "timeout", "waited 0.3 s for the broker's answer"),
    ],
)
def test_each_fault_of_a_broker_is_called_by_its_name(
    keeper, authority, identities, proxy, answers, kind, words
):
    def misbehave(connection):
        with suppress(OSError), context.wrap_socket(connection, server_side=True) as broker:
            for answer in answers:
                broker.recv(4096)
                if not answer:
                    if answer is None:
                        broker.recv(1)
                    return
                broker.sendall(answer)
            broker.recv(4096)

    context = authority.context()
    with behaving(misbehave) as (place, _):
        request = answering_request(
            keeper.context(), identities[:1], ("127.0.0.1", int(place.rpartition(":")[2])), proxy.url,
            ca=authority.file.read_text(), timeout_seconds=0.3,
        )  # fmt: skip
        with answering(keeper.context(), request) as hosts:
            assert hosts.connected == 0
            answered = hosts.end()

    assert answered.failures == {kind: 1}
    assert column(answered, "words")[0].startswith(words)


def test_nobody_listens_at_the_broker(keeper, authority, identities, proxy):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    request = answering_request(
        keeper.context(), identities[:2], ("127.0.0.1", port), proxy.url,
        ca=authority.file.read_text(),
    )  # fmt: skip
    why = f"2 of 2 virtual hosts are not connected to the broker: no connection to 127.0.0.1:{port}: Connection refused."
    with answering(keeper.context(), request) as hosts:
        assert hosts.connected == 0
        assert unconnected(hosts) == why
        answered = hosts.end()

    assert answered.failures == {"connect": 2}
    assert unconnected(answered) == why


def test_a_reason_is_told_by_whichever_process_has_one(
    keeper, request_for, identities, authority, tmp_path
):
    stranger = identities_of(Authority(tmp_path, "strangers"), 1)
    request = request_for([*identities[:1], *stranger], processes=2)
    with answering(keeper.context(), request) as hosts:
        soon(lambda: hosts.progress.get("hosts_connected") == 1)
        assert "UNKNOWN_CA" in unconnected(hosts).upper().replace(" ", "_")


def test_the_hosts_end_when_the_block_is_left(keeper, request_for, identities, broker):
    with answering(keeper.context(), request_for(identities)) as hosts:
        assert hosts.connected == 20
        soon(lambda: connections(broker) == 20)
    soon(lambda: connections(broker) == 0)


def test_a_cancelled_run_ends_the_hosts(keeper, request_for, identities, broker):
    with answering(keeper.context(), request_for(identities)) as hosts:
        keeper.cancelled.set()
        with pytest.raises(Cancelled):
            hosts.check()
    soon(lambda: connections(broker) == 0)


def test_hosts_without_a_lease_end_by_themselves(keeper, request_for, identities, broker):
    lease = [30.0]
    context = replace(keeper.context(), lease_seconds=lambda: lease[0])
    with answering(context, request_for(identities)) as hosts:
        lease[0] = 0.0
        soon(lambda: connections(broker) == 0)
        with pytest.raises(Cancelled):
            hosts.check()


def test_a_program_that_is_killed_breaks_the_run(keeper, request_for, identities):
    with answering(keeper.context(), request_for(identities, processes=1)) as hosts:
        os.kill(program_of(os.getpid()), signal.SIGKILL)
        with pytest.raises(GeneratorFailed, match="killed by SIGKILL"):
            hosts.end()


@pytest.mark.parametrize("count", [0, 4001])
def test_too_many_hosts_and_none_are_refused(request_for, identities, count):
    with pytest.raises(DriverError, match="one generator holds 1 to 4,000"):
        request_for((identities * 201)[:count])


@pytest.mark.parametrize(
    "changes", [{"broker": ("169.254.169.254", 8883)}, {"proxy_url": "https://10.0.0.1:9090"}]
)
def test_hosts_go_nowhere_but_to_allowed_addresses(request_for, identities, changes):
    with pytest.raises(AddressRefused):
        request_for(identities, **changes)


def test_a_proxy_without_tls_is_refused(request_for, identities):
    with pytest.raises(DriverError, match="begin with https:"):
        request_for(identities, proxy_url="http://127.0.0.1:9090")


def test_keys_are_in_no_representation(identities, request_for):
    assert identities[0].key not in repr(identities)


def program_of(parent):
    """Return the number of the program that this process has started."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            is_child = int(stat.read_text().rpartition(")")[2].split()[1]) == parent
            if is_child and b"kinds.hosts.program" in (stat.parent / "cmdline").read_bytes():
                return int(stat.parent.name)
    raise AssertionError("the program does not run")


def connections(broker):
    """Return how many hosts the broker has a connection of."""
    port = f":{broker.port:04X}"
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    fields = [line.split() for line in lines]
    return sum(each[1].endswith(port) and each[3] == "01" for each in fields)
