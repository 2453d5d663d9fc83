"""Free ports of this machine, and who holds the others."""

import json
import socket
from collections.abc import Sequence
from pathlib import Path

import psutil

HOST = "127.0.0.1"
_reserved: dict[int, int] = {}
"""Descriptors of the sockets that say that a port is ours, by its number: open until this process ends."""


class PortTaken(Exception):
    """The requested port is in use; the message says by whom."""


def hold(port: int) -> socket.socket | None:
    """Keep a port for a server to come, so that nobody takes it before; None where somebody has it.

    Close the socket just before the server starts. Until it listens, which takes seconds, no other perfdash takes the port:
    it stays reserved, by the name of a socket of this network namespace, until this process ends.
    """
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        held.bind((HOST, port))
        held.listen(0)
        _reserve(number(held))
    except OSError:
        held.close()
        return None
    return held


def _reserve(port: int) -> None:
    """Say to every other perfdash that a port is ours. Raise OSError where it is another's."""
    if port in _reserved:
        return
    said = socket.socket(socket.AF_UNIX)
    try:
        said.bind(f"\0perfdash-port-{port}")
    except OSError:
        said.close()
        raise
    _reserved[port] = said.detach()


def hold_first(port: int) -> socket.socket:
    """Hold `port` or the first free one of the hundred after it. Raise PortTaken."""
    for candidate in range(port, min(port + 100, 65536)):
        if held := hold(candidate):
            return held
    raise PortTaken(f"No port from {port} to {port + 99} is free; name one with --port.")


def hold_again(file: Path, first: Sequence[int]) -> list[socket.socket]:
    """Hold the ports that `file` names from the last time, where they are free; else as `hold_first`.

    What is stored of a server, such as the address of a target, then holds after the next start, too.
    """
    try:
        before = [int(port) for port in json.loads(file.read_text())]
    except (OSError, ValueError, TypeError):
        before = []
    if len(before) != len(first) or not all(0 < port < 65536 for port in before):
        before = list(first)
    held = [hold(last) or hold_first(port) for last, port in zip(before, first, strict=True)]
    file.write_text(json.dumps([number(each) for each in held]))
    return held


def number(held: socket.socket) -> int:
    """Give the number of a port that is held."""
    return int(held.getsockname()[1])


def holder(port: int) -> str:
    """Say who listens on a port, as far as we may know."""
    try:
        connections = psutil.net_connections("tcp")
    except psutil.AccessDenied:
        return "another program"
    for connection in connections:
        listens = connection.status == psutil.CONN_LISTEN
        if listens and connection.laddr and connection.laddr[1] == port and connection.pid:
            try:
                return f"{psutil.Process(connection.pid).name()} (process {connection.pid})"
            except psutil.Error:
                break
    return "another program"
