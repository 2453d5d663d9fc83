"""Runs commands for a worker as a user of its own, who has no key, no login and no way to the services of perfdash.

Usage: python -m campaigns.kinds.programs.service --socket PATH --work DIRECTORY [--tidy DIRECTORY ...]

A worker of the same machine connects to the socket; whoever may open that directory, may run commands here. Lines of JSON:
out `{"work": PATH}` at once; in `{"command": ..., "lease": s}`, then `{"lease": s}` regularly; out `{"progress": ...}`, and at
last `{"ran": ...}`, `{"not_started": ...}` or `{"broke": ...}`. The command is ended when the worker's half of the connection is,
or the lease has run out. One command runs at a time. After each, every other process of this user is killed, and every file of
this user in the directories named is removed, so that nothing waits there for the secrets of the next; then the last line is sent.

A command has the same user, so it may stop or kill any process but the first one of a PID namespace: the service is that one.
Limits and priorities, which it may lower for each process of its user, are compared after it; the service ends if they differ,
and whoever started it starts another one.
"""

import argparse
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import traceback
from base64 import b64encode
from collections.abc import Container, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from campaigns.kinds.programs.commands import Command, Ran
from campaigns.kinds.programs.run_here import Broke, Ended, NotStarted, run_in
from campaigns.kit import kernel

FIRST_LINE_SECONDS = 20.0
MOST_BYTES = 16 * 2**20
"""Of one line; a command has at most some megabytes of secrets and arguments."""
ALONE_SECONDS = 5.0
SWEEP_PAUSE_SECONDS = 0.005
SEND_SECONDS = 10.0
"""A worker that reads no answer for so long keeps nobody waiting."""
PREFIX = "run-"
NOT_ALONE = (
    "Other processes of this user run. After each command this service kills all processes of its user: start it as a user "
    "of its own, or in a container of its own."
)
NOT_FIRST = (
    "This is not the first process of a PID namespace, so commands could stop it: start it in a container of its own without "
    "an init, or by unshare --user --map-current-user --pid --fork --kill-child --mount-proc."
)
BUG = "An error of perfdash itself, see the log of the service: {}."
CHANGED = "A command has changed limits, priority or processors of this service, which ends: start it again."
LIMITS = sorted({getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")})


class Service:
    """Serves one connection after the other."""

    def __init__(self, path: Path, work: Path, tidied: Sequence[Path]) -> None:
        self.path, self.work, self.tidied = path, work, tidied
        self._running = threading.Lock()
        self._listening = self._listen()
        self._kept = frozenset(os.listdir(path.parent))
        self._modes = {each: each.stat().st_mode & 0o7777 for each in (path.parent, work)}
        self._standing = standing()

    def serve(self) -> None:
        """Serve until the process ends."""
        while True:
            self._listening.settimeout(1.0)
            with suppress(TimeoutError):
                connection, _ = self._listening.accept()
                connection.settimeout(None)
                threading.Thread(target=self._attend, args=[connection], daemon=True).start()
            if self._running.acquire(blocking=False):
                try:
                    self._keep_the_place()
                finally:
                    self._running.release()

    def _listen(self) -> socket.socket:
        self.path.unlink(missing_ok=True)
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listening.bind(str(self.path))
        self.path.chmod(0o666)  # who may enter the directory may connect
        listening.listen(16)
        self._place = self.path.lstat().st_ino
        return listening

    def _keep_the_place(self) -> None:
        """Listen anew where a command has removed the socket. In the thread that accepts, while no command runs."""
        with suppress(OSError):
            if self.path.lstat().st_ino == self._place:
                return
        with suppress(OSError):
            self._listening.close()
        _do("rm", "-rf", "--", str(self.path))
        self._listening = self._listen()

    def _attend(self, connection: socket.socket) -> None:
        client = Client(connection)
        with connection, suppress(OSError):
            client.send({"work": str(self.work)})
            request = client.first_request()
            if request is None:
                return
            threading.Thread(target=client.listen, daemon=True).start()
            while not self._running.acquire(timeout=0.2):
                if client.gone.is_set() or client.lease_seconds() <= 0:
                    return
            try:
                answer = self._run(request, client)
                self.sweep()
                connection.settimeout(SEND_SECONDS)
                client.tell(answer)
                if standing() != self._standing:
                    sys.stderr.write(f"{CHANGED}\n")
                    os._exit(1)
            finally:
                self._running.release()

    def _run(self, request: dict[str, Any], client: "Client") -> dict[str, Any]:
        try:
            command = Command(**request["command"])
            ran = run_in(
                self.work / f"{PREFIX}{command.marker}",
                command,
                [],
                cancelled=client.gone,
                lease_seconds=client.lease_seconds,
                progress=lambda values: client.tell({"progress": values}),
            )
        except NotStarted as error:
            return {"not_started": str(error)}
        except (Broke, OSError) as error:
            return {"broke": str(error)}
        except Ended:
            return {"broke": "The command was ended with its lease."}
        except Exception as bug:  # noqa: BLE001 - the worker waits for an answer
            traceback.print_exc()
            return {"broke": BUG.format(type(bug).__name__)}
        return {"ran": encoded(ran)}

    def sweep(self) -> None:
        """Kill all other processes of this user, and remove its files."""
        while others():
            with suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
            sleep(SWEEP_PAUSE_SECONDS)
        reap()
        for place, mode in self._modes.items():
            with suppress(OSError):  # of somebody else
                place.chmod(mode)
        empty(self.path.parent, self._kept)
        for place in (self.work, *self.tidied):
            empty(place)


class Client:
    """One worker, while its command runs."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.gone = threading.Event()
        self._lines = connection.makefile("rb")
        self._until = 0.0
        self._sending = threading.Lock()

    def first_request(self) -> dict[str, Any] | None:
        """Return the request; None where the worker only asked for the directory, or sends none in time."""
        self.connection.settimeout(FIRST_LINE_SECONDS)
        line = self._line()
        self.connection.settimeout(None)
        return json.loads(line) if line else None

    def listen(self) -> None:
        """Take leases until the connection ends."""
        try:
            with suppress(OSError, ValueError, LookupError, TypeError):
                while self._line():
                    pass
        finally:
            self.gone.set()

    def lease_seconds(self) -> float:
        """Return how long the command may go on."""
        return self._until - monotonic()

    def send(self, message: dict[str, Any]) -> None:
        """Write one line. Raise OSError."""
        with self._sending:
            self.connection.sendall(json.dumps(message).encode() + b"\n")

    def tell(self, message: dict[str, Any]) -> None:
        """Write one line; that nobody reads it is noticed elsewhere."""
        with suppress(OSError):
            self.send(message)

    def _line(self) -> bytes:
        line = self._lines.readline(MOST_BYTES)
        if line:
            self._until = monotonic() + float(json.loads(line)["lease"])
        return line


def encoded(ran: Ran) -> dict[str, Any]:
    """Return how a command ended as JSON."""
    return {
        **asdict(ran),
        "output": b64encode(ran.output).decode(),
        "errors": b64encode(ran.errors).decode(),
        "files": {name: b64encode(content).decode() for name, content in ran.files.items()},
    }


def others() -> bool:
    """Return whether another process of this user lives; the first one, which no signal reaches, does not count."""
    mine, first = str(os.getuid()), {"1", str(os.getpid())}
    for number in filter(str.isdecimal, os.listdir("/proc")):
        if number in first:
            continue
        with suppress(OSError, ValueError):
            status = dict(
                line.split(":", 1)
                for line in Path(f"/proc/{number}/status").read_text().splitlines()
            )
            real, _, saved, *_ = status["Uid"].split()  # kill(2)
            if mine in (real, saved) and status["State"].split()[0] not in ("Z", "X"):
                return True
    return False


def standing() -> tuple[object, ...]:
    """Return what any process of this user may change of this one: limits, and processors and priorities of its threads."""
    limits = [resource.getrlimit(each) for each in LIMITS]
    threads = set()
    for thread in map(int, os.listdir("/proc/self/task")):
        with suppress(OSError):  # it has just ended
            processors = frozenset(os.sched_getaffinity(thread))
            priority = os.getpriority(os.PRIO_PROCESS, thread)
            threads.add((processors, priority, os.sched_getscheduler(thread)))
    return limits, threads


def reap() -> None:
    """Take the exit codes of children, which the first process of a container gets from all."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def empty(place: Path, but: Container[str] = ()) -> None:
    """Remove what this user owns in a directory, whatever modes it was given, and however deep it is. but: names that stay."""
    mine: list[str] = []
    with suppress(OSError), os.scandir(place) as entries:
        mine += [
            each.path
            for each in entries
            if each.name not in but and each.stat(follow_symlinks=False).st_uid == os.getuid()
        ]
    for path in mine:
        if os.path.isdir(path) and not os.path.islink(path):
            _do("chmod", "-R", "u+rwX", "--", path)
        _do("rm", "-rf", "--", path)


def _do(*words: str) -> None:
    subprocess.run(words, capture_output=True, check=False)  # noqa: S603 - our own words


def main(words: Sequence[str] | None = None) -> int:
    """Serve; return 2 where that would kill what is not ours, or a command could end it."""
    parser = argparse.ArgumentParser(prog="python -m campaigns.kinds.programs.service")
    parser.add_argument("--socket", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--tidy", type=Path, nargs="*", default=())
    options = parser.parse_args(words)
    until = monotonic() + ALONE_SECONDS  # of a health check that is just ending
    while os.getuid() == 0 or others():
        if os.getuid() == 0 or monotonic() > until:
            sys.stderr.write(f"{NOT_ALONE}\n")
            return 2
        sleep(SWEEP_PAUSE_SECONDS)
    if os.getpid() != 1:
        sys.stderr.write(f"{NOT_FIRST}\n")
        return 2
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))  # the first process of a container
    kernel.hide_process()
    service = Service(options.socket, options.work, options.tidy)
    service.sweep()
    service.serve()
    return 0


if __name__ == "__main__":
    sys.exit(main())
