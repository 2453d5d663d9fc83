"""Share the files of a run out to several processes of one engine. Standard library and neighbours.

The processes take files from one queue, in the manifest's order: an unnamed file of their numbers, whose
offset the kernel shares between all of them. (That of a memory file is not safe: two processes get the same
number.) The bytes that each has received are in shared memory. Lines of JSON go to them (`request`,
`start`, `stop`) and come back (`hello`, `rows`, `end`). They are in the engine's process group, and die
with it.
"""

import json
import mmap
import os
import selectors
import subprocess
import sys
import threading
from array import array
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType

from campaigns.kinds.programs.downloading import Run
from campaigns.kit.mappings import Json, ProgramHello, ProgramMessage, ProgramRequest, ProgramResult

BYTES_OF_A_NUMBER = 4
BYTES_OF_A_COUNT = 8
SECONDS_TO_STOP = 1.5
"""What the processes may take to stop at the time limit; then they are counted as they are."""


class Shared:
    """The bytes that one of several processes has received, in shared memory."""

    __slots__ = ("_at", "_counts")

    def __init__(self, counts: memoryview, at: int) -> None:
        """counts: unsigned numbers of 64 bits."""
        self._counts = counts
        self._at = at

    @property
    def value(self) -> int:
        """The bytes so far."""
        return int(self._counts[self._at])

    @value.setter
    def value(self, value: int) -> None:
        self._counts[self._at] = value


def queue_of(number: int, directory: Path) -> int:
    """Return the descriptor of a queue of the numbers below `number`, for processes that inherit it."""
    with TemporaryFile(dir=directory) as queue:
        queue.write(array("I", range(number)).tobytes())
        queue.seek(0)
        return os.dup(queue.fileno())


def numbers_from(queue: int) -> Iterator[int]:
    """Yield numbers of the queue, until none is left."""
    while number := os.read(queue, BYTES_OF_A_NUMBER):
        yield int.from_bytes(number, sys.byteorder)


def shared_counts(descriptor: int, number: int) -> memoryview:
    """Return the counts of `number` processes, in a memory file."""
    return memoryview(mmap.mmap(descriptor, number * BYTES_OF_A_COUNT)).cast("Q")


class Shards:
    """The processes, for use by the engine program in a `with`."""

    def __init__(self, module: str, request: ProgramRequest, run: Run, number: int) -> None:
        """Start `python -m module` so many times, each with the engine's request."""
        self._run = run
        self._queue = queue_of(len(run.job.items), run.job.directory)
        self._counts = os.memfd_create("counts")
        os.ftruncate(self._counts, number * BYTES_OF_A_COUNT)
        counts = shared_counts(self._counts, number)
        for at in range(number):
            run.tally.count(Shared(counts, at))
        self._ends: list[ProgramResult] = []
        self._ended = threading.Event()
        self._processes = [
            subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [sys.executable, "-E", "-s", "-m", module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                pass_fds=(self._queue, self._counts),
            )
            for _ in range(number)
        ]
        run.watch([process.pid for process in self._processes], self._stop)
        for at, process in enumerate(self._processes):
            place = {"queue": self._queue, "counts": self._counts, "at": at, "of": number}
            self._send(process, {"request": request, "parent": os.getpid(), **place})

    def __enter__(self) -> "Shards":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the pipes of the processes, which ends them, and wait for them."""
        for process in self._processes:
            with suppress(BrokenPipeError):
                process.stdin.close()  # type: ignore[union-attr]
            process.wait()

    def ready(self) -> list[ProgramHello]:
        """Wait until all of them are ready; return their hello messages."""
        return [
            json.loads(process.stdout.readline() or b"{}")["hello"]  # type: ignore[union-attr]
            for process in self._processes
        ]

    def start(self, value: Json) -> None:
        """Start the processes, once the clock of the run has started."""
        for process in self._processes:
            self._send(process, {"start": {**value, "origin": self._run.tally.origin}})

    def wait(self) -> bool:
        """Read their samples until all have ended; return whether every file was processed.

        Raise RuntimeError where one of them crashed; its error is on stderr.
        """
        selector = selectors.DefaultSelector()
        received = {}
        for process in self._processes:
            selector.register(process.stdout, selectors.EVENT_READ)  # type: ignore[arg-type]
            received[process.stdout] = bytearray()
        while selector.get_map():
            for key, _ in selector.select():
                data = os.read(key.fd, 1 << 20)
                if not data:
                    raise RuntimeError("a process of the engine ended before its work did")
                *lines, received[key.fileobj] = (received[key.fileobj] + data).split(b"\n")  # type: ignore[index]
                for line in lines:
                    if self._take(json.loads(line)):
                        selector.unregister(key.fileobj)
        self._ended.set()
        return all(end["complete"] for end in self._ends)

    def figure(self, name: str) -> float:
        """Return the sum of a number that each of them reported at its end."""
        return sum(float(end[name]) for end in self._ends)

    def counts(self, name: str) -> dict[str, int]:
        """Return the sums of counts by name."""
        return dict(sum((Counter(end[name]) for end in self._ends), Counter()))

    def _take(self, message: ProgramMessage) -> bool:
        """Process a message; return whether it was the last one of its process."""
        self._run.tally.take(message.get("rows", ()), message.get("examples", {}))
        if "end" not in message:
            return False
        self._ends.append(message["end"])
        return True

    def _stop(self) -> bool:
        """Stop the processes; return whether all did so, and `wait` goes on."""
        for process in self._processes:
            self._send(process, {"stop": True})
        return self._ended.wait(SECONDS_TO_STOP)

    def _send(self, process: "subprocess.Popen[bytes]", message: ProgramMessage) -> None:
        with suppress(BrokenPipeError):  # it has crashed, which `ready` or `wait` reports
            process.stdin.write(json.dumps(message).encode() + b"\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
