"""What the downloader engines share: the request, the failures, redirects, and one measured run.

Runs inside an engine program; no Django, no database. Only how engines wait for the network is in their
own modules.
"""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING
from urllib.parse import quote, urljoin

from campaigns.kinds.programs import health, processes
from campaigns.kinds.programs.lifeline import Lifeline
from campaigns.kinds.programs.transfers import Item, Tally
from campaigns.kit.http.failures import ANONYMOUS, FileFailed
from campaigns.kit.http.pacing import Pacer
from campaigns.kit.mappings import ProgramRequest, ProgramResult
from campaigns.kit.network import NetworkError, Refused, Rules, check_url, normalised_address

if TYPE_CHECKING:
    import ssl

THE_GENERATORS_OWN = ("disk", "disk_full", "generator")
"""Failures of files that the generator caused, not the target."""
MOST_REDIRECTS = 5
REDIRECTS = frozenset({301, 302, 303, 307, 308})
PATH_CHARACTERS = "/~!$&'()*+,;=:@"
"""Characters of a name that are not quoted in the path of a URL (RFC 3986, pchar)."""

PRINTABLE = "".join(map(chr, range(33, 127)))


@dataclass(frozen=True, slots=True)
class Job:
    """The request of a downloader engine, within the limits of the target's owner. waits: for its start by the keeper."""

    items: tuple[Item, ...]
    directory: Path
    rules: Rules
    concurrency: int
    connect_timeout_seconds: float
    read_timeout_seconds: float
    file_timeout_seconds: float
    time_limit_seconds: float
    hashing: str
    http_version: str = "automatic"
    processes: str = "automatic"
    sender: str = ANONYMOUS
    most_per_second: float | None = None
    waits: bool = False

    @classmethod
    def from_request(cls, request: ProgramRequest) -> "Job":
        """Return the job of a request. Raise KeyError where something is missing."""
        base = request["base_url"]
        return cls(
            items=tuple(
                Item(index, name, file_url(base, name), digest, size)
                for index, (name, digest, size) in enumerate(request["files"])
            ),
            directory=Path(request["directory"]),
            rules=Rules.from_json(request["rules"]),
            concurrency=min(
                request["concurrency"], request["most_concurrent"] or request["concurrency"]
            ),
            connect_timeout_seconds=request["connect_timeout_seconds"],
            read_timeout_seconds=request["read_timeout_seconds"],
            file_timeout_seconds=request["file_timeout_seconds"],
            time_limit_seconds=request["time_limit_seconds"],
            hashing=request["hashing"],
            http_version=request["http_version"],
            processes=request["processes"],
            sender=request["sender"],
            most_per_second=request["most_per_second"],
            waits=bool(request.get("waits")),
        )


def file_url(base_url: str, name: str) -> str:
    """Return the URL of a file next to the manifest. base_url: ends with a slash."""
    return base_url + quote(name, safe=PATH_CHARACTERS)


def next_url(url: str, location: bytes, rules: Rules, hops: int) -> str:
    """Return the checked URL of a redirect. Raise FileFailed where it may not be followed.

    It may lead only to the same server: another one is not leased, and another run may load it already.
    """
    if not location:
        raise FileFailed("protocol", "the redirect names no address")
    if hops >= MOST_REDIRECTS:
        raise FileFailed("protocol", f"more than {MOST_REDIRECTS} redirects")
    target = quote(location, safe=PRINTABLE)
    try:
        target = urljoin(url, target)
        check_url(target, rules)
        here, there = normalised_address(url), normalised_address(target)
    except (NetworkError, ValueError) as error:
        failure = "address" if isinstance(error, Refused) else "protocol"
        raise FileFailed(failure, f"redirect to {target}: {error}") from None
    if there != here:
        raise FileFailed(
            "address",
            f"redirect to {target}: it leads from {here} to {there}, another server than the one "
            "that this run holds; give that one as the target",
        )
    return target


def refuse_status(status: int) -> None:
    """Raise FileFailed for every answer that is not the whole file."""
    if 400 <= status < 600:
        raise FileFailed(f"{status // 100}xx", f"the server answered {status}")
    if status != 200:
        raise FileFailed("protocol", f"the server answered {status} where only 200 will do")


@cache
def tls() -> "ssl.SSLContext":
    """Return the context of all connections of this process; to read the certificates takes a while."""
    import ssl

    return ssl.create_default_context()


@cache
def libraries(*names: str) -> dict[str, str]:
    """Return the versions of Python and of packages."""
    known = {"python": ".".join(map(str, sys.version_info[:3]))}
    if names:
        from importlib.metadata import version  # as slow to load as the rest of a program

        known |= {name: version(name) for name in names}
    return known


def _held_back(pacer: Pacer, task_seconds: float) -> dict[str, float]:
    """Return the pacer's figures for `health.judge`; nothing where there is no limit."""
    if not pacer.per_second:
        return {}
    share = pacer.held_seconds / task_seconds if task_seconds else 0.0
    return {"requests_allowed_per_second": pacer.per_second, "held_back_share": share}


def _concurrency(in_flight: float, seconds: float, reachable: int) -> dict[str, float]:
    """Return how many connections were busy."""
    return {
        "effective_concurrency": in_flight / seconds if seconds else 0.0,
        "reachable_concurrency": float(reachable),
    }


class Run:
    """One measured run: the clock, the monitor, the reports, and the end at the time limit."""

    def __init__(self, lifeline: Lifeline, job: Job, tally: Tally | None = None) -> None:
        """Prepare everything that is not measured. tally: where it exists already."""
        self.job = job
        self.tally = tally or Tally(job.directory, job.items)
        self.pacer = Pacer(job.most_per_second)
        self.extra: Callable[[], Mapping[str, float]] = dict
        self._lifeline = lifeline
        self._monitor = health.Monitor(self.tally.received, self._report)
        self._stop_others: Callable[[], bool] = lambda: False
        self._limit = Timer(job.time_limit_seconds, self._end_at_limit)
        self._limit.daemon = True

    def watch(self, children: Sequence[int], stop: Callable[[], bool]) -> None:
        """Count the resources of child processes, too, and stop them at the time limit.

        stop: stops them, and returns whether they did; then the code that waits for them ends the run.
        """
        self._monitor.children = children
        self._stop_others = stop

    def start(self) -> None:
        """Start the clock, once the keeper says so and the first request may begin."""
        if self.job.waits:
            self._lifeline.report("ready", {})
            self._lifeline.start_at()
            self.pacer.restart()
        time.sleep(max(0.0, self.pacer.left()))
        self.tally.origin = self._monitor.start()
        self._limit.start()

    def stop(self) -> None:
        """Stop the clock, after the last file."""
        self._limit.cancel()
        self._monitor.stop()

    def result(self, *, complete: bool = True) -> ProgramResult:
        """Report the remaining samples; return the result for the keeper."""
        tally, monitor, pacer = self.tally, self._monitor, self.pacer
        self._lifeline.report("samples", tally.new_columns())
        seconds = monitor.seconds
        totals = tally.totals_seconds()
        reachable = min(self.job.concurrency, len(self.job.items))
        return {
            "complete": complete,
            "seconds": seconds,
            "cpu_seconds": monitor.cpu_seconds,
            "peak_memory_bytes": processes.peak_memory_bytes(monitor.children),
            "step_seconds": monitor.steps.step_seconds,
            "bytes_per_second": monitor.steps.per_second(),
            "examples": tally.examples,
            "figures": monitor.figures()
            | {
                "file_time_p50_seconds": health.percentile(totals, 0.5),
                "exhausted": float(tally.failed_as("generator")),
            }
            | _concurrency(tally.in_flight_seconds(), seconds, reachable)
            | _held_back(pacer, seconds * reachable)
            | dict(self.extra()),
        }

    def _report(self, seconds: float) -> None:
        done, failed = self.tally.counts()
        steps = self._monitor.steps
        self._lifeline.report(
            "progress",
            {
                "files_done": done,
                "files_failed": failed,
                "own_failures": sum(map(self.tally.failed_as, THE_GENERATORS_OWN)),
                "files": len(self.job.items),
                "bytes": self.tally.received(),
                "seconds": seconds,
                "step_seconds": steps.step_seconds,
                "rate_series": steps.per_second(),
                **self._monitor.waited_so_far(),
            },
        )
        if columns := self.tally.new_columns():
            self._lifeline.report("samples", columns)

    def _end_at_limit(self) -> None:
        self._monitor.stop()
        if self._stop_others():
            return
        self._lifeline.finish(self.result(complete=False))
