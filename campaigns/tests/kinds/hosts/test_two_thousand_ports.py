"""2000 virtual hosts that are SSH servers, and OpenSSH's client that is logged in to 300 of them at a time."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from campaigns.kinds.hosts.answering_ssh import answering_ssh, ssh_request
from campaigns.tests.kinds.hosts.over_ssh import SSH, Connection, job_on, new_key, public
from campaigns.tests.ports import free_ports

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not SSH, reason="OpenSSH's client is not installed"),
]
HOSTS, LOGGED_IN, AT_ONCE = 2000, 300, 4
MEMORY = 400 * 2**20
"""Of two processes, at most."""


def test_two_thousand_ports_of_which_300_are_connected(keeper, tmp_path):
    keeper.deadline_seconds = 600.0
    context = keeper.context()
    key, port = new_key(tmp_path), free_ports(HOSTS)
    request = ssh_request(context, HOSTS, "127.0.0.1", port, [public(key)])
    connections = [Connection(tmp_path, key, port + n) for n in range(LOGGED_IN)]
    with answering_ssh(context, request) as hosts, ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            ends = list(pool.map(Connection.establish, connections))
            assert [end.status for end in ends] == [0] * LOGGED_IN
            last = job_on(tmp_path, key, port + HOSTS - 1, "last", "date")  # beside them
        finally:
            list(pool.map(Connection.leave, connections))
        answered = hosts.end()

    assert last.status == 0
    assert answered.counts["hosts_listening"] == HOSTS
    assert answered.counts["hosts_connected"] == LOGGED_IN + 1
    assert answered.failures == {}
    assert sum(answered.rows["faults"]) == sum(answered.rows["refused"]) == 0
    assert sum(answered.rows["logins"]) == LOGGED_IN + 1
    assert answered.peak_memory_bytes < MEMORY
