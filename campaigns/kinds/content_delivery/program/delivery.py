"""What one host does: it fetches the metadata, then its packages, several at a time. No Django."""

import asyncio
import ssl
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
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
from campaigns.kinds.load.counting import CountingWire, Following
from campaigns.kinds.load.failures import LoadFailed
from campaigns.kinds.load.host import Host, Lane
from campaigns.kinds.load.wire import Answer
from campaigns.kit.http.failures import normalised_message

if TYPE_CHECKING:
    from campaigns.kinds.content_delivery.program.crew import Crew

DOCUMENT, PACKAGE = "document", "package"
MOST_FAILURES = 3
"""So many failures of a call librepo forgives a server without mirrors, whatever files they were of."""
PAUSE_SECONDS = 0.05
"""Before a host asks again that could not connect, to spare a target that is down."""
NO_CONNECTION = ("connect", "tls")


@dataclass(slots=True)
class Download:
    """What a lane fetches. tries: requests for it. began_ns: when its lane was free for it; 0: that is now."""

    file: File
    tries: int = 0
    began_ns: int = 0

    def check(self, answer: Answer) -> None:
        """Raise LoadFailed where an answer is not that of the file."""
        self.file.check(answer)


class Queue:
    """The files of a group that a host has still to fetch. failures, fetched: how many there were; running: how many are under way.

    It forgives as librepo does: three failures, and a timeout also while other downloads run, which then are fewer.
    """

    def __init__(self, kind: str, files: Sequence[File], order: Iterable[int], lanes: int) -> None:
        self.kind = kind
        self.files = files
        self.lanes = min(lanes, len(files))
        self.failures = self.fetched = self.running = 0
        self.is_over = False
        self.returned: deque[Download] = deque()
        self._order = iter(order)

    def take(self) -> "Download | None":
        """Return the next download; None at the end."""
        if self.returned and not self.is_over:
            return self.returned.popleft()
        file = self.take_new()
        return None if file is None else Download(file)

    def take_new(self) -> File | None:
        """Return the next file; None at the end, and where one was returned, which is the next then."""
        if self.returned or self.is_over:
            return None
        place = next(self._order, None)
        return None if place is None else self.files[place]

    def forgives(self, failure: LoadFailed) -> bool:
        """Count a failure; return whether the file is asked for again."""
        self.failures += 1
        return self.failures <= MOST_FAILURES or self.is_too_much(failure)

    def is_too_much(self, failure: LoadFailed) -> bool:
        """Return whether a failure means that a server that does answer has too many downloads at a time."""
        return failure.kind == "timeout" and self.running > 1 and self.fetched > 0


class Delivery:
    """One host's work."""

    def __init__(self, crew: "Crew", host: Host) -> None:
        self.crew = crew
        self.host = host
        self.profile = crew.profile
        self.wires: list[CountingWire | None] = [None] * crew.parallel
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
                    queue = Queue(DOCUMENT, group, range(len(group)), crew.parallel)
                    await self._group(queue, begun_ns, 0)
                if self.failure is not None:
                    return
                begun_ns = perf_counter_ns()
            self.metadata_ns = begun_ns
            if self.host.counts:
                crew.part.recorder.add("metadata", begun_ns - self.host.intended_ns)
        for round_ in range(crew.rounds):
            order = crew.order_of(self.host.number)
            queue = Queue(PACKAGE, crew.packages, order, crew.parallel)
            await self._group(queue, begun_ns, round_)
            if self.failure is not None and self.profile.stops:
                return
            begun_ns = perf_counter_ns()

    async def _group(self, queue: Queue, free_ns: int, round_: int) -> None:
        """Fetch the files of a queue on as many lanes as it has."""
        lanes = [
            asyncio.ensure_future(self._lane(number, queue, free_ns, round_))
            for number in range(queue.lanes)
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

    async def _lane(self, number: int, queue: Queue, free_ns: int, round_: int) -> None:
        """Fetch the next file as long as there is one."""
        lane = self.host.lane(free_ns)
        goes_on = True
        while goes_on and (download := queue.take()) is not None:
            queue.running += 1
            try:
                goes_on = await self._download(number, lane, queue, download, round_)
            finally:
                queue.running -= 1

    async def _download(
        self, number: int, lane: Lane, queue: Queue, download: Download, round_: int
    ) -> bool:
        """Fetch a file, again where the client would, and those that follow; return whether the lane goes on.

        Raise _Stopped where the file failed for good and the host stops.
        """
        crew = self.crew
        download.began_ns = download.began_ns or lane.free_ns
        while True:
            download.tries += 1
            try:
                answer = await self._follow(number, lane, queue, download, round_)
            except LoadFailed as failure:
                if failure.kind in NO_CONNECTION:
                    self._close(number)
                if not self._may_repeat(queue, failure, download.tries):
                    self._failed(queue, download, failure, round_)
                    return True
                self.repeated += 1
                crew.counts["retried"] += queue.kind == PACKAGE
                if crew.retries is None and queue.is_too_much(failure):
                    queue.returned.append(download)
                    return False
                if failure.kind in NO_CONNECTION:
                    await asyncio.sleep(PAUSE_SECONDS)
                continue
            self._came(queue, download, answer, round_)
            return True

    def _came(self, queue: Queue, download: Download, answer: Answer, round_: int) -> None:
        """Count a file that came."""
        queue.fetched += 1
        self.files += 1
        self.bytes += answer.size
        if queue.kind == PACKAGE:
            self.crew.fetched(self, answer, download.began_ns, download.tries, round_)
        else:
            self.crew.looked_at(answer)

    def _may_repeat(self, queue: Queue, failure: LoadFailed, tries: int) -> bool:
        """Return whether a file that failed is asked for again."""
        if self.crew.retries is not None:
            return tries <= self.crew.retries
        return queue.forgives(failure)

    def _failed(self, queue: Queue, download: Download, failure: LoadFailed, round_: int) -> None:
        path = download.file.path
        if not str(failure).startswith(path):
            failure = failure.saying(f"{path}: {failure}")
        self.failure = self.failure or failure
        if queue.kind == PACKAGE:
            self.crew.failed(self, failure, download.began_ns, download.tries, round_)
        if self.profile.stops or queue.kind == DOCUMENT:
            queue.is_over = True
            raise _Stopped

    async def _follow(
        self, number: int, lane: Lane, queue: Queue, download: Download, round_: int
    ) -> Answer:
        """Send a request, and follow redirections of this server. Raise LoadFailed."""
        data = b""
        for _ in range(MOST_REDIRECTS + 1):
            answer = await self._send(number, lane, queue, download, data, round_)
            if answer.status not in REDIRECTS:
                return answer
            data = self._redirected(download.file, answer)
        raise self._wrong(f"{download.file.path}: more than {MOST_REDIRECTS} redirections")

    async def _send(
        self,
        number: int,
        lane: Lane,
        queue: Queue,
        download: Download,
        data: bytes,
        round_: int,
    ) -> Answer:
        """Send a request, of a redirection if there is `data`; send it once more where a kept connection was dropped before any answer."""
        wire = await self._wire(number)
        was_used = wire.request_count > 0
        self._expect(wire, queue.kind, download.file)
        try:
            if download.tries == 1 and not data and lane.may_chain and queue.kind == PACKAGE:
                following = self._chain(wire, queue, download, round_)
                return await lane.chain(
                    queue.kind, wire, download.file.data, following, check=download.check
                )
            return await lane.step(
                queue.kind,
                wire,
                data or download.file.data,
                check=download.check,
                retry=download.tries > 1,
            )
        except LoadFailed as failure:
            if not (failure.unanswered and (was_used or wire.request_count > 1)):
                raise
        self._close(number)
        wire = await self._wire(number)
        self._expect(wire, queue.kind, download.file)
        self.crew.resends += 1
        return await lane.step(
            queue.kind, wire, data or download.file.data, check=download.check, retry=True
        )

    def _chain(
        self, wire: CountingWire, queue: Queue, download: Download, round_: int
    ) -> Following:
        """Return what takes the next file after an answer that is beyond doubt. `download` becomes that of the next file."""

        def following(answer: Answer) -> bytes | None:
            file = download.file
            if answer.status != 200 or (file.size is not None and answer.size != file.size):
                return None
            if answer.sha256 and answer.sha256 != file.sha256:
                return None
            next_one = queue.take_new()
            if next_one is None:
                return None
            self._came(queue, download, answer, round_)
            download.file, download.began_ns = next_one, answer.done_ns
            self._expect(wire, queue.kind, next_one)
            return next_one.data

        return following

    def _expect(self, wire: CountingWire, kind: str, file: File) -> None:
        crew = self.crew
        hashed = crew.verify != "size" and bool(file.sha256)
        if hashed and crew.verify == "sample" and kind == PACKAGE:
            hashed = is_sampled(crew.seed, self.host.number, file.place)
        wire.expect(file.size, hashed=hashed, most=most_bytes(kind == PACKAGE))

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

    def _redirected(self, file: File, answer: Answer) -> bytes:
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
