"""What one host does: it fetches the metadata, then its packages, several at a time. No Django."""

import asyncio
import ssl
from collections.abc import Iterator, Sequence
from contextlib import suppress
from time import perf_counter_ns
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from campaigns.kinds.content_delivery.program.files import (
    MOST_REDIRECTS,
    REDIRECTS,
    File,
    is_sampled,
    most_bytes,
)
from campaigns.kinds.load.counting import CountingWire
from campaigns.kinds.load.failures import LoadFailed
from campaigns.kinds.load.host import Host, Lane
from campaigns.kinds.load.wire import Answer
from campaigns.kit.http.failures import normalised_message

if TYPE_CHECKING:
    from campaigns.kinds.content_delivery.program.crew import Crew

DOCUMENT, PACKAGE = "document", "package"
MOST_FAILURES = 3
"""So many failures of a call does librepo forgive a server without mirrors, whatever files they were of."""
PAUSE_SECONDS = 0.05
"""Before a host asks again that could not connect, to spare a target that is down."""
NO_CONNECTION = ("connect", "tls")


class Delivery:
    """One host's work."""

    def __init__(self, crew: "Crew", host: Host) -> None:
        self.crew = crew
        self.host = host
        self.profile = crew.profile
        self.wires: list[CountingWire | None] = [None] * crew.parallel
        self.forgiven = 0
        self.files = self.bytes = self.repeated = 0
        self.failure: LoadFailed | None = None
        self.metadata_ns = 0

    async def run(self) -> None:
        """Fetch all; raise LoadFailed where a file failed for good."""
        self._note()
        try:
            await self._fetch_all()
        finally:
            self._note()
        if self.failure is not None:
            raise self.failure

    async def _fetch_all(self) -> None:
        crew, begun_ns = self.crew, self.host.intended_ns
        if crew.documents:
            for group in (crew.documents[:1], crew.documents[1:]):
                if group:
                    await self._group(DOCUMENT, group, iter(range(len(group))), begun_ns, 0)
                if self.failure is not None:
                    return
                begun_ns = perf_counter_ns()
            self.metadata_ns = begun_ns
            if self.host.counts:
                crew.part.recorder.add("metadata", begun_ns - self.host.intended_ns)
        for round_ in range(crew.rounds):
            order = iter(crew.order_of(self.host.number))
            await self._group(PACKAGE, crew.packages, order, begun_ns, round_)
            if self.failure is not None and self.profile.stops:
                return
            begun_ns = perf_counter_ns()

    async def _group(
        self, kind: str, files: Sequence[File], order: Iterator[int], free_ns: int, round_: int
    ) -> None:
        """Fetch some files on as many lanes as there may be."""
        self.forgiven = 0
        lanes = [
            asyncio.ensure_future(self._lane(number, kind, files, order, free_ns, round_))
            for number in range(min(self.crew.parallel, len(files)))
        ]
        try:
            await asyncio.gather(*lanes)
        except _Stopped:
            pass
        finally:
            for lane in lanes:
                lane.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.gather(*lanes, return_exceptions=True)
        if not self.profile.keeps_connections:
            for number in range(len(self.wires)):
                self._close(number)

    async def _lane(
        self,
        number: int,
        kind: str,
        files: Sequence[File],
        order: Iterator[int],
        free_ns: int,
        round_: int,
    ) -> None:
        """Fetch the next file as long as there is one."""
        lane = self.host.lane(free_ns)
        for place in order:
            await self._file(number, lane, kind, files[place], round_)

    async def _file(self, number: int, lane: Lane, kind: str, file: File, round_: int) -> None:
        """Fetch a file, again where the client would. Raise _Stopped where it failed for good and the host stops."""
        tries, began_ns = 0, lane.free_ns
        while True:
            tries += 1
            try:
                answer = await self._follow(number, lane, kind, file, again=tries > 1)
            except LoadFailed as failure:
                if failure.kind in NO_CONNECTION:
                    self._close(number)
                if self._may_repeat(tries):
                    self.repeated += 1
                    self.crew.counts["retried"] += kind == PACKAGE
                    if failure.kind in NO_CONNECTION:
                        await asyncio.sleep(PAUSE_SECONDS)
                    continue
                self._failed(kind, failure, began_ns, tries, round_)
                return
            self.files += 1
            self.bytes += answer.size
            if kind == PACKAGE:
                self.crew.fetched(self, answer, began_ns, tries, round_)
            else:
                self.crew.looked_at(answer)
            return

    def _may_repeat(self, tries: int) -> bool:
        """Return whether a file that failed is asked for again."""
        if self.crew.retries is not None:
            return tries <= self.crew.retries
        self.forgiven += 1
        return self.forgiven <= MOST_FAILURES

    def _failed(
        self, kind: str, failure: LoadFailed, began_ns: int, tries: int, round_: int
    ) -> None:
        self.failure = self.failure or failure
        if kind == PACKAGE:
            self.crew.failed(self, failure, began_ns, tries, round_)
        if self.profile.stops or kind == DOCUMENT:
            raise _Stopped

    async def _follow(
        self, number: int, lane: Lane, kind: str, file: File, *, again: bool
    ) -> Answer:
        """Send a request, and follow redirections of this server. Raise LoadFailed."""
        data = file.data
        for _ in range(MOST_REDIRECTS + 1):
            answer = await self._send(number, lane, kind, file, data, again=again)
            if answer.status not in REDIRECTS:
                return answer
            data = self._redirected(kind, file, answer)
        raise self._wrong(f"{file.path}: more than {MOST_REDIRECTS} redirections")

    async def _send(
        self, number: int, lane: Lane, kind: str, file: File, data: bytes, *, again: bool
    ) -> Answer:
        """Send a request; send it once more where a kept connection was dropped before any answer."""
        wire = await self._wire(number)
        was_used = wire.request_count > 0
        self._expect(wire, kind, file)
        try:
            return await lane.step(kind, wire, data, check=file.check, retry=again)
        except LoadFailed as failure:
            if not (failure.unanswered and was_used):
                raise
        self._close(number)
        wire = await self._wire(number)
        self._expect(wire, kind, file)
        self.crew.resends += 1
        return await lane.step(kind, wire, data, check=file.check, retry=True)

    def _expect(self, wire: CountingWire, kind: str, file: File) -> None:
        verify, number = self.crew.verify, self.host.number
        hashed = verify == "all" or (
            verify == "sample"
            and (kind == DOCUMENT or is_sampled(self.crew.seed, number, file.place))
        )
        wire.expect(
            file.size, hashed=hashed and bool(file.sha256), most=most_bytes(kind == PACKAGE)
        )

    async def _wire(self, number: int) -> CountingWire:
        """Return a lane's connection, a new one where it has none that is open."""
        wire = self.wires[number]
        if wire is not None and wire.open and wire.keep_alive:
            return wire
        self._close(number)
        traffic = self.crew.traffic
        context = self.crew.context_of(self.host)
        wire = await self.host.connect(context, make=lambda: CountingWire(traffic))
        self.wires[number] = wire
        return wire

    def _close(self, number: int) -> None:
        wire, self.wires[number] = self.wires[number], None
        if wire is not None:
            wire.close()

    def _redirected(self, kind: str, file: File, answer: Answer) -> bytes:
        """Return the request for where a redirection leads. Raise LoadFailed where that is not this server."""
        crew = self.crew
        location = answer.header(b"location").decode("latin-1")
        if not location:
            raise self._wrong(
                f"{file.path}: the server answered {answer.status} without a location"
            )
        url = urljoin(crew.url + file.path, location)
        try:
            parts = urlsplit(url)
            is_here = (parts.scheme, parts.hostname, parts.port or crew.usual_port) == crew.origin
        except ValueError:
            is_here = False
        if not is_here:
            raise self._wrong(
                f"{file.path}: the server sends hosts on to {url:.200}, which is not this target: give that one as a target, or let "
                "the server answer itself"
            )
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        return crew.request_of(path, first=file is crew.first)

    def _wrong(self, message: str) -> LoadFailed:
        """Return a failure that no step has counted yet."""
        failure = LoadFailed("protocol", normalised_message(message))
        if self.host.counts:
            self.crew.part.failed(failure)
        return failure

    def _note(self) -> None:
        """Write the host's row."""
        host, origin = self.host, self.crew.part.origin_ns
        failure = self.failure
        host.columns |= {
            "number": host.number,
            "began_us": (host.began_ns - origin) // 1000 if host.began_ns else None,
            "metadata_us": (self.metadata_ns - origin) // 1000 if self.metadata_ns else None,
            "ended_us": (perf_counter_ns() - origin) // 1000,
            "files": self.files,
            "bytes": self.bytes,
            "retries": self.repeated,
            "words": str(failure)[:300] if failure is not None else "",
        }


class _Stopped(Exception):
    """A host makes no further request."""


def tls_failure(name: str, error: Exception) -> LoadFailed:
    """Return the failure of a host whose certificate cannot be used."""
    what = str(error) if isinstance(error, ssl.SSLError | ValueError) else type(error).__name__
    return LoadFailed("tls", f"the certificate of {name}: {what}")
