"""Have a command run by the `service` of this machine, as another user. Standard library and its neighbours only.

While a command runs, it may put a socket of its own in the place of the service's, since it has the same user. So nothing is sent
while another command may run: workers take turns by a lock, and each waits until the service has ended all of its command.
"""

import json
import os
import socket
import threading
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
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
LEFT_SECONDS = 10.0
"""In which a service ends a command whose worker was killed."""
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
    turns: Path,
    *,
    cancelled: threading.Event,
    lease_seconds: Callable[[], float],
    progress: Callable[[ProgramProgress], None],
) -> Ran:
    """Run a command to its end. turns: a file by which the workers take turns. Raise NotStarted, Broke, Ended."""
    ends = _Ends(cancelled, lease_seconds)
    try:
        with _turn(turns, ends) as turn, closing(_connect(path)) as connection:
            turn.begin()
            until = monotonic() + command.seconds + 2 * SECONDS_TO_START_AND_END
            for message in _messages(connection, {"command": asdict(command)}, ends, until):
                if "progress" in message:
                    progress(message["progress"])
                    continue
                turn.end()  # before it told how the command ended, it has ended all that this had started
                if ends.over:
                    raise Ended
                match message:
                    case {"ran": ran}:
                        return _decoded(ran)
                    case {"not_started": why}:
                        raise NotStarted(why)
                    case {"broke": why}:
                        raise Broke(why)
            if ends.over:
                raise Ended
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise Broke(AWAY.format(path, error)) from error
    raise Broke(AWAY.format(path, "it has ended the connection"))


class _Ends:
    """What ends a command before its time."""

    def __init__(self, cancelled: threading.Event, lease_seconds: Callable[[], float]) -> None:
        self.cancelled, self.lease_seconds = cancelled, lease_seconds
        self.over = False

    def check(self) -> None:
        """Raise Ended where it must be ended."""
        if self.cancelled.is_set() or self.lease_seconds() <= 0:
            raise Ended


class _Turn:
    """The turn of one worker, held by the lock of a file, which has a byte while a command may be left."""

    def __init__(self, file: int) -> None:
        self._file = file

    def begin(self) -> None:
        """Note that a command may be left from now on."""
        os.pwrite(self._file, b"1", 0)

    def end(self) -> None:
        """Note that none is left."""
        os.ftruncate(self._file, 0)


@contextmanager
def _turn(path: Path, ends: _Ends) -> Iterator[_Turn]:
    """Wait for the turn, and, where the command before was left by its worker, until the service has ended it. Raise Ended, OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        while not _locked(file):
            ends.check()
            sleep(PAUSE_SECONDS)
        until = monotonic() + LEFT_SECONDS
        while os.fstat(file).st_size and monotonic() < until:
            ends.check()
            sleep(PAUSE_SECONDS)
        yield _Turn(file)
    finally:
        os.close(file)


def _locked(file: int) -> bool:
    with suppress(BlockingIOError):
        flock(file, LOCK_EX | LOCK_NB)
        return True
    return False


def _messages(
    connection: socket.socket, first: dict[str, Any], ends: _Ends, until: float
) -> Iterator[Any]:
    """Send the first line and then the lease, and yield what comes; the answer, too, where the command was ended. Raise Broke, OSError."""
    received, told = bytearray(), 0.0
    connection.settimeout(LEASE_SECONDS / 2)
    while True:
        lease = ends.lease_seconds()
        if not ends.over and (ends.cancelled.is_set() or lease <= 0):
            ends.over = True
            connection.shutdown(socket.SHUT_WR)
            until = monotonic() + ANSWER_SECONDS
        if monotonic() > until:
            if ends.over:
                raise Ended
            raise Broke("The program that runs the command did not end in time.")
        if not ends.over and monotonic() >= told + LEASE_SECONDS:
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
        yield from (message for message in map(json.loads, lines) if "work" not in message)


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
