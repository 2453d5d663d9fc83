"""Fetch files with libcurl's multi interface in one process, over epoll: no limit of descriptors.

No Django. Used by each process of the engine `curl`.
"""

import hashlib
import select
import socket
import struct
import time
from collections import Counter as Counts
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress

import pycurl

from campaigns.kinds.downloader.engines.checked_curl import CheckedCurl, Places
from campaigns.kinds.programs.downloading import REDIRECTS, Job, next_url, refuse_status
from campaigns.kinds.programs.transfers import Counted, Item, Tally, Transfer
from campaigns.kit.http.failures import FileFailed, refuse_length, took_too_long
from campaigns.kit.http.pacing import Pacer

LOOK_SECONDS = 0.1
"""How often it is checked whether an answer takes too long, or the run has to end."""
WATCHED = {
    pycurl.POLL_IN: select.EPOLLIN,
    pycurl.POLL_OUT: select.EPOLLOUT,
    pycurl.POLL_INOUT: select.EPOLLIN | select.EPOLLOUT,
}
ENDS_OF_HEAD = (b"\r\n", b"\n")
LENGTH = b"content-length:"
READABLE = select.EPOLLIN | select.EPOLLHUP | select.EPOLLERR
LAST_DATA_RECEIVED = 52
"""Where tcp_info (linux/tcp.h) holds tcpi_last_data_recv, in milliseconds."""


class Fetcher:
    """Fetches up to `handles` files at a time, until `items` has no more.

    versions: the number of answers by version of HTTP. connections: how many were opened.
    """

    def __init__(
        self,
        job: Job,
        tally: Tally,
        counter: Counted,
        items: Iterator[Item],
        handles: int,
        pacer: Pacer,
        places: Places,
    ) -> None:
        """Make the handles; no request is sent before `run`."""
        self.job = job
        self.tally = tally
        self.counter = counter
        self.places = places
        self.versions: Counts[str] = Counts()
        self._items = items
        self._pacer = pacer
        self._waiting: deque[_Handle] = deque()
        self._busy: set[_Handle] = set()
        self._epoll = select.epoll()
        self._watched: set[int] = set()
        self._due = float("inf")
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._set_timer)
        self._multi.setopt(pycurl.M_MAXCONNECTS, handles)
        self.handles = tuple(_Handle(self) for _ in range(handles))
        hashlib.sha256().hexdigest()  # at the first call OpenSSL looks up its algorithms
        self._of = {handle.curl: handle for handle in self.handles}

    @property
    def connections(self) -> int:
        """The number of connections that were opened."""
        return sum(handle.opened for handle in self.handles)

    def run(self, ended: Callable[[], bool] = lambda: False) -> bool:
        """Fetch all; return whether all were processed before `ended` returned True."""
        for handle in self.handles:
            self._take_next(handle)
        look_at = time.perf_counter() + LOOK_SECONDS
        while self._busy or self._waiting:
            self._send_waiting()
            now = time.perf_counter()
            for descriptor, event in self._epoll.poll(self._patience(now, look_at)):
                self._multi.socket_action(descriptor, _actions(event))
            now = time.perf_counter()
            if now >= self._due:
                self._due = float("inf")
                self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
            self._collect()
            if now >= look_at:
                look_at = now + LOOK_SECONDS
                if ended():
                    return False
                self._look()
        return True

    def _take_next(self, handle: "_Handle") -> None:
        """Queue the next allowed file for a handle; without one it stays idle."""
        for item in self._items:
            handle.transfer = Transfer(item, self.tally, self.counter)
            handle.hops = 0
            if self._ask(handle, item.url):
                return

    def _ask(self, handle: "_Handle", url: str) -> bool:
        """Queue a request of a handle; return whether the rules allow it."""
        try:
            handle.prepare(url, self.places)
        except FileFailed as failure:
            handle.transfer.failed(failure)
            return False
        handle.queued_at = self._pacer.clock()
        self._waiting.append(handle)
        return True

    def _send_waiting(self) -> None:
        waiting, pacer = self._waiting, self._pacer
        while waiting and pacer.left() <= 0:
            handle = waiting.popleft()
            held = pacer.begin(handle.queued_at)
            if pacer.per_second:
                handle.transfer.held_back(held)
            self._busy.add(handle)
            self._multi.add_handle(handle.curl)

    def _patience(self, now: float, look_at: float) -> float:
        """Return how long to wait for the network before something else is due."""
        until = min(self._due, look_at)
        if self._waiting:
            until = min(until, now + self._pacer.left())
        return max(0.0, until - now)

    def _collect(self) -> None:
        """Process the requests that have ended."""
        left = 1
        while left:
            left, good, bad = self._multi.info_read()
            for curl in good:
                self._ended(self._of[curl], None)
            for curl, code, message in bad:
                handle = self._of[curl]
                self._ended(handle, handle.failure(code, message))

    def _ended(self, handle: "_Handle", failure: FileFailed | None) -> None:
        self._multi.remove_handle(handle.curl)
        self._busy.discard(handle)
        transfer = handle.transfer
        if handle.version:
            self.versions[handle.version] += 1
        try:
            if handle.status in REDIRECTS and (failure is None or handle.is_enough):
                url = next_url(handle.url, handle.location, self.job.rules, handle.hops)
                handle.hops += 1
                if self._ask(handle, url):
                    return
            else:
                if failure:
                    raise failure
                refuse_status(handle.status)
                transfer.complete()
        except FileFailed as failed:
            transfer.failed(failed)
        self._take_next(handle)

    def _look(self) -> None:
        """End the requests that have been silent, or in flight, for too long."""
        longest = self.job.read_timeout_seconds
        longest_file = self.job.file_timeout_seconds
        for handle in list(self._busy):
            if handle.transfer.seconds > longest_file:
                self._ended(handle, took_too_long(longest_file))
            elif handle.begun and handle.silent_seconds() > longest:
                message = f"nothing came for {longest:g} s"
                self._ended(handle, FileFailed("timeout", message))

    def _watch(self, what: int, descriptor: int, multi: object, data: object) -> None:
        """Begin, change or end the watching of a socket, as libcurl requires."""
        if what == pycurl.POLL_REMOVE:
            self._watched.discard(descriptor)
            with suppress(OSError):  # it may be closed already
                self._epoll.unregister(descriptor)
            return
        if descriptor in self._watched:
            with suppress(FileNotFoundError):
                self._epoll.modify(descriptor, WATCHED[what])
                return
        self._watched.add(descriptor)
        self._epoll.register(descriptor, WATCHED[what])

    def _set_timer(self, milliseconds: int) -> None:
        self._due = time.perf_counter() + milliseconds / 1000 if milliseconds >= 0 else float("inf")


class _Handle(CheckedCurl):
    """Fetches one file after the other.

    is_enough: it aborted the answer itself, as the rest is not needed.
    """

    def __init__(self, fetcher: Fetcher) -> None:
        job = fetcher.job
        super().__init__(job.rules, job.sender, job.http_version, job.connect_timeout_seconds)
        self.transfer: Transfer
        self.url = ""
        self.hops = 0
        self.queued_at = 0.0
        self.status = 0
        self.version = ""
        self.location = b""
        self.is_enough = False
        self._heard = 0.0
        self._is_plain = True
        self._longest = job.read_timeout_seconds
        self._head_is_there = False
        self.curl.setopt(pycurl.HEADERFUNCTION, self._header)
        self.curl.setopt(pycurl.WRITEFUNCTION, self._write)

    def prepare(self, url: str, places: Places) -> None:
        """Prepare the request of a URL. Raise FileFailed where the rules exclude it."""
        self.ask_for(url, places)
        self.url = url
        self._is_plain = url.startswith("http:")
        self.status = 0
        self.version = ""
        self.location = b""
        self.is_enough = self._head_is_there = False

    def silent_seconds(self) -> float:
        """Return the seconds since anything of the expected answer arrived."""
        silent = time.perf_counter() - self._heard
        if (
            silent > self._longest and self._is_plain
        ):  # libcurl does not report half a line: ask the kernel
            return min(silent, self._seconds_without_data())
        return silent

    def _begin(self, address: str, own: str, port: int, own_port: int) -> int:
        self._heard = time.perf_counter()
        return super()._begin(address, own, port, own_port)

    def _header(self, line: bytes) -> int | None:
        """Read a line of the head, or of a trailer."""
        if self._head_is_there:
            return None
        if line[:5] == b"HTTP/":
            self._heard = time.perf_counter()
            self.version = "2" if line[5:6] == b"2" else "1.1"
            self.location = b""
            status = line.split(None, 2)[1:2]
            if not status or not status[0].isdigit() or (self._is_plain and self.version == "2"):
                self.reason = FileFailed("protocol", f"{line[:80]!r} is no status of HTTP/1.1")
                return 0
            self.status = int(status[0])
        elif line in ENDS_OF_HEAD:
            if self.status >= 200:
                self._head_is_there = True
                self.transfer.answered(self.status)
        elif line[: len(LENGTH)].lower() == LENGTH:
            return self._check_length(line)
        elif self.status != 200:
            self._heard = time.perf_counter()
            if not self.location and line[:9].lower() == b"location:":
                self.location = line[9:].strip()
        return None

    def _check_length(self, line: bytes) -> int | None:
        try:
            refuse_length(line[len(LENGTH) :].decode("latin-1").strip())
        except FileFailed as failure:
            self.reason = failure
            return 0
        return None

    def _write(self, data: bytes) -> int | None:
        """Read a piece of the body; 0 aborts the answer."""
        self._heard = time.perf_counter()
        try:
            if self.status != 200:
                self.is_enough = self.status in REDIRECTS
                refuse_status(self.status)
            self.transfer.take(data)
        except FileFailed as failure:
            self.reason = failure
            return 0
        return None

    def _seconds_without_data(self) -> float:
        """Return the seconds since bytes last arrived, from the kernel; 0 without a connection."""
        descriptor = self.curl.getinfo(pycurl.ACTIVESOCKET)
        if descriptor < 0:
            return 0.0
        with socket.socket(fileno=descriptor) as connection:
            try:
                info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
            finally:
                connection.detach()
        milliseconds: int = struct.unpack_from("=I", info, LAST_DATA_RECEIVED)[0]
        return milliseconds / 1000


def _actions(event: int) -> int:
    return (
        (pycurl.CSELECT_IN if event & READABLE else 0)
        | (pycurl.CSELECT_OUT if event & select.EPOLLOUT else 0)
        | (pycurl.CSELECT_ERR if event & select.EPOLLERR else 0)
    )
