"""One process's part of a run: its clock, its health, its reports. No Django."""

import asyncio
import gc
import time
from collections.abc import Mapping, Sequence
from time import perf_counter_ns
from typing import Any, Protocol

from campaigns.kinds.load import network_card
from campaigns.kinds.load.alarm import Alarm
from campaigns.kinds.load.failures import LoadFailed
from campaigns.kinds.load.framing import Framing
from campaigns.kinds.load.job import Job
from campaigns.kinds.load.recorder import FOLD_SECONDS, Recorder
from campaigns.kinds.programs import health
from campaigns.kinds.programs.deadline import monotonic
from campaigns.kinds.programs.lifeline import Lifeline
from campaigns.kit import kernel
from campaigns.kit.http.pacing import Pacer
from campaigns.kit.mappings import ProgramProgress, ProgramResult

NS = 1_000_000_000
LAG_STEP_NS = 10_000_000
START_AFTER_SECONDS = 0.05
REPORT_SECONDS = 1.0


class Work(Protocol):
    """The work of a part: prepare, then load until it is done."""

    async def prepare(self) -> None:
        """Prepare everything that is not measured."""

    async def load(self) -> None:
        """Load from the origin on."""

    def progress(self) -> ProgramProgress:
        """Return the progress."""

    def rows(self) -> Mapping[str, list[Any]]:
        """Return the samples since the last call, as columns of equal length."""

    def late(self) -> None:
        """Count what is not done at the time limit."""

    def figures(self) -> Mapping[str, float]:
        """Return further figures for the judge."""

    def result(self) -> ProgramResult:
        """Return further parts of the result."""


class Part:
    """What sequences and plain load share. origin_ns: second 0, of perf_counter_ns."""

    def __init__(self, lifeline: Lifeline, job: Job) -> None:
        self.job = job
        self.lifeline = lifeline
        self.recorder = Recorder()
        self.alarm = Alarm()
        self.pacer = Pacer(job.own_per_second)
        self.examples: dict[str, str] = {}
        self.exhausted = 0
        self.origin_ns = self.from_ns = 0
        self.first_ns = self.last_ns = 0
        self._cards = network_card.read()
        self._monitor = health.Monitor(lambda: self.recorder.bytes, lambda seconds: None)

    async def run(self, work: Work) -> ProgramResult:
        """Prepare, wait for the start, load, and return the result."""
        await work.prepare()
        gc.collect()
        gc.freeze()  # the collector skips what was prepared while the clock runs
        self.lifeline.report("ready", {"hosts": len(self.job.schedule.numbers)})
        start_at = await self._start()
        self.origin_ns = perf_counter_ns() + int((start_at - monotonic()) * NS)
        self.from_ns = self.origin_ns + self.job.schedule.warm_up_ns
        await self.alarm.until(self.origin_ns)
        complete = await self._loaded(work)
        return self._result(work, start_at, complete=complete)

    def failed(self, failure: LoadFailed, *, retry: bool = False) -> None:
        """Count a failure, and store the first message of its class."""
        self.recorder.fail(failure.kind, retry=retry)
        self.exhausted += failure.exhausted
        self.examples.setdefault(failure.kind, str(failure)[:500])

    def timed_out(self, intended_ns: int, line: Framing | None = None, prefix: str = "") -> None:
        """Note how long a request had waited: from its intended start, and from its sending where it was sent on a line."""
        now, recorder = perf_counter_ns(), self.recorder
        recorder.censor("response", now - intended_ns, prefix)
        if line is not None:
            recorder.censor("service", now - line.sent_ns, prefix)
            if not line.first_byte_ns:
                recorder.censor("first_byte", now - line.sent_ns, prefix)

    def dropped(self, intended: Sequence[int], failure: LoadFailed) -> None:
        """Count arrivals that found no free host, by their intended starts: each is a request, and a round, that timed out."""
        now, recorder = perf_counter_ns(), self.recorder
        for instant in intended:
            if instant < self.from_ns:
                recorder.warm_up += 1
                continue
            self.failed(failure)
            recorder.censor("response", now - instant)
            recorder.censor("host_response", now - instant)

    def ended(self) -> None:
        """Note when the load ended: with its last answer, or with its duration where that is later.

        Where the last requests time out, a wait that belongs to no answer would lower the rate otherwise.
        """
        now, end_ns = perf_counter_ns(), self.job.schedule.end_ns
        self.recorder.fold((now - self.origin_ns) // NS)
        self.last_ns = now
        if end_ns is not None:
            self.last_ns = min(now, max(self.origin_ns + end_ns, self.recorder.answered_ns))

    async def _start(self) -> float:
        job = self.job
        if job.start_at is not None:
            return job.start_at
        if not job.wait_for_start:
            return monotonic() + START_AFTER_SECONDS
        while (start_at := self.lifeline.start_at(0)) is None:
            await asyncio.sleep(0.005)
        return start_at

    async def _loaded(self, work: Work) -> bool:
        """Load within the time limit; return whether all was done."""
        self._monitor.start()
        self._cards = network_card.read()
        self._watch_lag()
        watching = [asyncio.create_task(task) for task in (self._fold(), self._report(work))]
        try:
            async with asyncio.timeout(self.job.time_limit_seconds):
                await work.load()
        except TimeoutError:
            work.late()
            return False
        finally:
            self._monitor.stop()
            for task in watching:
                task.cancel()
            self.alarm.close()
        return True

    async def _fold(self) -> None:
        while True:
            await asyncio.sleep(FOLD_SECONDS)
            self.recorder.fold((perf_counter_ns() - self.origin_ns) // NS)

    async def _report(self, work: Work) -> None:
        while True:
            await asyncio.sleep(REPORT_SECONDS)
            self._report_progress(work)

    def _watch_lag(self) -> None:
        """Record how late the loop makes a call that was due."""
        lag = self.recorder.named("loop_lag")
        due = perf_counter_ns() + LAG_STEP_NS

        def late() -> None:
            nonlocal due
            now = perf_counter_ns()
            lag.values.append(max(0, now - due))
            due = max(due + LAG_STEP_NS, now)
            timer.set(due)

        timer = self.alarm.timer(late)
        timer.set(due)

    def _report_progress(self, work: Work) -> None:
        recorder = self.recorder
        seconds = (perf_counter_ns() - self.origin_ns) / NS
        self.lifeline.report(
            "progress",
            {
                "seconds": seconds,
                "requests_done": sum(recorder.per_second["done"]),
                "requests_failed": recorder.failed,
                "per_second": recorder.per_second["done"],
                **self._monitor.waited_so_far(),
                **work.progress(),
            },
        )
        if rows := work.rows():
            self.lifeline.report("samples", rows)

    def _result(self, work: Work, start_at: float, *, complete: bool) -> ProgramResult:
        self.recorder.fold(int(self._monitor.seconds))
        self._report_progress(work)
        figures = self._figures(work)
        return {
            "complete": complete,
            "start_at": start_at,
            "started_at": time.clock_gettime(time.CLOCK_REALTIME)
            - (perf_counter_ns() - self.origin_ns) / NS,
            "seconds": self._monitor.seconds,
            "window": [(instant - self.origin_ns) / NS for instant in (self.first_ns, self.last_ns)]
            if self.last_ns
            else [],
            "cpu_seconds": self._monitor.cpu_seconds,
            "peak_memory_bytes": health.peak_memory_bytes(),
            "examples": self.examples,
            **self.recorder.result(),
            **work.result(),
            "processes": [figures],
            "figures": figures,
        }

    def _figures(self, work: Work) -> dict[str, float]:
        """Return the figures for `judging.judge`."""
        figures = self._monitor.figures() | {"exhausted": float(self.exhausted)}
        figures["busiest_process_cores"] = figures["cpu_cores"]
        percentiles = {
            "loop_lag_p99_seconds": ("loop_lag", 0.99),
            "service_p50_seconds": ("service", 0.5),
            "lag_p99_seconds": ("lag", 0.99),
            "tls_wait_p99_seconds": ("tls_wait", 0.99),
            "host_response_p50_seconds": ("host_response", 0.5),
        }
        for name, (series, share) in percentiles.items():
            value = self.recorder.percentile(series, share)
            if value is not None:
                figures[name] = value
        if ports := kernel.local_ports():
            figures |= {"ports_in_use": float(ports.in_use), "ports": float(ports.every)}
        card = network_card.share(self._cards, network_card.read())
        if card is not None:
            figures["network_share"] = card
        if interval := self.job.schedule.interval_seconds:
            figures["expected_interval_seconds"] = interval
        return figures | self._held_back() | dict(work.figures())

    def _held_back(self) -> dict[str, float]:
        """Return the figures about the owner's rate limit; nothing where there is none."""
        if not self.pacer.per_second:
            return {}
        every = self._monitor.seconds * len(self.job.schedule.numbers)
        return {
            "requests_allowed_per_second": self.pacer.per_second,
            "held_back_share": self.pacer.held_seconds / every if every else 0.0,
        }
