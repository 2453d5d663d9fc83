"""All virtual hosts of one process, as the load engine runs them. No Django."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from time import perf_counter_ns
from typing import Any

from campaigns.kinds.hosts.program.jobs import Job, Script
from campaigns.kinds.hosts.program.virtual_host import Shared, VirtualHost
from campaigns.kinds.load.host import Limits
from campaigns.kinds.load.part import NS, Part
from campaigns.kinds.programs.pinned import pin
from campaigns.kit.mappings import ProgramMessage, ProgramProgress, ProgramRequest, ProgramResult

LOOK_SECONDS = 1.0
"""Seconds between two looks at the connections."""
LAST_SECONDS = 2.0
"""How long jobs may take that are under way when the hosts are ended: the proxy knows their ends before they do."""
GOODBYE_SECONDS = 0.05
"""How long connections may take to send a last packet."""


class Crew:
    """The hosts of a process: see `load.part.Work`. A row is a job of a host, or a host without one."""

    def __init__(self, part: Part, request: ProgramRequest) -> None:
        """Make the hosts of this part of the run. Raise BadUrl, Refused or OSError where there is no address for them."""
        self.part = part
        self.shared = Shared(
            part=part,
            limits=Limits(part, request, part.job.pinned()),
            broker=pin(request["broker"], part.job.rules),
            proxy_url=part.job.url,
            sender=str(request.get("sender", "perfdash")),
            keep_alive=int(request.get("keep_alive_seconds", 30)),
            script=Script(hosts=part.job.schedule.hosts, **request.get("script", {})),
            settled=self._settled,
            broke=self._broke,
        )
        self.connect_seconds = float(request.get("connect_seconds", 120.0))
        identities = request.pop("identities")  # those of other parts are not kept
        self.hosts = [VirtualHost(self.shared, n, identities[n]) for n in part.job.schedule.numbers]
        self._unsettled = set(part.job.schedule.numbers)
        self._all_settled = asyncio.Event()
        self._over = asyncio.Event()
        self._bug: BaseException | None = None
        self._connected_at_end = self._connect_ns = 0
        self._reported = False
        loop = asyncio.get_running_loop()

        def listen(message: ProgramMessage) -> None:
            if "end" in message:
                loop.call_soon_threadsafe(self._over.set)

        part.lifeline.pass_on(listen)

    async def prepare(self) -> None:
        """Connect all hosts. Nobody waits for one that fails again and again; it goes on trying."""
        begun = perf_counter_ns()
        for host in self.hosts:
            self.shared.run(host.stay())
        self.shared.run(self._look())
        with suppress(TimeoutError):
            async with asyncio.timeout(self.connect_seconds):
                await self._all_settled.wait()
        self._connect_ns = perf_counter_ns() - begun

    async def load(self) -> None:
        """Answer jobs until the end is asked for."""
        self.part.first_ns = self.part.origin_ns
        counts = {"seconds": 0.0, "requests_done": 0, "requests_failed": 0, "per_second": []}
        self.part.lifeline.report("progress", {**counts, **self.progress()})
        await self._over.wait()
        if self._bug is not None:
            raise self._bug
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_SECONDS):
                await self._jobs_done()
        self.late()
        await asyncio.sleep(GOODBYE_SECONDS)
        for host in self.hosts:
            host.close()

    def progress(self) -> ProgramProgress:
        """Return what the hosts have done so far."""
        jobs = [job for host in self.hosts for job in host.jobs.values()]
        return {
            "hosts": len(self.hosts),
            "hosts_begun": len(self.hosts) if self.part.first_ns else 0,
            "hosts_connected": sum(host.is_connected for host in self.hosts),
            "jobs_notified": len(jobs),
            "jobs_fetched": sum(job.fetched_ns > 0 for job in jobs),
            "hosts_done": sum(job.finished_ns > 0 for job in jobs),
            "hosts_failed": sum(bool(job.failure) for job in jobs),
            "disconnects": sum(host.disconnects for host in self.hosts),
            "bad_messages": sum(host.bad_messages for host in self.hosts),
            "unconnected_because": self._why_unconnected(),
        }

    def rows(self) -> Mapping[str, list[Any]]:
        """Return all rows, at the end."""
        if self._reported or not self.part.last_ns:
            return {}
        self._reported = True
        rows = [self._row(host, job) for host in self.hosts for job in host.jobs.values() or [None]]
        return {name: [row[name] for row in rows] for name in rows[0]}

    def late(self) -> None:
        """End all hosts."""
        self.part.last_ns = perf_counter_ns()
        self._connected_at_end = sum(host.is_connected for host in self.hosts)
        for task in self.shared.tasks:
            task.cancel()
        for host in self.hosts:
            host.leave()

    def figures(self) -> Mapping[str, float]:
        """Return nothing: the server decides when requests are sent."""
        return {}

    def result(self) -> ProgramResult:
        """Return the counts, and of the hosts that are not connected how many failed in which way."""
        progress = self.progress()
        del progress["unconnected_because"]  # rows and examples have the reasons
        counts = Counter({**progress, "hosts_connected": self._connected_at_end})
        failures = Counter(host.failure.kind for host in self.hosts if host.failure is not None)
        counts.update({f"unconnected_{kind}": count for kind, count in failures.items()})
        return {
            "hosts": len(self.hosts),
            "hosts_done": counts["hosts_done"],
            "hosts_failed": counts["hosts_failed"],
            "connect_seconds": self._connect_ns / NS,
            "answering": dict(counts),
        }

    def _why_unconnected(self) -> str:
        """Return why the first host that is not connected is not; empty where all are, or none has failed yet."""
        failures = (host.failure for host in self.hosts)
        return next((str(each)[:300] for each in failures if each is not None), "")

    def _broke(self, error: BaseException) -> None:
        self._bug = error
        self._over.set()
        self._all_settled.set()

    async def _jobs_done(self) -> None:
        while not all(job.is_over for host in self.hosts for job in host.jobs.values()):
            await asyncio.sleep(0.02)

    def _settled(self, host: VirtualHost) -> None:
        if host.failure is not None:
            self.part.examples.setdefault(host.failure.kind, str(host.failure)[:500])
        self._unsettled.discard(host.number)
        if not self._unsettled:
            self._all_settled.set()

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            now = perf_counter_ns()
            for host in self.hosts:
                host.look(now)

    def _row(self, host: VirtualHost, job: Job | None) -> dict[str, Any]:
        job = job or Job("")
        failure, words = job.failure, job.words or host.bad_words
        if not host.connected_ns and host.failure is not None:
            failure, words = host.failure.kind, str(host.failure)[:300]
        return {
            "host": host.number,
            "uuid": host.uuid,
            "job": job.uuid,
            "connected_us": self._since(host.connected_ns),
            "notified_us": self._since(job.notified_ns),
            "fetched_us": self._since(job.fetched_ns),
            "finished_us": self._since(job.finished_ns),
            "script_sha256": job.sha256,
            "script_bytes": job.script_bytes,
            "exit_code": job.exit_code,
            "cancelled": int(job.cancelled.is_set()),
            "duplicates": job.told - 1,
            "disconnects": host.disconnects,
            "bad_messages": host.bad_messages,
            "failure": failure,
            "words": words,
        }

    def _since(self, instant: int) -> int | None:
        """Return an instant in microseconds after the start, negative before it; None where there is none."""
        return (instant - self.part.origin_ns) // 1000 if instant else None
