"""Ports for servers that tests start."""

import random
import socket

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
