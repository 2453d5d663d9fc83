"""An engine program's side of the pipes to its keeper: its input, its reports, and what ends it.

Imports the standard library and its neighbours only; no Django, no database. An engine that loads a target
must not outlive the permission to do so. The whole process group is killed as soon as

- the keeper has died (PR_SET_PDEATHSIG), or its end of the pipe is closed;
- the last lease from the keeper has run out. A stopped keeper sends no new one. The lease is an instant
  of a clock that all processes of a machine share, so a delayed line does not lengthen it; and the kernel
  ends the program then, stopped or not (`deadline`).

Lines in: `{"request": ..., "parent": pid, "alive_until": s}`, then `{"alive_until": s}` regularly, and
`{"start_at": s}` once, after the program has reported that it is ready. All instants are of `monotonic`.
`{"end": true}` asks a program that waits for others to end, and to report its result (`pass_on`).
Lines out: `{KIND: value}` with hello, ready, progress, samples (columns), and one result as the last.
"""

import gc
import json
import os
import select
import signal
import threading
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from campaigns.kinds.programs.deadline import Deadline, monotonic
from campaigns.kit import kernel
from campaigns.kit.mappings import ProgramMessage, ProgramRequest, ProgramResult

REQUEST_TIMEOUT_SECONDS = 20.0
"""How long a new program waits for its request."""
SECONDS_OF_GRACE = 0.25
"""How long the program may take to kill its group before the kernel kills it alone."""


class Lifeline:
    """The pipes to the keeper. request: what to do."""

    def __init__(self) -> None:
        """Prepare the pipes; the request has not arrived yet."""
        self.request: ProgramRequest = {}
        self._start_known = threading.Event()
        self._start_at = 0.0
        self._listeners: list[Callable[[ProgramMessage], None]] = []
        self._deadline = Deadline()
        self._alive_until = monotonic() + REQUEST_TIMEOUT_SECONDS
        self._received = bytearray()
        self._writing = threading.Lock()
        self._finishing = threading.Lock()
        self._output = os.dup(1)
        os.dup2(2, 1)  # output of libraries must not mix with the lines

    def receive(self) -> None:
        """Wait for the request."""
        while not self.request:
            if not self._look():
                kill_own_group()

    def watch(self) -> None:
        """Watch the lease from now on, in a thread."""
        threading.Thread(target=self._watch, name="lifeline", daemon=True).start()

    def leave(self) -> None:
        """Close the pipes in a forked child: they are its parent's."""
        os.close(0)
        os.close(self._output)

    @property
    def alive_until(self) -> float:
        """When the lease ends, as far as known; an instant of `monotonic`."""
        return self._alive_until

    def start_at(self, seconds: float | None = None) -> float | None:
        """Wait for the start from the keeper, and return it; None where it does not arrive within `seconds`."""
        return self._start_at if self._start_known.wait(seconds) else None

    def pass_on(self, listener: Callable[[ProgramMessage], None]) -> None:
        """Pass every further message to `listener` too, in the watching thread."""
        self._listeners.append(listener)

    def report(self, kind: str, value: Any) -> None:
        """Write one line to the keeper. Safe in threads."""
        line = json.dumps({kind: value}, separators=(",", ":")).encode() + b"\n"
        with self._writing:
            while line:
                line = line[os.write(self._output, line) :]

    def finish(self, result: ProgramResult) -> NoReturn:
        """Report the result and end the program, whatever other threads are doing.

        The first call counts; a second one waits for the end of the process.
        """
        self._finishing.acquire()
        self.report("result", result)
        os._exit(0)

    def _watch(self) -> None:
        while self._look():
            pass
        kill_own_group()

    def _look(self) -> bool:
        """Wait for messages, and process them; return False when the lease has run out or the pipe is closed."""
        left = self._alive_until - monotonic()
        if left <= 0:
            return False
        if not select.select([0], [], [], left)[0]:
            return True
        data = os.read(0, 1 << 20)
        if not data:
            return False
        self._received += data
        if b"\n" in self._received and not select.select([0], [], [], 0)[0]:  # the newest counts
            *lines, self._received = self._received.split(b"\n")
            self._take([json.loads(line) for line in lines])
        return True

    def _take(self, messages: Sequence[ProgramMessage]) -> None:
        """Process messages, leases first: after a slow start, a newer lease follows the request."""
        leases = [message["alive_until"] for message in messages if "alive_until" in message]
        if leases:
            self._alive_until = float(leases[-1])
            self._deadline.at(self._alive_until + SECONDS_OF_GRACE)
        for message in messages:
            for listener in self._listeners:
                listener(message)
            if "start_at" in message:
                self._start_at = float(message["start_at"])
                self._start_known.set()
            if "request" in message:
                if os.getppid() != message["parent"]:  # it died before `die_with_parent`
                    kill_own_group()
                self.request = message["request"]


def run(main: Callable[[Lifeline], ProgramResult], *, forks: bool = False) -> NoReturn:
    """Run an engine program: read the request, call `main`, report its result, and exit.

    forks: `main` forks, and calls `watch` afterwards, since a process with threads should not fork. Until
    then, only the kernel watches the lease.
    """
    gc.freeze()  # the collector never looks at what was imported
    gc.enable()
    kernel.die_with_parent(os.getppid())
    kernel.raise_open_files()
    lifeline = Lifeline()
    try:
        lifeline.receive()
        if not forks:
            lifeline.watch()
        result = main(lifeline)
    except BaseException:  # noqa: BLE001 - shown on stderr; hanging threads must not keep the process alive
        import traceback  # only for this

        traceback.print_exc()
        os._exit(1)
    lifeline.finish(result)


def kill_own_group() -> NoReturn:
    """Kill this program and all that it started."""
    if os.getpgrp() == os.getpid():  # not so where a person runs it in a shell
        os.killpg(0, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
    os._exit(1)
