"""Run a sequence for every virtual host of one process, as the schedule says. No Django."""

import asyncio
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from time import perf_counter_ns
from typing import Any

from campaigns.kinds.load.failures import LoadFailed
from campaigns.kinds.load.host import Host, Limits
from campaigns.kinds.load.part import NS, Part
from campaigns.kinds.load.schedule import CLOSED
from campaigns.kit.mappings import ProgramProgress, ProgramRequest, ProgramResult

Sequence = Callable[[Host], Awaitable[None]]
COLUMNS = (
    "host",
    "iteration",
    "intended_us",
    "start_us",
    "total_us",
    "steps",
    "retries",
    "failure",
)
PREPARED_AT_ONCE = 16


class Sequences:
    """The hosts of one process. A host's row has COLUMNS, and those that the sequence adds.

    Times are microseconds after the start; total_us counts from the intended start. A sequence fails by
    raising LoadFailed; any other exception is a bug and ends the program. In an open loop arrivals wait for a free host, or, with
    `refuses_when_full` in the request, are counted as not begun.
    """

    def __init__(
        self, part: Part, limits: Limits, sequence: Sequence, prepare: Sequence | None = None
    ) -> None:
        self.part = part
        self.limits = limits
        self.sequence = sequence
        self.prepare_one = prepare
        self.prepared: dict[int, ProgramRequest] = {}
        self.running: dict[int, Host] = {}
        self.columns: dict[str, list[Any]] = {}
        self.failures: Counter[str] = Counter()
        self.done = self.begun = self.warm_up = self.due = 0
        self.refuses_when_full = bool(limits.request.get("refuses_when_full"))
        self.not_begun = self.at_work = 0
        self.last_due_ns = 0

    async def prepare(self) -> None:
        """Call `prepare` for every host, some at a time."""
        if self.prepare_one is None:
            return
        at_once = asyncio.Semaphore(PREPARED_AT_ONCE)

        async def one(number: int, prepare_one: Sequence) -> None:
            async with at_once:
                await prepare_one(
                    Host(self.limits, number, 0, 0, self.prepared.setdefault(number, {}))
                )

        async with asyncio.TaskGroup() as group:
            for number in self._numbers():
                group.create_task(one(number, self.prepare_one))

    async def load(self) -> None:
        """Run all hosts to their end."""
        schedule = self.part.job.schedule
        async with asyncio.TaskGroup() as group:
            if schedule.loop == CLOSED:
                for number in schedule.numbers:
                    group.create_task(self._repeat(number))
                return
            hosts = asyncio.Semaphore(len(schedule.numbers))
            for number, at_ns in schedule.arrivals_ns():
                await self.part.alarm.until(self.part.origin_ns + at_ns)
                self.due += 1
                self.last_due_ns = self.part.origin_ns + at_ns
                if self.refuses_when_full and self.at_work >= len(schedule.numbers):
                    self.not_begun += 1
                    continue
                self.at_work += 1
                group.create_task(self._arrive(hosts, number, self.part.origin_ns + at_ns))

    def progress(self) -> ProgramProgress:
        """Return the numbers of hosts, and how long the longest answer took; 0 without any."""
        longest = self.part.recorder.percentile("service", 1.0)
        return {
            "longest_seconds": longest or 0.0,
            "hosts_done": self.done,
            "hosts_failed": self.failures.total(),
            "hosts_running": len(self.running),
            "hosts": len(self._numbers()),
        }

    def rows(self) -> Mapping[str, list[Any]]:
        """Return the rows of hosts that have ended."""
        rows, self.columns = self.columns, {}
        return rows

    def late(self) -> None:
        """Count the running hosts as timed out."""
        for host in list(self.running.values()):
            self._ended(host, LoadFailed("timeout", "the time limit of the run was over"))

    def figures(self) -> Mapping[str, float]:
        """Return how many hosts were offered, and how many were begun in time."""
        if self.part.job.schedule.loop == CLOSED:
            return {}
        figures = {"offered": float(self.due), "sent": float(self.begun)}
        return figures | ({"not_begun": float(self.not_begun)} if self.refuses_when_full else {})

    def result(self) -> ProgramResult:
        """Return the numbers of hosts, each iteration as one; those of the warm-up separately."""
        return {
            "hosts": self.done + self.failures.total(),
            "hosts_done": self.done,
            "hosts_failed": self.failures.total(),
            "host_failures": dict(self.failures),
            "warm_up": self.warm_up,
            "not_begun": self.not_begun,
        }

    def _numbers(self) -> range:
        schedule = self.part.job.schedule
        if schedule.loop != CLOSED and schedule.iterations is not None:
            return range(schedule.shard, schedule.iterations, schedule.shards)
        return schedule.numbers

    async def _repeat(self, number: int) -> None:
        """Run a host of a closed loop."""
        schedule, alarm = self.part.job.schedule, self.part.alarm
        end = None if schedule.end_ns is None else self.part.origin_ns + schedule.end_ns
        intended = self.part.origin_ns + schedule.start_ns(number)
        iteration = 0
        while schedule.iterations is None or iteration < schedule.iterations:
            if end is not None and intended >= end:
                return
            await alarm.until(intended)
            await self._live(number, iteration, intended)
            iteration += 1
            intended = perf_counter_ns() + int(schedule.think_seconds * NS)

    async def _arrive(self, hosts: asyncio.Semaphore, number: int, intended: int) -> None:
        try:
            async with hosts:
                await self._live(number, 0, intended)
        finally:
            self.at_work -= 1

    async def _live(self, number: int, iteration: int, intended: int) -> None:
        host = Host(self.limits, number, iteration, intended, self.prepared.setdefault(number, {}))
        self.running[id(host)] = host
        self.begun += self._in_time()
        failure: LoadFailed | None = None
        try:
            await self.sequence(host)
        except LoadFailed as failed:
            failure = failed
        except asyncio.CancelledError:
            raise
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            host.close()
        self._ended(host, failure)

    def _in_time(self) -> bool:
        """Return whether a host that begins now keeps the requested rate."""
        interval = self.part.job.schedule.interval_seconds or 0.0
        return perf_counter_ns() <= self.last_due_ns + interval * NS

    def _ended(self, host: Host, failure: LoadFailed | None) -> None:
        ended = perf_counter_ns()
        if self.running.pop(id(host), None) is None:
            return
        part = self.part
        if not host.counts:
            self.warm_up += 1
            return
        began = host.began_ns or ended
        part.first_ns = min(part.first_ns or began, began)
        part.last_ns = max(part.last_ns, ended)
        kind = failure.kind if failure else ""
        if failure is None:
            self.done += 1
            part.recorder.add("host_lag", began - host.intended_ns)
            part.recorder.add("host_service", ended - began)
            part.recorder.add("host_response", ended - host.intended_ns)
        else:
            self.failures[kind] += 1
            part.examples.setdefault(kind, str(failure)[:500])
        self._row(host, began, ended, kind)

    def _row(self, host: Host, began: int, ended: int, kind: str) -> None:
        origin = self.part.origin_ns
        row = {
            "host": host.number,
            "iteration": host.iteration,
            "intended_us": (host.intended_ns - origin) // 1000,
            "start_us": (began - origin) // 1000,
            "total_us": (ended - host.intended_ns) // 1000,
            "steps": host.steps,
            "retries": host.retries,
            "failure": kind,
            **host.columns,
        }
        for column, value in row.items():
            self.columns.setdefault(column, []).append(value)
