"""Ports for servers that tests start."""

import random
import socket
from contextlib import ExitStack

ABOVE_SERVICES, BELOW_EPHEMERAL = 20_000, 32_768
"""The kernel gives ports above to connections and to whoever asks for any: one that was free would be taken before its server is up."""


def free_port() -> int:
    """Return a port of this machine on which nothing listens now, and which the kernel gives to nobody by itself."""
    while True:
        port = random.randrange(ABOVE_SERVICES, BELOW_EPHEMERAL)
        with socket.socket() as chosen:
            try:
                chosen.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def free_ports(count: int) -> int:
    """Return the first of so many ports in a row of which the same holds."""
    while True:
        first = random.randrange(ABOVE_SERVICES, BELOW_EPHEMERAL - count)
        with ExitStack() as chosen:
            try:
                for port in range(first, first + count):
                    chosen.enter_context(socket.socket()).bind(("127.0.0.1", port))
            except OSError:
                continue
            return first
