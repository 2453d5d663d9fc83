"""All virtual hosts of one process, as the load engine runs them. No Django."""

import asyncio
from collections import Counter
from contextlib import suppress
from time import perf_counter_ns
from typing import Any

from campaigns.kinds.hosts.program.jobs import Job, Script
from campaigns.kinds.hosts.program.virtual_host import Shared, VirtualHost
from campaigns.kinds.hosts.program.waiting import Waiting
from campaigns.kinds.load.host import Limits
from campaigns.kinds.load.part import NS, Part
from campaigns.kinds.programs.pinned import pin
from campaigns.kit.mappings import ProgramProgress, ProgramRequest, ProgramResult

LOOK_SECONDS = 1.0
"""Seconds between two looks at the connections."""


class Crew(Waiting[VirtualHost]):
    """The hosts of a process: see `load.part.Work`."""

    def __init__(self, part: Part, request: ProgramRequest) -> None:
        """Make the hosts of this part of the run. Raise BadUrl, Refused or OSError where there is no address for them."""
        super().__init__(part)
        self.shared = Shared(
            part=part,
            limits=Limits(part, request, part.job.pinned()),
            broker=pin(request["broker"], part.job.rules),
            proxy_url=part.job.url,
            sender=str(request.get("sender", "perfdash")),
            keep_alive=int(request.get("keep_alive_seconds", 30)),
            script=Script(hosts=part.job.schedule.hosts, **request.get("script", {})),
            settled=self._settled,
            tasks=self.tasks,
        )
        self.connect_seconds = float(request.get("connect_seconds", 120.0))
        identities = request.pop("identities")  # those of other parts are not kept
        self.hosts = [VirtualHost(self.shared, n, identities[n]) for n in part.job.schedule.numbers]
        self._unsettled = set(part.job.schedule.numbers)
        self._all_settled = asyncio.Event()
        self._connect_ns = 0

    async def prepare(self) -> None:
        """Connect all hosts. Nobody waits for one that fails again and again; it goes on trying."""
        begun = perf_counter_ns()
        for host in self.hosts:
            self.tasks.run(host.stay())
        self.tasks.run(self._look())
        with suppress(TimeoutError):
            async with asyncio.timeout(self.connect_seconds):
                await self._all_settled.wait()
        self._connect_ns = perf_counter_ns() - begun

    def progress(self) -> ProgramProgress:
        """Return what the hosts have done so far."""
        jobs = list(self.jobs())
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

    def row(self, host: VirtualHost, job: Job | None) -> dict[str, Any]:
        """Return the row of a job, or of a host without one."""
        job = job or Job("")
        failure, words = job.failure, job.words or host.bad_words
        if not host.connected_ns and host.failure is not None:
            failure, words = host.failure.kind, str(host.failure)[:300]
        return {
            "host": host.number,
            "uuid": host.uuid,
            "job": job.uuid,
            "connected_us": self.since(host.connected_ns),
            "notified_us": self.since(job.notified_ns),
            "fetched_us": self.since(job.fetched_ns),
            "finished_us": self.since(job.finished_ns),
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

    def result(self) -> ProgramResult:
        """Return the counts, and of the hosts that are not connected how many failed in which way."""
        progress = self.progress()
        del progress["unconnected_because"]  # rows and examples have the reasons
        counts = Counter({**progress, "hosts_connected": self.connected_at_end})
        failures = Counter(host.failure.kind for host in self.hosts if host.failure is not None)
        counts.update({f"unconnected_{kind}": count for kind, count in failures.items()})
        return {
            "hosts": len(self.hosts),
            "hosts_done": counts["hosts_done"],
            "hosts_failed": counts["hosts_failed"],
            "connect_seconds": self._connect_ns / NS,
            "answering": dict(counts),
        }

    def broke(self, error: BaseException) -> None:
        """End the program with a bug."""
        super().broke(error)
        self._all_settled.set()

    def _why_unconnected(self) -> str:
        """Return why the first host that is not connected is not; empty where all are, or none has failed yet."""
        failures = (host.failure for host in self.hosts)
        return next((str(each)[:300] for each in failures if each is not None), "")

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
