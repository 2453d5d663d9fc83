"""A virtual host, the interface of sequences. No Django."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Collection
from functools import partial
from time import perf_counter_ns
from typing import TypeVar, overload

from campaigns.kinds.load.counting import CountingWire, Following
from campaigns.kinds.load.failures import LoadFailed, of_status
from campaigns.kinds.load.part import Part
from campaigns.kinds.load.wire import Answer, Awaited, Wire, opened
from campaigns.kinds.programs.pinned import Pinned
from campaigns.kit.http.task_pacing import Tasks
from campaigns.kit.mappings import ProgramRequest, ProgramResult

HANDSHAKES_AT_ONCE = 32
"""In a process. A handshake takes milliseconds of CPU time; with a thousand at once, all would end late, and
no answer would be read meanwhile."""


class Limits:
    """What all hosts of a process share: the owner's limits, and the target."""

    def __init__(self, part: Part, request: ProgramRequest, place: Pinned) -> None:
        job = part.job
        self.part = part
        self.request = request
        self.place = place
        self.tls_context = job.tls_context()
        self.handshakes = asyncio.Semaphore(HANDSHAKES_AT_ONCE)
        self.turn = Tasks(part.pacer) if job.most_per_second else None
        self.at_once = asyncio.Semaphore(job.own_concurrent) if job.most_concurrent else None


WireOf = TypeVar("WireOf", bound=Awaited)


class Host:
    """One iteration of a virtual host; each iteration has an object of its own.

    number: from 0, unique in the whole run. iteration: from 0. intended_ns: when it should begin.
    request: of the program. prepared: the values from `prepare`.
    columns: further values of its row of samples; every host has to set the same names.
    """

    def __init__(
        self,
        limits: Limits,
        number: int,
        iteration: int,
        intended_ns: int,
        prepared: ProgramRequest,
    ) -> None:
        self.number = number
        self.iteration = iteration
        self.intended_ns = intended_ns
        self.prepared = prepared
        self.columns: ProgramResult = {}
        self.began_ns = 0
        self.steps = self.retries = 0
        self._limits = limits
        self._part = limits.part
        self._lane = Lane(self, intended_ns)
        self._wires: list[Awaited] = []

    @property
    def request(self) -> ProgramRequest:
        """The program's request."""
        return self._limits.request

    @property
    def place(self) -> Pinned:
        """The target, resolved once."""
        return self._limits.place

    def lane(self, intended_ns: int) -> "Lane":
        """Return another lane, for a request at the same time as others; it is free since `intended_ns`."""
        return Lane(self, intended_ns)

    @overload
    async def connect(
        self, tls_context: ssl.SSLContext | None = None, *, retry: bool = False
    ) -> Wire: ...
    @overload
    async def connect(
        self,
        tls_context: ssl.SSLContext | None = None,
        *,
        retry: bool = False,
        make: Callable[[], WireOf],
    ) -> WireOf: ...
    async def connect(
        self,
        tls_context: ssl.SSLContext | None = None,
        *,
        retry: bool = False,
        make: Callable[[], Awaited] = Wire,
    ) -> Awaited:
        """Open a connection to the target, of the kind that `make` returns; https without a context uses that of the run.

        Its times are recorded as `connect` and `tls`. retry: it is for a repeated request. Raise
        LoadFailed.
        """
        job = self._part.job
        self._begin()
        try:
            wire = await opened(
                make,
                self.place,
                job.rules,
                tls_context or self._limits.tls_context,
                job.connect_timeout_seconds,
                job.tls_timeout_seconds,
                self._limits.handshakes,
            )
        except LoadFailed as failure:
            if self.counts:
                self._part.failed(failure, retry=retry)
            raise
        self._wires = [earlier for earlier in self._wires if earlier.open]
        self._wires.append(wire)
        if self.counts:
            self._part.recorder.add("connect", wire.connect_ns)
            if wire.tls_ns:
                self._part.recorder.add("tls", wire.tls_ns)
                self._part.recorder.add("tls_wait", wire.tls_wait_ns)
        return wire

    async def step(
        self,
        name: str,
        wire: Awaited,
        data: bytes,
        *,
        timeout_seconds: float | None = None,
        accepted: Collection[int] = (),
        retry: bool = False,
    ) -> Answer:
        """Send a request on the host's own lane: see `Lane.step`."""
        return await self._lane.step(
            name, wire, data, timeout_seconds=timeout_seconds, accepted=accepted, retry=retry
        )

    @property
    def counts(self) -> bool:
        """Whether it began after the warm-up."""
        return self.intended_ns >= self._part.from_ns

    def close(self) -> None:
        """Close all its connections."""
        for wire in self._wires:
            wire.close()
        self._wires.clear()

    def _begin(self) -> None:
        if not self.began_ns:
            self.began_ns = perf_counter_ns()


Check = Callable[[Answer], None]
"""Raises LoadFailed where an answer is not right."""


class Lane:
    """What has one request of a host at a time; hosts that download in parallel have several. free_ns: when the last one had ended.

    A request should begin when its lane is free, so a wait of this program counts as its time.
    """

    __slots__ = ("_host", "_limits", "_part", "free_ns")

    def __init__(self, host: Host, free_ns: int) -> None:
        self.free_ns = free_ns
        self._host = host
        self._limits = host._limits
        self._part = host._part

    @property
    def may_chain(self) -> bool:
        """Whether requests may follow one another at once (`CountingWire.ask`): not where the target's owner limits them."""
        return self._limits.at_once is None and self._limits.turn is None

    async def step(
        self,
        name: str,
        wire: Awaited,
        data: bytes,
        *,
        timeout_seconds: float | None = None,
        accepted: Collection[int] = (),
        retry: bool = False,
        check: Check | None = None,
    ) -> Answer:
        """Send a request and return its answer, recorded under `name`. Raise LoadFailed.

        A status that is a failure (`failures.of_status`) raises, unless it is one of `accepted`; `check` replaces this. retry:
        the request was sent before; it is recorded separately.
        """
        self._host._begin()
        if self._limits.at_once is None:
            return await self._step(name, wire, data, timeout_seconds, accepted, retry, check)
        async with self._limits.at_once:
            return await self._step(name, wire, data, timeout_seconds, accepted, retry, check)

    async def chain(
        self,
        name: str,
        wire: CountingWire,
        data: bytes,
        following: Following,
        *,
        check: Check,
    ) -> Answer:
        """Send requests one after another, as `following` returns them; return the last answer. Raise LoadFailed.

        They are recorded as `step` does. No coroutine is resumed between two of them, which halves the cost of one.
        """
        host = self._host
        host._begin()
        instants, statuses = self._part.recorder.instants_of(name), self._part.recorder.statuses
        counts = host.counts

        def passed(answer: Answer) -> bytes | None:
            data = following(answer)
            if data is not None:
                host.steps += 1
                if counts:
                    instants.add(self.free_ns, answer.sent_ns, answer.first_byte_ns, answer.done_ns)
                    statuses[answer.status] += 1
                self.free_ns = answer.done_ns
            return data

        host.steps += 1
        asking = wire.ask(data, self._part.job.timeout_seconds, passed)
        answer = await self._judged(asking, wire, check, retry=False)
        if counts:
            instants.add(self.free_ns, answer.sent_ns, answer.first_byte_ns, answer.done_ns)
            statuses[answer.status] += 1
        self.free_ns = answer.done_ns
        return answer

    async def _step(
        self,
        name: str,
        wire: Awaited,
        data: bytes,
        timeout_seconds: float | None,
        accepted: Collection[int],
        retry: bool,
        check: Check | None,
    ) -> Answer:
        if self._limits.turn is not None:
            await self._limits.turn.turn()
        host, intended = self._host, self.free_ns
        host.steps, host.retries = host.steps + 1, host.retries + retry
        asking = wire.ask(data, timeout_seconds or self._part.job.timeout_seconds)
        check = check or partial(_check_status, name, accepted)
        answer = await self._judged(asking, wire, check, retry=retry)
        self.free_ns = answer.done_ns
        if host.counts:
            self._record(name, intended, answer, retry)
        return answer

    async def _judged(
        self, asking: Awaitable[Answer], wire: Awaited, check: Check, *, retry: bool
    ) -> Answer:
        """Return an answer that is right. Raise LoadFailed, which is counted."""
        try:
            answer = await asking
            check(answer)
        except LoadFailed as failure:
            intended, self.free_ns = self.free_ns, perf_counter_ns()
            if self._host.counts:
                self._part.failed(failure, retry=retry)
                if failure.kind == "timeout":
                    self._part.timed_out(intended, wire, "retry_" if retry else "")
            raise
        return answer

    def _record(self, name: str, intended: int, answer: Answer, retry: bool) -> None:
        recorder, prefix = self._part.recorder, "retry_" if retry else ""
        values = {
            "lag": answer.sent_ns - intended,
            "service": answer.done_ns - answer.sent_ns,
            "response": answer.done_ns - intended,
        }
        for series, value in values.items():
            recorder.add(f"{prefix}{series}", value)
            recorder.add(f"{prefix}{series}:{name}", value)
        if not retry:
            recorder.add("first_byte", answer.first_byte_ns - answer.sent_ns)
            recorder.add("body", answer.done_ns - answer.first_byte_ns)
            recorder.statuses[answer.status] += 1
            recorder.bytes += len(answer.body)


def _check_status(name: str, accepted: Collection[int], answer: Answer) -> None:
    kind = of_status(answer.status)
    if not kind or answer.status in accepted:
        return
    text = answer.body[:300].decode(errors="replace")
    raise LoadFailed(
        kind, f"{name}: the server answered {answer.status}: {text}", status=answer.status
    )
