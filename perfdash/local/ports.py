"""Free ports of this machine, and who holds the others."""

import socket

import psutil

HOST = "127.0.0.1"


class PortTaken(Exception):
    """The port that was asked for is in use; the message says by whom."""


def is_free(port: int) -> bool:
    """Say whether a server could listen on the port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def first_free(port: int) -> int:
    """Give `port` or the first free one of the hundred after it. Raise PortTaken."""
    for candidate in range(port, min(port + 100, 65536)):
        if is_free(candidate):
            return candidate
    raise PortTaken(f"No port from {port} to {port + 99} is free; name one with --port.")


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
