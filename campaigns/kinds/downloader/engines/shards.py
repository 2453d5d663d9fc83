"""Share the files of a run out to several processes of one engine. Standard library and neighbours.

The processes are forked from the engine's, so that they have loaded and read what it has. They take files
from one queue, in the manifest's order: an unnamed file of their numbers, whose offset the kernel shares
between all of them. (That of a memory file is not safe: two processes get the same number.) The bytes that
each has received are in shared memory. Lines of JSON go to them (`start`, `stop`) and come back (`hello`,
`rows`, `end`). They are in the engine's process group, and die with it.
"""

import json
import mmap
import os
import selectors
import sys
import threading
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, NoReturn

from campaigns.kinds.programs.downloading import Job, Run
from campaigns.kinds.programs.lifeline import Lifeline
from campaigns.kit import kernel
from campaigns.kit.mappings import Json, ProgramHello, ProgramMessage, ProgramResult

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
    path = directory / "queue"
    queue = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    path.unlink()
    with open(queue, "wb", closefd=False) as file:
        file.write(array("I", range(number)).tobytes())
    os.lseek(queue, 0, os.SEEK_SET)
    return queue


def numbers_from(queue: int) -> Iterator[int]:
    """Yield numbers of the queue, until none is left."""
    while number := os.read(queue, BYTES_OF_A_NUMBER):
        yield int.from_bytes(number, sys.byteorder)


class Shard:
    """One of the processes: its place among them, and its pipes to the engine. at: from 0. of: how many there are."""

    def __init__(
        self, at: int, of: int, queue: int, counter: Shared, orders: int, reports: int
    ) -> None:
        self.at = at
        self.of = of
        self.counter = counter
        self._queue = queue
        self._orders = os.fdopen(orders, "rb")
        self._reports = reports

    def numbers(self) -> Iterator[int]:
        """Yield the numbers of the files that this process is to fetch."""
        return numbers_from(self._queue)

    def receive(self) -> ProgramMessage:
        """Wait for a message of the engine; end with it."""
        line = self._orders.readline()
        if not line:
            os._exit(0)
        message: ProgramMessage = json.loads(line)
        return message

    def send(self, message: ProgramMessage) -> None:
        """Send a message to the engine."""
        line = memoryview(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        while line:
            line = line[os.write(self._reports, line) :]


Work = Callable[[Shard], None]
"""The work of a process, which reports `end` as the last."""


class _Process:
    """A forked process, as the engine sees it."""

    def __init__(self, pid: int, orders: int, reports: int) -> None:
        self.pid = pid
        self.orders: BinaryIO = os.fdopen(orders, "wb", buffering=0)
        self.reports: BinaryIO = os.fdopen(reports, "rb")


class Shards:
    """The processes, for use by the engine program in a `with`."""

    def __init__(self, lifeline: Lifeline, job: Job, number: int, work: Work) -> None:
        """Fork so many processes, each of which calls `work`. No thread may have been started yet."""
        self._run: Run
        self._ends: list[ProgramResult] = []
        self._ended = threading.Event()
        self._queue = queue_of(len(job.items), job.directory)
        counts = memoryview(mmap.mmap(-1, number * BYTES_OF_A_COUNT)).cast("Q")
        self._counters = [Shared(counts, at) for at in range(number)]
        self._processes: list[_Process] = []
        for at in range(number):
            self._processes.append(self._forked(lifeline, at, number, work))

    def _forked(self, lifeline: Lifeline, at: int, of: int, work: Work) -> _Process:
        engine = os.getpid()
        (their_orders, our_orders), (our_reports, their_reports) = os.pipe(), os.pipe()
        pid = os.fork()
        if pid:
            os.close(their_orders)
            os.close(their_reports)
            return _Process(pid, our_orders, our_reports)
        try:
            kernel.die_with_parent(engine)
            lifeline.leave()
            for ours in (
                our_orders,
                our_reports,
                *(one.orders.fileno() for one in self._processes),
            ):
                os.close(ours)
            shard = Shard(at, of, self._queue, self._counters[at], their_orders, their_reports)
            _work(work, shard)
        finally:
            os._exit(1)  # it may never go on as the engine

    def join(self, run: Run) -> None:
        """Make the processes part of a run: of its bytes, its resources and its time limit."""
        self._run = run
        for counter in self._counters:
            run.tally.count(counter)
        run.watch([process.pid for process in self._processes], self._stop)

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
            process.orders.close()
        for process in self._processes:
            os.waitpid(process.pid, 0)

    def ready(self) -> list[ProgramHello]:
        """Wait until all of them are ready; return their hello messages."""
        return [
            json.loads(process.reports.readline() or b"{}")["hello"] for process in self._processes
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
            selector.register(process.reports, selectors.EVENT_READ)
            received[process.reports.fileno()] = bytearray()
        while selector.get_map():
            for key, _ in selector.select():
                data = os.read(key.fd, 1 << 20)
                if not data:
                    raise RuntimeError("a process of the engine ended before its work did")
                *lines, received[key.fd] = (received[key.fd] + data).split(b"\n")
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

    def _send(self, process: _Process, message: ProgramMessage) -> None:
        with suppress(BrokenPipeError):  # it has crashed, which `ready` or `wait` reports
            process.orders.write(json.dumps(message).encode() + b"\n")


def _work(work: Work, shard: Shard) -> None:
    """Work, and exit when the engine closes the pipe: it reads the CPU time of this process before."""
    try:
        work(shard)
    except BaseException:  # noqa: BLE001 - shown on stderr; the listening thread must not keep the process alive
        import traceback  # only for this

        traceback.print_exc()
        os._exit(1)
    threading.Event().wait()


def listen(shard: Shard, stopped: threading.Event) -> NoReturn:
    """Wait for the message to stop, and exit when the engine closes the pipe."""
    while True:
        if "stop" in shard.receive():
            stopped.set()
