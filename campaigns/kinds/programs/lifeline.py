"""An engine program's side of the pipes to its keeper: what it is told, reports, and what ends it.

Imports the standard library and its neighbours only; no Django, no database. An engine that loads a target must not
outlive the permission to do so. The whole process group is killed as soon as

- the kernel says that the keeper has died (PR_SET_PDEATHSIG), or its end of the pipe is closed;
- the last lease that the keeper told has run out. A keeper that was stopped tells nothing. The
  lease is an instant of a clock that all processes of a machine share, so a line that waited in
  the pipe lengthens nothing; and the kernel ends the program then, stopped or not (`deadline`).

Lines in: `{"request": ..., "parent": pid, "alive_until": s}`, then `{"alive_until": s}` on and on, and
`{"start_at": s}` once, to a program that has said that it is ready. All instants are of `monotonic`.
Lines out: `{KIND: value}` with hello, ready, progress, samples (columns), and one result as the last.
"""

import json
import os
import select
import signal
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from campaigns.kinds.programs.deadline import Deadline, monotonic
from campaigns.kit import kernel

SECONDS_TO_BE_TOLD = 20.0
"""How long a new program waits for its request."""
SECONDS_OF_GRACE = 0.25
"""For the program to end its whole group; then the kernel ends it alone."""


class Lifeline:
    """The pipes to the keeper. `request` is what was asked for."""

    def __init__(self) -> None:
        """Begin to watch; nothing has been asked for yet."""
        self.request: Mapping[str, Any] = {}
        self._told = threading.Event()
        self._start_told = threading.Event()
        self._start_at = 0.0
        self._listeners: list[Callable[[Mapping[str, Any]], None]] = []
        self._deadline = Deadline()
        self._alive_until = monotonic() + SECONDS_TO_BE_TOLD
        self._writing = threading.Lock()
        self._finishing = threading.Lock()
        self._output = os.dup(1)
        os.dup2(2, 1)  # what a library prints must not stand between the lines

    def listen(self) -> None:
        """Wait for the request, and watch the lease from now on."""
        threading.Thread(target=self._watch, name="lifeline", daemon=True).start()
        self._told.wait()

    @property
    def alive_until(self) -> float:
        """When the lease ends, as far as it is known; an instant of `monotonic`."""
        return self._alive_until

    def start_at(self, seconds: float | None = None) -> float | None:
        """Wait until the keeper tells when to begin; None where it does not within `seconds`."""
        return self._start_at if self._start_told.wait(seconds) else None

    def pass_on(self, listener: Callable[[Mapping[str, Any]], None]) -> None:
        """Give every further message to `listener` too, in the thread that watches."""
        self._listeners.append(listener)

    def report(self, kind: str, value: Any) -> None:
        """Write one line to the keeper; threads may do so at once."""
        line = json.dumps({kind: value}, separators=(",", ":")).encode() + b"\n"
        with self._writing:
            while line:
                line = line[os.write(self._output, line) :]

    def finish(self, result: Mapping[str, Any]) -> NoReturn:
        """Report the result and end the program, whatever other threads are doing.

        The first who finishes wins; a second one waits for the end.
        """
        self._finishing.acquire()
        self.report("result", result)
        os._exit(0)

    def _watch(self) -> None:
        received = bytearray()
        while (left := self._alive_until - monotonic()) > 0:
            if not select.select([0], [], [], left)[0]:
                continue
            data = os.read(0, 1 << 20)
            if not data:
                break
            received += data
            if b"\n" in received and not select.select([0], [], [], 0)[0]:  # the newest counts
                *lines, received = received.split(b"\n")
                self._hear([json.loads(line) for line in lines])
        kill_own_group()

    def _hear(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Take what has come; a start that was slow finds the lease renewed behind the request."""
        leases = [message["alive_until"] for message in messages if "alive_until" in message]
        if leases:
            self._alive_until = float(leases[-1])
            self._deadline.at(self._alive_until + SECONDS_OF_GRACE)
        for message in messages:
            for listener in self._listeners:
                listener(message)
            if "start_at" in message:
                self._start_at = float(message["start_at"])
                self._start_told.set()
            if "request" in message:
                if os.getppid() != message["parent"]:  # it died before the kernel was asked to tell
                    kill_own_group()
                self.request = message["request"]
                self._told.set()


def run(main: Callable[[Lifeline], Mapping[str, Any]]) -> NoReturn:
    """Be an engine program: take the request, do it, report the result, end."""
    kernel.die_with_parent(os.getppid())
    kernel.raise_open_files()
    lifeline = Lifeline()
    try:
        lifeline.listen()
        result = main(lifeline)
    except BaseException:  # noqa: BLE001 - told on stderr; threads that hang must not keep us
        traceback.print_exc()
        os._exit(1)
    lifeline.finish(result)


def kill_own_group() -> NoReturn:
    """End this program and all that it started, at once."""
    if os.getpgrp() == os.getpid():  # not so where a person runs it in a shell
        os.killpg(0, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
    os._exit(1)
