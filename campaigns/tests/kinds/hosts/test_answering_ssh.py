"""Virtual hosts that are SSH servers, and OpenSSH's client that does what a smart proxy does."""

import hashlib
import os
import socket
import subprocess
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from campaigns.kinds.base import Cancelled, DriverError
from campaigns.kinds.hosts.answering import PretendedScript
from campaigns.kinds.hosts.answering_ssh import answering_ssh, new_host_key, ssh_request
from campaigns.kinds.load.judging import judge
from campaigns.tests.kinds.hosts.over_ssh import (
    SSH,
    Connection,
    connected,
    directory_of,
    job_on,
    new_key,
    prepare,
    public,
)
from campaigns.tests.ports import free_port, free_ports

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(not SSH, reason="OpenSSH's client is not installed"),
]
AT_ONCE = 4


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    return new_key(tmp_path_factory.mktemp("key"))


@pytest.fixture
def request_for(keeper, key):
    """Return the request to hold hosts; keywords change the call."""

    def request(hosts, **changes):
        values: dict[str, Any] = {
            "address": "127.0.0.1",
            "first_port": free_ports(hosts) if 0 < hosts < 100 else 22_000,
            "keys": [public(key)],
        } | changes
        return ssh_request(keeper.context(), hosts, **values)

    return request


def column(answered, name):
    return list(answered.rows[name])


def soon(condition, seconds=10.0):
    """Wait until it is so."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def is_open(port):
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 2.0):
        return True
    return False


def test_twenty_hosts_answer_a_job_and_execute_nothing(keeper, request_for, key, tmp_path):
    marker = tmp_path / "executed"
    script = f"#!/bin/sh\ntouch {marker}\ndate\n"
    request = request_for(20, processes=2)
    ports = range(request["first_port"], request["first_port"] + 20)
    with answering_ssh(keeper.context(), request) as hosts, ThreadPoolExecutor(AT_ONCE) as pool:
        works = [pool.submit(job_on, tmp_path, key, port, f"job-{port}", script) for port in ports]
        ends = [work.result() for work in works]
        soon(lambda: hosts.progress["hosts_done"] == 20)
        assert (hosts.connected, hosts.asked) == (20, 20)
        answered = hosts.end()

    assert not marker.exists()
    assert {(end.status, end.output) for end in ends} == {
        (0, "answered by a virtual host: nothing was executed\r\n")
    }
    assert column(answered, "failure") == [""] * 20
    assert answered.scripts == {hashlib.sha256(script.encode()).hexdigest(): 20}
    assert column(answered, "script_bytes") == [len(script)] * 20
    assert column(answered, "exit_code") == [0] * 20
    assert sorted(column(answered, "port")) == list(ports)
    assert sorted(column(answered, "job")) == sorted(f"job-{port}" for port in ports)
    for name, value in (("logins", 1), ("sessions", 13), ("faults", 0), ("refused", 0)):
        assert column(answered, name) == [value] * 20
    names = ("connected", "fetched", "started", "finished")
    for row in zip(*(column(answered, f"{name}_us") for name in names), strict=True):
        assert 0 < row[0] < row[1] < row[2] < row[3]
    assert answered.counts["sessions"] == 260
    assert answered.counts["hosts_done"] == answered.counts["hosts_listening"] == 20
    assert judge(answered.figures).word
    assert len((tmp_path / "known_hosts").read_text().splitlines()) == 20


def test_scripts_that_take_time_and_fail_as_another_user(keeper, request_for, key, tmp_path):
    pretended = PretendedScript(0.2, 0.2, exit_code=3, output="")
    request = request_for(1, script=pretended)
    with answering_ssh(keeper.context(), request) as hosts:
        end = job_on(tmp_path, key, request["first_port"], "one", "date", user="nobody")
        answered = hosts.end()

    assert (end.status, end.output) == (3, "")
    assert column(answered, "exit_code") == [3]
    assert column(answered, "failure") == [""]  # that a script fails is no failure of its host
    assert column(answered, "faults") == [0]
    took = column(answered, "finished_us")[0] - column(answered, "started_us")[0]
    assert took >= 190_000  # a timer may ring a little early


def test_a_host_with_two_jobs_has_a_row_for_each(keeper, request_for, key, tmp_path):
    request = request_for(1)
    with answering_ssh(keeper.context(), request) as hosts:
        for job, script in (("one", "date"), ("two", "uptime")):
            job_on(tmp_path, key, request["first_port"], job, script)
        answered = hosts.end()

    assert column(answered, "job") == ["one", "two"]
    assert answered.scripts == Counter(
        hashlib.sha256(f"{script}\n".encode()).hexdigest() for script in ("date", "uptime")
    )


@pytest.mark.parametrize("kind", ["rsa", "ecdsa"])
def test_keys_of_other_kinds_log_in(keeper, request_for, tmp_path, kind):
    other = new_key(tmp_path, kind, kind)
    request = request_for(1, keys=[public(other)])
    with answering_ssh(keeper.context(), request):
        assert Connection(tmp_path, other, request["first_port"]).establish().status == 0
        Connection(tmp_path, other, request["first_port"]).leave()


def test_another_key_is_refused_and_counted(keeper, request_for, tmp_path):
    stranger = new_key(tmp_path, "stranger")
    request = request_for(1)
    with answering_ssh(keeper.context(), request) as hosts:
        done = Connection(tmp_path, stranger, request["first_port"]).establish()
        soon(lambda: hosts.progress["refused"] == 1)
        assert hosts.connected == 0
        answered = hosts.end()

    assert done.status == 255
    assert "Permission denied (publickey)" in done.errors
    assert column(answered, "refused") == [1]
    assert column(answered, "logins") == column(answered, "sessions") == [0]
    assert column(answered, "connected_us") == [None]


def test_a_command_that_no_proxy_sends_is_a_fault_and_is_not_executed(
    keeper, request_for, key, tmp_path
):
    marker = tmp_path / "executed"
    place = directory_of("one")
    commands = [
        f"touch {marker}",
        f"sh -c 'touch {marker}'",
        f"tee {marker} >/dev/null && chmod 500 {marker}",
        f"rm -rf {place}; touch {marker}",
        f"{place}/script",  # which was not uploaded
        f"{place}/script-wrapper",
    ]
    request = request_for(1)
    with answering_ssh(keeper.context(), request) as hosts:
        with connected(tmp_path, key, request["first_port"]) as connection:
            statuses = [connection.run(each, stdin="#!/bin/sh").status for each in commands]
        answered = hosts.end()

    assert statuses == [127] * len(commands)
    assert not marker.exists()
    assert column(answered, "faults") == [len(commands)]
    assert column(answered, "words")[0].startswith("no smart proxy sends the command 'touch /")


def test_shells_subsystems_and_forwarded_ports_are_refused(keeper, request_for, key, tmp_path):
    request = request_for(1)
    with answering_ssh(keeper.context(), request) as hosts:
        with connected(tmp_path, key, request["first_port"]) as connection:
            shell = subprocess.run(
                connection.command(), stdin=subprocess.DEVNULL, capture_output=True, timeout=30
            )
            sftp = subprocess.run(
                [*connection.command("-s"), "sftp"], stdin=subprocess.DEVNULL, capture_output=True, timeout=30
            )  # fmt: skip
            port = free_port()
            forward = subprocess.run(
                connection.command("-O", "forward", "-R", f"{port}:127.0.0.1:1"),
                stdin=subprocess.DEVNULL, capture_output=True, timeout=30,
            )  # fmt: skip
        answered = hosts.end()

    assert 0 not in (shell.returncode, sftp.returncode, forward.returncode)
    assert column(answered, "faults") == [2]
    assert column(answered, "words") == ["it was asked for a shell"]


def test_a_killed_script_ends_by_a_signal(keeper, request_for, key, tmp_path):
    request = request_for(1, script=PretendedScript(600, 600))
    with answering_ssh(keeper.context(), request) as hosts:
        with connected(tmp_path, key, request["first_port"]) as connection:
            kill = f"kill $(cat {directory_of('one')}/pid)"
            wrapper = prepare(connection, "one", "sleep 600")
            assert connection.run(kill).status == 1  # nothing runs yet
            with subprocess.Popen(
                connection.command(wrapper, terminal=True),
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            ) as running:  # fmt: skip
                soon(lambda: hosts.progress["jobs_started"] == 1)
                assert connection.run(kill).status == 0
                assert running.wait(10) == 255
        answered = hosts.end()

    assert column(answered, "exit_code") == [-1]
    assert column(answered, "cancelled") == [1]
    assert column(answered, "failure") == [""]


def test_a_script_whose_connection_is_lost_has_failed(keeper, request_for, key, tmp_path):
    request = request_for(2, script=PretendedScript(600, 600))
    first = request["first_port"]
    with answering_ssh(keeper.context(), request) as hosts:
        with connected(tmp_path, key, first) as connection:
            wrapper = prepare(connection, "one", "sleep 600")
            with subprocess.Popen(
                connection.command(wrapper, terminal=True),
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            ):  # fmt: skip
                soon(lambda: hosts.progress["jobs_started"] == 1)
                connection.leave()
        with connected(tmp_path, key, first + 1) as connection:
            prepare(connection, "two", "date")  # and then the proxy is gone
        soon(lambda: hosts.progress["hosts_failed"] == 1)
        answered = hosts.end()

    assert column(answered, "failure") == ["connect", "timeout"]
    assert column(answered, "words") == [
        "the connection ended while the script ran",
        "it was not done when the hosts were ended",
    ]
    assert column(answered, "started_us")[1] is None


def test_a_proxy_that_knows_the_host_key_comes_back(keeper, request_for, key, tmp_path):
    host_key, port = new_host_key(), free_ports(1)
    statuses = []
    for each in (host_key, host_key, new_host_key()):
        request = request_for(1, first_port=port, host_key=each)
        with answering_ssh(keeper.context(), request):
            connection = Connection(tmp_path, key, port)
            statuses.append(connection.establish().status)
            connection.leave()

    assert statuses == [0, 0, 255]


def test_a_port_in_use_is_told_before_the_job(keeper, request_for):
    request = request_for(3)
    port = request["first_port"] + 1
    with (
        socket.create_server(("127.0.0.1", port)),
        pytest.raises(DriverError) as told,
        answering_ssh(keeper.context(), request),
    ):
        raise AssertionError("it must not begin")
    assert str(told.value) == (
        f"1 of 3 virtual hosts cannot listen: port {port} of 127.0.0.1 cannot be opened: Address already in use. Check the address, "
        "and choose other ports, best below those that the system gives to connections (net.ipv4.ip_local_port_range)."
    )
    assert not is_open(request["first_port"])


def test_an_address_of_another_machine_is_told(keeper, request_for):
    request = request_for(2, address="192.0.2.1")
    with (
        pytest.raises(DriverError, match=r"2 of 2 .* of 192\.0\.2\.1 cannot be opened: Cannot"),
        answering_ssh(keeper.context(), request),
    ):
        raise AssertionError("it must not begin")


def test_ports_are_open_as_long_as_the_block(keeper, request_for):
    request = request_for(5)
    ports = range(request["first_port"], request["first_port"] + 5)
    with answering_ssh(keeper.context(), request):
        assert all(is_open(port) for port in ports)
    assert not any(is_open(port) for port in ports)


def test_ports_close_with_the_lease(keeper, request_for, key, tmp_path):
    lease = [30.0]
    context = replace(keeper.context(), lease_seconds=lambda: lease[0])
    request = request_for(20, processes=2)
    ports = range(request["first_port"], request["first_port"] + 20)
    with answering_ssh(context, request) as hosts:
        with connected(tmp_path, key, ports[0]) as connection:
            lease[0] = 0.0
            soon(lambda: not any(is_open(port) for port in ports))
            assert connection.run("true").status == 255
        with pytest.raises(Cancelled):
            hosts.check()


def test_a_cancelled_run_closes_the_ports(keeper, request_for):
    request = request_for(2)
    with answering_ssh(keeper.context(), request) as hosts:
        keeper.cancelled.set()
        with pytest.raises(Cancelled):
            hosts.check()
    assert not is_open(request["first_port"])


def test_what_speaks_no_ssh_harms_nobody(keeper, request_for, key, tmp_path):
    request = request_for(1)
    port = request["first_port"]
    with answering_ssh(keeper.context(), request) as hosts:
        for nonsense in (b"GET / HTTP/1.1\r\n\r\n", b"SSH-2.0-x\r\n" + os.urandom(2000), b""):
            with socket.create_connection(("127.0.0.1", port), 5.0) as stranger:
                stranger.sendall(nonsense)
                stranger.shutdown(socket.SHUT_WR)
                with suppress(OSError):
                    while stranger.recv(4096):
                        pass
        assert job_on(tmp_path, key, port, "one", "date").status == 0
        answered = hosts.end()

    assert column(answered, "failure") == [""]
    assert column(answered, "logins") == [1]


@pytest.mark.parametrize(
    ("hosts", "changes", "words"),
    [
        (0, {}, "one generator holds 1 to 2,000 that are SSH servers"),
        (2001, {}, "one generator holds 1 to 2,000 that are SSH servers"),
        (10, {"first_port": 22}, "give a first port from 1024 to 65526"),
        (10, {"first_port": 65_530}, "need the ports up to 65539"),
        (1, {"address": "generator.example"}, "'generator.example' is none"),
        (1, {"keys": []}, "No public key may log in"),
        (1, {"keys": ["<html>"]}, "Public key 1 of 1 cannot be read: '<html>'"),
        (1, {"host_key": "nonsense"}, "The host key of the virtual hosts cannot be used"),
    ],
)
def test_hosts_that_cannot_be_are_refused(request_for, hosts, changes, words):
    with pytest.raises(DriverError) as refused:
        request_for(hosts, **changes)
    assert words in str(refused.value)
