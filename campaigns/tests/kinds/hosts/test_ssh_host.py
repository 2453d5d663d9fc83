"""One virtual host that is an SSH server, in this process."""

import asyncio
from types import SimpleNamespace

import asyncssh
import pytest

from campaigns.kinds.hosts.answering_ssh import new_host_key
from campaigns.kinds.hosts.program.jobs import Script
from campaigns.kinds.hosts.program.ssh.crew import options_of
from campaigns.kinds.hosts.program.ssh.virtual_host import Shared, SshHost
from campaigns.kinds.hosts.program.waiting import Tasks
from campaigns.kinds.load.recorder import Recorder
from campaigns.tests.kinds.hosts.over_ssh import directory_of
from campaigns.tests.ports import free_port

UPLOAD = "tee {0}/script >/dev/null && chmod 500 {0}/script".format(directory_of("one"))


@pytest.fixture(scope="module")
def key():
    return asyncssh.generate_private_key("ssh-ed25519")


def told(host_key, key, command, broken=""):
    """Return the exit status of a command on a host, and the bugs that were seen. broken: a method that has one."""
    bugs: list[BaseException] = []

    async def act():
        tasks = Tasks(bugs.append)
        shared = Shared(
            SimpleNamespace(recorder=Recorder()),  # type: ignore[arg-type]
            *("127.0.0.1", free_port(), frozenset({key.public_data})),
            options_of(host_key),
            *(Script(1), tasks),
        )
        host = SshHost(shared, 0)
        if broken:
            setattr(host, broken, lambda *arguments: 1 // 0)
        await host.listen()
        client = await asyncssh.connect(
            "127.0.0.1", host.port, client_keys=[key], known_hosts=None, username="root", config=[]
        )
        try:
            return (await client.run(command, input="date\n")).exit_status
        finally:
            client.abort()
            host.leave()
            host.close()
            await asyncio.sleep(0.05)

    return asyncio.run(act()), bugs


def test_a_script_is_taken(key):
    assert told(new_host_key(), key, UPLOAD) == (0, [])


@pytest.mark.parametrize(
    ("broken", "command"),
    [
        ("took", UPLOAD),
        ("removed", f"rm -rf {directory_of('one')}"),
        ("fault", "reboot"),
    ],
)
def test_a_bug_ends_the_program(key, broken, command):
    status, bugs = told(new_host_key(), key, command, broken)

    assert status is None
    assert [type(bug) for bug in bugs] == [ZeroDivisionError]
