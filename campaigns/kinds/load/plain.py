"""One request, repeated by every virtual host: the fast form of driving, by callbacks. No Django."""

import asyncio
from collections.abc import Mapping
from time import perf_counter_ns
from typing import Any

from campaigns.kinds.load.failures import LoadFailed, of_status
from campaigns.kinds.load.link import Client, Link
from campaigns.kinds.load.loops import Closed, Open, Paced
from campaigns.kinds.load.part import NS, Part
from campaigns.kinds.load.schedule import CLOSED
from campaigns.kinds.load.wire import opened

ENDLESS = 1 << 62
OPENED_AT_ONCE = 64
PAUSE_SECONDS = 0.05
"""Before a host connects again that got no connection: a target that is gone is not hammered."""
SWEEP_SECONDS = 0.05
"""How often hosts are looked at whose time may be over."""


class Crew:
    """All clients of a process. `requests`: the bytes that each host sends, by its number."""

    def __init__(self, part: Part, request: Mapping[str, Any]) -> None:
        schedule, job = part.job.schedule, part.job
        self.part = part
        self.recorder = part.recorder
        self.chained_until_ns = 0
        self.place = job.pinned()
        self.tls_context = job.tls_context()
        closed = schedule.loop == CLOSED
        todo = schedule.iterations if closed and schedule.iterations else ENDLESS
        self.clients = [
            Client(self, number, prepared(request, number, self.place.host_header), todo)
            for number in schedule.numbers
        ]
        paced = Paced(part.alarm, part.pacer) if job.most_per_second else None
        self.loop: Closed | Open = (Closed if closed else Open)(part, self.clients, paced)
        self.connect_first = bool(request.get("connect_first", True))
        self._tasks: set[asyncio.Task[None]] = set()
        self._told = False

    async def prepare(self) -> None:
        """Open all connections, some at a time; where one cannot be had, the run will tell."""
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
        """Let the loop drive the clients to its end."""
        self.recorder.from_ns = self.part.from_ns
        self.chained_until_ns = self.loop.chained_until_ns
        sweep = asyncio.create_task(self._sweep())
        self.part.first_ns = self.part.origin_ns
        try:
            await self.loop.run()
        finally:
            self.part.last_ns = perf_counter_ns()
            sweep.cancel()
            for task in self._tasks:
                task.cancel()
            for client in self.clients:
                if client.link is not None:
                    client.link.close()

    def connect(self, client: Client) -> None:
        """Open a connection for a client that has something to send."""
        task = asyncio.get_running_loop().create_task(self._connect(client))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def unusual(self, client: Client, link: Link) -> None:
        """Record what is not a 200 in one piece, to a first try, on a connection that goes on."""
        retry, client.retry = client.retry, False
        kind = of_status(link.status)
        if kind:
            self.failed(client, LoadFailed(kind, f"the server answered {link.status}"), retry=retry)
        elif client.intended_ns < self.recorder.from_ns:
            self.recorder.warm_up += 1
        else:
            self._record(client, link, "retry_" if retry else "")
        if client.intended_ns >= self.recorder.from_ns:
            self.recorder.statuses[link.status] += 1

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

    def failed(self, client: Client, failure: LoadFailed, *, retry: bool | None = None) -> None:
        """Count a failure of a client's request."""
        client.failures += 1
        if client.intended_ns < self.recorder.from_ns:
            self.recorder.warm_up += 1
            return
        self.part.failed(failure, retry=client.retry if retry is None else retry)
        if failure.kind == "timeout":
            self.recorder.add("censored", perf_counter_ns() - client.intended_ns)

    def progress(self) -> Mapping[str, Any]:
        """Count the hosts."""
        return {"hosts": len(self.clients)}

    def rows(self) -> Mapping[str, list[Any]]:
        """Return a row for each host, at the end."""
        if not self.loop.over or self._told:
            return {}
        self._told = True
        return {
            "host": [client.number for client in self.clients],
            "requests": [client.todo - client.left for client in self.clients],
            "failures": [client.failures for client in self.clients],
        }

    def late(self) -> None:
        """Count what waits, or is on its way, as timed out."""
        self.loop.over = True
        failure = LoadFailed("timeout", "the time limit of the run was over")
        for client in self.clients:
            if client.link is not None and client.link.busy:
                client.link.close()
                self.failed(client, failure)
        for _ in range(self.loop.drop_late(perf_counter_ns())):
            self.part.failed(failure)

    def figures(self) -> Mapping[str, float]:
        """Return what was offered, and how much of it was sent in time."""
        return self.loop.figures()

    def result(self) -> Mapping[str, Any]:
        """Count the hosts."""
        return {"hosts": len(self.clients), "warm_up": self.recorder.warm_up}

    async def _connect(self, client: Client) -> None:
        try:
            await self._open(client)
        except LoadFailed as failure:
            self.failed(client, failure)
            client.retry = False
            await asyncio.sleep(PAUSE_SECONDS)
            self.loop.next(client, perf_counter_ns())
        else:
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
        """End requests whose time is over, to a twentieth of a second."""
        seconds = self.part.job.timeout_seconds
        timeout_ns = int(seconds * NS)
        while True:
            await asyncio.sleep(min(SWEEP_SECONDS, seconds / 10))
            now = perf_counter_ns()
            for client in self.clients:
                link = client.link
                if link is not None and link.busy and now - link.sent_ns > timeout_ns:
                    where = "the rest of the answer" if link.received else "the first byte"
                    link.fail(LoadFailed("timeout", f"waited {seconds:g} s for {where}"))
            late = self.loop.drop_late(now - timeout_ns)
            for _ in range(late):
                self.part.failed(LoadFailed("timeout", f"no host was free for {seconds:g} s"))
                self.recorder.add("censored", timeout_ns)


def prepared(request: Mapping[str, Any], number: int, host_header: str) -> bytes:
    """Return the bytes of a host's request. `{host}` in path, headers and body is its number."""
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
