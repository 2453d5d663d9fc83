"""Have a command run by the `service` of this machine, as another user. Standard library and its neighbours only."""

import json
import socket
import threading
from base64 import b64decode
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from time import monotonic, sleep
from typing import Any

from campaigns.kinds.programs.commands import Command, Ran
from campaigns.kinds.programs.run_here import SECONDS_TO_START_AND_END, Broke, Ended, NotStarted
from campaigns.kit.mappings import ProgramProgress

LEASE_SECONDS = 0.5
"""Seconds between two lines that tell the lease."""
ANSWER_SECONDS = 10.0
COMES_BACK_SECONDS = 5.0
"""How long a service may be away that starts, or listens anew since a command has removed its socket."""
PAUSE_SECONDS = 0.1
CHUNK = 1 << 16
AWAY = "The service that runs programs ({}) does not answer: {}. Is it running, on this machine? See PERFDASH_PROGRAM_SERVICE."


def work_of(path: str) -> str:
    """Return the directory in which the service runs commands. Raise Broke."""
    try:
        with closing(_connect(path)) as connection, connection.makefile("rb") as lines:
            return str(json.loads(lines.readline())["work"])
    except (OSError, ValueError, KeyError) as error:
        raise Broke(AWAY.format(path, error)) from error


def run_apart(
    path: str,
    command: Command,
    *,
    cancelled: threading.Event,
    lease_seconds: Callable[[], float],
    progress: Callable[[ProgramProgress], None],
) -> Ran:
    """Run a command to its end. Raise NotStarted, Broke, Ended."""
    until = monotonic() + command.seconds + 2 * SECONDS_TO_START_AND_END
    try:
        with closing(_connect(path)) as connection:
            first: dict[str, Any] = {"command": asdict(command)}
            for message in _messages(connection, first, cancelled, lease_seconds, until):
                match message:
                    case {"progress": values}:
                        progress(values)
                    case {"ran": ran}:
                        return _decoded(ran)
                    case {"not_started": why}:
                        raise NotStarted(why)
                    case {"broke": why}:
                        raise Broke(why)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise Broke(AWAY.format(path, error)) from error
    raise Broke(AWAY.format(path, "it has ended the connection"))


def _messages(
    connection: socket.socket,
    first: dict[str, Any],
    cancelled: threading.Event,
    lease_seconds: Callable[[], float],
    until: float,
) -> Any:
    """Send the first line and then the lease, and yield what comes. Raise Ended, Broke, OSError."""
    received, told = bytearray(), 0.0
    connection.settimeout(LEASE_SECONDS / 2)
    while True:
        lease = lease_seconds()
        if cancelled.is_set() or lease <= 0:
            raise Ended
        if monotonic() > until:
            raise Broke("The program that runs the command did not end in time.")
        if monotonic() >= told + LEASE_SECONDS:
            told = monotonic()
            connection.settimeout(ANSWER_SECONDS)
            connection.sendall(json.dumps({**first, "lease": lease}).encode() + b"\n")
            connection.settimeout(LEASE_SECONDS / 2)
            first = {}
        try:
            data = connection.recv(CHUNK)
        except TimeoutError:
            continue
        if not data:
            return
        received += data
        *lines, received = received.split(b"\n")
        yield from map(json.loads, lines)


def _connect(path: str) -> socket.socket:
    until = monotonic() + COMES_BACK_SECONDS
    while True:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(ANSWER_SECONDS)
            connection.connect(path)
        except OSError:
            connection.close()
            if monotonic() > until:
                raise
            sleep(PAUSE_SECONDS)
        else:
            return connection


def _decoded(ran: dict[str, Any]) -> Ran:
    return Ran(
        **{
            **ran,
            "output": b64decode(ran["output"]),
            "errors": b64decode(ran["errors"]),
            "files": {name: b64decode(content) for name, content in ran["files"].items()},
        }
    )
