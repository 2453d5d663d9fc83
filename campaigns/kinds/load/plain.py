"""Repeat one request in every virtual host: the fast kind of load, with callbacks. No Django.

The cost of a request here bounds the load of a process, so `Link.data_received` is one function instead of
five: see docs/reference/load-engine.md.
"""

import asyncio
import re
from collections.abc import Callable, Mapping
from time import perf_counter_ns
from typing import Any

from campaigns.kinds.load.failures import LoadFailed, of_status
from campaigns.kinds.load.framing import UNPARSABLE, Direct
from campaigns.kinds.load.loops import Closed, Open, Paced
from campaigns.kinds.load.part import NS, Part
from campaigns.kinds.load.schedule import CLOSED
from campaigns.kinds.load.wire import opened
from campaigns.kit.mappings import ProgramProgress, ProgramRequest, ProgramResult

ENDLESS = 1 << 62
OPENED_AT_ONCE = 64
PAUSE_SECONDS = 0.05
"""The wait before a host without a connection tries again, to spare a target that is down."""
PARSED_MEANWHILE = 16
"""Of so many answers that are parsed, one head is remembered: servers may change it with each answer."""
LENGTH = re.compile(
    rb"\n(?:content-length|transfer-encoding)[ \t]*:[ \t]*([^\r\n]*)", re.IGNORECASE
)
SWEEP_SECONDS = 0.05
"""How often requests are checked for their timeout."""


def usual(data: bytes) -> tuple[bytes, int]:
    """Return the head of an answer, and the length of answers that begin so; empty and 0 where it tells no length.

    data: a whole answer that keeps the connection open.
    """
    end = data.find(b"\r\n\r\n") + 4
    head = data[:end]
    lengths = LENGTH.findall(head)
    if len(lengths) != 1 or not lengths[0].isdigit() or end + int(lengths[0]) != len(data):
        return b"", 0
    return head, len(data)


class Link(Direct, asyncio.Protocol):
    """A connection of a client. An answer with the head of one that was parsed is known without parsing."""

    def __init__(self, client: "Client") -> None:
        super().__init__()
        self.client = client
        instants = client.crew.recorder.instants
        self._intended = instants.intended.append
        self._sent = instants.sent.append
        self._first_byte = instants.first_byte.append
        self._done = instants.done.append

    def data_received(self, data: bytes) -> None:
        """Record a usual answer (200, in one piece) here, and send the next request at once."""
        if self.first_byte_ns or not self.busy:
            super().data_received(data)
            return
        first = perf_counter_ns()
        client = self.client
        crew = client.crew
        # An answer with the head of one that was parsed has its status and a body of its length, and keeps the connection open as that
        # did. With as many bytes in all it is whole: there is nothing to parse, and the parser, which is between two answers, need not
        # know of it. The body may be another; nobody looks at it here. All else goes to the parser: another head, an answer in
        # several pieces, and, since `usual_bytes` is 0 then, every answer before a head is known.
        if len(data) != crew.usual_bytes or client.retry or not data.startswith(crew.usual_head):
            try:
                self._feed(data)
            except UNPARSABLE as error:
                self.unparsable(data, error)
                return
            if self._answers != 1 or self.status != 200 or client.retry or not self.keep_alive:
                self.first_byte_ns = first
                self.take(data)
                return
            # These bytes are one whole 200, which is recorded below, not by `take`.
            self._answers = 0
            crew.parsed += 1
            if not crew.parsed % PARSED_MEANWHILE:
                crew.usual_head, crew.usual_bytes = usual(data)
        done = perf_counter_ns()
        self._intended(client.intended_ns)
        self._sent(self.sent_ns)
        self._first_byte(first)
        self._done(done)
        crew.recorder.bytes += len(data)
        # The next request is sent from here, without a call into the loop, unless the loop has to decide: at the end of the time or of
        # the host's requests, and where `chained_until_ns` is 0, because requests arrive, wait, or are paced. Without a socket to write to
        # (TLS, or a write that it did not take whole) the loop sends, too.
        if done >= crew.chained_until_ns or client.left == 1 or self._fd < 0:
            self.busy = False
            crew.loop.next(client, done)
            return
        client.left -= 1
        client.intended_ns = done
        self.sent_ns = perf_counter_ns()
        self._write(client.data)

    def finished(self) -> None:
        self.client.finished(self)

    def broke(self, failure: LoadFailed) -> None:
        self.client.broke(self, failure)


class Client:
    """A virtual host. left: how many requests it still has to send."""

    __slots__ = (
        "crew",
        "data",
        "failures",
        "intended_ns",
        "left",
        "link",
        "number",
        "retry",
        "todo",
    )

    def __init__(self, crew: "Crew", number: int, data: bytes, todo: int) -> None:
        self.crew = crew
        self.number = number
        self.data = data
        self.todo = self.left = todo
        self.link: Link | None = None
        self.intended_ns = self.failures = 0
        self.retry = False

    def go(self, intended_ns: int) -> None:
        """Send the request that should have begun at `intended_ns`."""
        self.intended_ns = intended_ns
        link = self.link
        if link is not None and link.open:
            link.send(self.data)
        else:
            self.crew.connect(self)

    def finished(self, link: Link) -> None:
        """Record an unusual answer, and go on."""
        self.crew.unusual(self, link)
        self.crew.loop.next(self, link.done_ns)

    def broke(self, link: Link, failure: LoadFailed) -> None:
        """Count a failure; repeat the request once where a reused connection was dropped."""
        self.link = None
        again = failure.unanswered and bool(link.status) and not self.retry
        self.crew.failed(self, failure, link=link)
        self.crew.lost += 1
        if again:
            self.retry = True
            self.go(self.intended_ns)
        else:
            self.retry = False
            self.crew.unanswered += 1
            self.crew.loop.next(self, perf_counter_ns())


class Crew:
    """All clients of a process. Until `chained_until_ns` they send their next request themselves.

    data: the bytes of a host's request by its number; None: as `request` says. statuses: those that are right, 200 among them; none:
    the usual ones. usual_head, usual_bytes: of answers that need not be parsed (see `usual`). parsed: how many usual ones were.
    unanswered: requests that ended without an answer, and lost: those that were sent and got none, each repetition as one. Both
    have those of the warm-up, as all that the target may have counted. in_flight: requests that had not ended at the time limit.
    """

    def __init__(
        self,
        part: Part,
        request: ProgramRequest,
        data: Callable[[int], bytes] | None = None,
        statuses: frozenset[int] = frozenset(),
    ) -> None:
        schedule, job = part.job.schedule, part.job
        self.part = part
        self.recorder = part.recorder
        self.statuses = statuses
        self.chained_until_ns = 0
        self.usual_head, self.usual_bytes, self.parsed = b"", 0, 0
        self.unanswered = self.lost = self.in_flight = 0
        self.place = job.pinned()
        self.tls_context = job.tls_context()
        closed = schedule.loop == CLOSED
        todo = schedule.iterations if closed and schedule.iterations else ENDLESS
        data = data or (lambda number: prepared(request, number, self.place.host_header))
        self.clients = [Client(self, number, data(number), todo) for number in schedule.numbers]
        paced = Paced(part.alarm, part.pacer) if job.most_per_second else None
        self.loop: Closed | Open = (Closed if closed else Open)(part, self.clients, paced)
        self.connect_first = bool(request.get("connect_first", True))
        self.may_be_overloaded = bool(request.get("may_be_overloaded"))
        self._tasks: set[asyncio.Task[None]] = set()
        self._connecting: set[Client] = set()
        self._reported = False

    async def prepare(self) -> None:
        """Open all connections, some at a time; after a failure the rest is left to the run."""
        if not self.connect_first:
            return
        at_once = asyncio.Semaphore(OPENED_AT_ONCE)
        failed = asyncio.Event()

        async def one(client: Client) -> None:
            async with at_once:
                if not failed.is_set():
                    try:
                        await self._open(client)
                    except LoadFailed:
                        failed.set()

        async with asyncio.TaskGroup() as group:
            for client in self.clients:
                group.create_task(one(client))

    async def load(self) -> None:
        """Run the loop to its end."""
        self.recorder.from_ns = self.part.from_ns
        self.chained_until_ns = self.loop.chained_until_ns
        sweep = asyncio.create_task(self._sweep())
        self.part.first_ns = self.part.origin_ns
        try:
            await self.loop.run()
        finally:
            self.part.ended()
            sweep.cancel()
            for task in self._tasks:
                task.cancel()
        self._close()  # not at the time limit, which cancels this: `late` has to see what is in flight

    def _close(self) -> None:
        for client in self.clients:
            if client.link is not None:
                client.link.close()

    def connect(self, client: Client) -> None:
        """Open a connection for a client that has something to send."""
        self._connecting.add(client)
        task = asyncio.get_running_loop().create_task(self._connect(client))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def unusual(self, client: Client, link: Link) -> None:
        """Record an answer that is not a 200 in one piece to a first try on a persistent connection."""
        retry, client.retry = client.retry, False
        self.recorder.answered_ns = max(self.recorder.answered_ns, link.done_ns)
        if kind := self._wrong(link.status):
            self.failed(client, LoadFailed(kind, f"the server answered {link.status}"), retry=retry)
        elif client.intended_ns < self.recorder.from_ns:
            self.recorder.warm_up += 1
        else:
            self._record(client, link, "retry_" if retry else "")
        if client.intended_ns >= self.recorder.from_ns:
            self.recorder.statuses[link.status] += 1

    def _wrong(self, status: int) -> str:
        """Return the class of failure of a status; empty where it is right."""
        if status in self.statuses:
            return ""
        kind = of_status(status)
        return (kind if status >= 400 else "check") if self.statuses else kind

    def _record(self, client: Client, link: Link, prefix: str) -> None:
        values = {
            "lag": link.sent_ns - client.intended_ns,
            "service": link.done_ns - link.sent_ns,
            "response": link.done_ns - client.intended_ns,
            "first_byte": link.first_byte_ns - link.sent_ns,
            "body": link.done_ns - link.first_byte_ns,
        }
        for name, value in values.items():
            self.recorder.add(prefix + name, value)
        self.recorder.bytes += link.received

    def failed(
        self,
        client: Client,
        failure: LoadFailed,
        *,
        retry: bool | None = None,
        link: Link | None = None,
    ) -> None:
        """Count a failure of a client's request. link: on which it was sent, if it was."""
        client.failures += 1
        if client.intended_ns < self.recorder.from_ns:
            self.recorder.warm_up += 1
            return
        retry = client.retry if retry is None else retry
        self.part.failed(failure, retry=retry)
        if failure.kind == "timeout":
            self.part.timed_out(client.intended_ns, link, "retry_" if retry else "")

    def progress(self) -> ProgramProgress:
        """Return the number of hosts."""
        return {"hosts": len(self.clients)}

    def rows(self) -> Mapping[str, list[Any]]:
        """Return a row for each host, at the end."""
        if not self.loop.over or self._reported:
            return {}
        self._reported = True
        return {
            "host": [client.number for client in self.clients],
            "requests": [client.todo - client.left for client in self.clients],
            "failures": [client.failures for client in self.clients],
        }

    def late(self) -> None:
        """Count the requests that wait or are in flight as timed out."""
        self.loop.over = True
        failure = LoadFailed("timeout", "the time limit of the run was over")
        for client in self.clients:
            link = client.link if client.link is not None and client.link.busy else None
            if link is not None or client in self._connecting:
                self.lost += link is not None
                self.in_flight += 1
                self.failed(client, failure, link=link)
        self._close()
        self.part.dropped(self.loop.drop_late(perf_counter_ns()), failure)

    def figures(self) -> Mapping[str, float]:
        """Return how many requests were offered, and how many were sent in time, unless overload is what is asked."""
        return {} if self.may_be_overloaded else self.loop.figures()

    def result(self) -> ProgramResult:
        """Return the numbers of hosts, of requests in the warm-up, and in an open loop of those offered, and sent in time."""
        return {
            "hosts": len(self.clients),
            "warm_up": self.recorder.warm_up,
            **self.loop.figures(),
        }

    async def _connect(self, client: Client) -> None:
        try:
            await self._open(client)
        except LoadFailed as failure:
            self._connecting.discard(client)
            self.failed(client, failure)
            self.unanswered += 1
            client.retry = False
            await asyncio.sleep(PAUSE_SECONDS)
            self.loop.next(client, perf_counter_ns())
        else:
            self._connecting.discard(client)
            client.go(client.intended_ns)

    async def _open(self, client: Client) -> None:
        job = self.part.job
        link = await opened(
            lambda: Link(client),
            self.place,
            job.rules,
            self.tls_context,
            job.connect_timeout_seconds,
            job.tls_timeout_seconds,
        )
        client.link = link
        self.recorder.add("connect", link.connect_ns)
        if link.tls_ns:
            self.recorder.add("tls", link.tls_ns)

    async def _sweep(self) -> None:
        """End requests after their timeout, to a twentieth of a second."""
        while True:
            await asyncio.sleep(min(SWEEP_SECONDS, self.part.job.timeout_seconds / 10))
            self.sweep(perf_counter_ns())

    def sweep(self, now: int) -> None:
        """End requests that have waited for an answer, and drop those that have waited for a host, for longer than the timeout."""
        seconds = self.part.job.timeout_seconds
        timeout_ns = int(seconds * NS)
        for client in self.clients:
            link = client.link
            if link is not None and link.busy and now - link.sent_ns > timeout_ns:
                where = "the rest of the answer" if link.received else "the first byte"
                link.fail(LoadFailed("timeout", f"waited {seconds:g} s for {where}"))
        late = self.loop.drop_late(now - timeout_ns)
        self.part.dropped(late, LoadFailed("timeout", f"no host was free for {seconds:g} s"))


def prepared(request: ProgramRequest, number: int, host_header: str) -> bytes:
    """Return the bytes of a host's request. `{host}` in path, headers and body is replaced by its number."""
    method, path = str(request.get("method", "GET")), str(request["path"])
    body = str(request.get("body", ""))
    headers = {
        "Host": host_header,
        "User-Agent": request.get("sender", "perfdash"),
        "Accept": "*/*",
    }
    headers |= dict(request.get("headers", ()))
    numbered = {name: value.replace("{host}", str(number)) for name, value in headers.items()}
    data = body.replace("{host}", str(number)).encode()
    if data or method in ("POST", "PUT", "PATCH"):
        numbered["Content-Length"] = str(len(data))
    lines = [f"{method} {path.replace('{host}', str(number))} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in numbered.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + data
