"""Let virtual hosts that are SSH servers answer jobs while a run goes on. They have no identities: a host is a port of this machine.

A kind uses it as `answering`. Foreman reaches host number n at `first_port` + n, by its parameter `remote_execution_ssh_port`:

    request = ssh_request(
        context, 2000, "192.0.2.10", 22000, keys=[what the smart proxy answers at GET /ssh/pubkey], host_key=host_key_of(installation)
    )
    with answering_ssh(context, request) as hosts:
        # all ports are open: start the job
        while is_running(job):
            hosts.check()
        answered = hosts.end()

`Answered` has then other columns. host, port, job; connected_us, fetched_us, started_us, finished_us: of the first login, of the whole
script, of its begin and end; script_sha256, script_bytes, exit_code, cancelled (killed), failure and words as there; connections, logins, sessions,
refused (keys), faults (what no smart proxy asks for): of the host. `connect_seconds`: until all ports were open.
"""

import hashlib
import ipaddress
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from campaigns.kinds.base.errors import DriverError, GeneratorFailed
from campaigns.kinds.base.values import Context
from campaigns.kinds.hosts.answering import Hosts, PretendedScript, answering, hosts_request
from campaigns.kit.mappings import ProgramRequest
from campaigns.kit.ssh.keys import fingerprint_of, wrong_key

SSH_PROGRAM = "campaigns.kinds.hosts.program.ssh"
MOST_SSH_HOSTS = 2000
"""Of one generator."""
FIRST_PORT, LAST_PORT = 1024, 65_535
"""Ports below are for services of the machine."""


@contextmanager
def answering_ssh(context: Context, request: ProgramRequest) -> Iterator[Hosts]:
    """Let hosts answer until the block is left; it begins when all ports are open.

    Raise GeneratorFailed where one cannot be opened, Cancelled.
    """
    with answering(context, request, SSH_PROGRAM) as hosts:
        missing = hosts.asked - int(hosts.progress["hosts_listening"])
        if missing:
            words = next(words for words in hosts.end().rows["words"] if words)
            raise GeneratorFailed(
                f"{missing} of {hosts.asked} virtual hosts cannot listen: {words}. Check the address, and choose other ports, best "
                "below those that the system gives to connections (net.ipv4.ip_local_port_range)."
            )
        yield hosts


def ssh_request(
    context: Context,
    hosts: int,
    address: str,
    first_port: int,
    keys: Sequence[str],
    *,
    host_key: str = "",
    script: PretendedScript | None = None,
    **more: Any,
) -> ProgramRequest:
    """Return the request to the program. Raise DriverError where there cannot be such hosts.

    address: an IP address of this machine. keys: public keys in a line of OpenSSH each, those that may log in. host_key: private, of
    all hosts; empty: a new one, which a proxy that knows another one of these ports refuses. more: processes.
    """
    _check_ports(hosts, first_port)
    return {
        **hosts_request(context, hosts, f"ssh://{_checked_address(address)}:{first_port}", script),
        "address": address,
        "first_port": first_port,
        "keys": _checked_keys(keys),
        "host_key": _checked_host_key(host_key or new_host_key()),
        **more,
    }


def new_host_key() -> str:
    """Return a private key for hosts, in the format of OpenSSH."""
    return _written(Ed25519PrivateKey.generate())


def host_key_of(installation: str) -> str:
    """Return the private key of all virtual hosts of an installation, in the format of OpenSSH: always the same.

    A smart proxy stores the key of each address and port, and refuses another one there later, also for the hosts of another
    population. The key is no secret, since it protects nothing: the hosts have no secrets, and take none.
    """
    seed = hashlib.sha256(f"host key of the virtual hosts of {installation}".encode()).digest()
    return _written(Ed25519PrivateKey.from_private_bytes(seed))


def _written(key: Ed25519PrivateKey) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()).decode()


def _check_ports(hosts: int, first_port: int) -> None:
    if not 0 < hosts <= MOST_SSH_HOSTS:
        raise DriverError(
            f"{hosts:,} virtual hosts were asked for; one generator holds 1 to {MOST_SSH_HOSTS:,} that are SSH servers."
        )
    last = first_port + hosts - 1
    if not FIRST_PORT <= first_port <= last <= LAST_PORT:
        raise DriverError(
            f"{hosts:,} virtual hosts from port {first_port} on need the ports up to {last}; give a first port from {FIRST_PORT} to "
            f"{LAST_PORT - hosts + 1}."
        )


def _checked_address(address: str) -> str:
    """Return the address as it stands in a URL. Raise DriverError."""
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        raise DriverError(
            f"Virtual hosts listen at an IP address of this machine, and {address!r} is none. Give one, such as 192.0.2.10."
        ) from None
    return f"[{known}]" if known.version == 6 else str(known)


def _checked_keys(keys: Sequence[str]) -> list[str]:
    lines = [key.strip() for key in keys]
    for number, line in enumerate(lines, 1):
        if not fingerprint_of(line):
            raise DriverError(
                f"Public key {number} of {len(lines)} cannot be read: {line[:60]!r}. Give what the smart proxy answers at "
                "GET /ssh/pubkey: a line such as ssh-ed25519 AAAA…"
            )
    if not lines:
        raise DriverError(
            "No public key may log in to the virtual hosts. Give that of the smart proxy."
        )
    return lines


def _checked_host_key(key: str) -> str:
    if problem := wrong_key(key):
        raise DriverError(f"The host key of the virtual hosts cannot be used. {problem}")
    return key
