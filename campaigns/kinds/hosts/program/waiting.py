"""What all programs of virtual hosts share: they wait for jobs until the end is asked for, and report a row for each. No Django."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from time import perf_counter_ns
from typing import Any, Generic, Protocol, TypeVar

from campaigns.kinds.hosts.program.jobs import Job
from campaigns.kinds.load.part import Part
from campaigns.kit.mappings import ProgramMessage, ProgramProgress

LAST_SECONDS = 2.0
"""How long jobs may take that are under way when the hosts are ended: the proxy knows their ends before they do."""
GOODBYE_SECONDS = 0.05
"""How long connections may take to send a last packet."""
LOOK_SECONDS = 0.02


class Tasks:
    """What hosts do at a time. broke: is called with an error that is a bug."""

    def __init__(self, broke: Callable[[BaseException], None]) -> None:
        self.broke = broke
        self._tasks: set[asyncio.Task[None]] = set()

    def run(self, coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run what a host does, until `cancel`."""
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def cancel(self) -> None:
        """Cancel all of it."""
        for task in self._tasks:
            task.cancel()

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.broke(error)


def give_up(jobs: Iterable[Job]) -> None:
    """Count the jobs that are not over as failed."""
    for job in jobs:
        if not job.is_over:
            job.failure, job.words = "timeout", "it was not done when the hosts were ended"


class WaitingHost(Protocol):
    """A host with its jobs, by their names."""

    jobs: dict[str, Job]

    @property
    def is_busy(self) -> bool:
        """Whether something of it is under way, for which the end waits a moment."""

    def leave(self) -> None:
        """Take leave, and count what is not done as failed."""

    def close(self) -> None:
        """Close the connections at once."""


AHost = TypeVar("AHost", bound=WaitingHost)


class Waiting(Generic[AHost]):
    """The hosts of a process, which wait for jobs: a part of `load.part.Work`. A row is a job of a host, or a host without one."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.hosts: Sequence[AHost] = ()
        self.tasks = Tasks(self.broke)
        self.over = asyncio.Event()
        self.connected_at_end = 0
        self._bug: BaseException | None = None
        self._reported = False
        loop = asyncio.get_running_loop()

        def listen(message: ProgramMessage) -> None:
            if "end" in message:
                loop.call_soon_threadsafe(self.over.set)

        part.lifeline.pass_on(listen)

    def progress(self) -> ProgramProgress:
        """Return what the hosts have done so far."""
        raise NotImplementedError

    def row(self, host: AHost, job: Job | None) -> dict[str, Any]:
        """Return the row of a job, or of a host without one."""
        raise NotImplementedError

    async def load(self) -> None:
        """Answer jobs until the end is asked for."""
        self.part.first_ns = self.part.origin_ns
        counts = {"seconds": 0.0, "requests_done": 0, "requests_failed": 0, "per_second": []}
        self.part.lifeline.report("progress", {**counts, **self.progress()})
        await self.over.wait()
        if self._bug is not None:
            raise self._bug
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_SECONDS):
                await self._idle()
        self.late()
        await asyncio.sleep(GOODBYE_SECONDS)
        for host in self.hosts:
            host.close()

    def late(self) -> None:
        """End all hosts."""
        self.part.last_ns = perf_counter_ns()
        self.connected_at_end = int(self.progress()["hosts_connected"])
        self.tasks.cancel()
        for host in self.hosts:
            host.leave()

    def rows(self) -> Mapping[str, list[Any]]:
        """Return all rows, at the end."""
        if self._reported or not self.part.last_ns:
            return {}
        self._reported = True
        rows = [self.row(host, job) for host in self.hosts for job in host.jobs.values() or [None]]
        return {name: [row[name] for row in rows] for name in rows[0]}

    def figures(self) -> Mapping[str, float]:
        """Return nothing: the server decides when there is something to do."""
        return {}

    def broke(self, error: BaseException) -> None:
        """End the program with a bug."""
        self._bug = error
        self.over.set()

    def jobs(self) -> Iterator[Job]:
        """Return the jobs of all hosts."""
        return (job for host in self.hosts for job in host.jobs.values())

    def since(self, instant: int) -> int | None:
        """Return an instant in microseconds after the start, negative before it; None where there is none."""
        return (instant - self.part.origin_ns) // 1000 if instant else None

    async def _idle(self) -> None:
        while any(host.is_busy for host in self.hosts):
            await asyncio.sleep(LOOK_SECONDS)
