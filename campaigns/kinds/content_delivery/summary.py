"""Compute the values of a run from what its programs have counted, and the rows of its hosts. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from campaigns.kinds.base.values import Distribution, Phase, Series
from campaigns.kinds.programs.health import percentile
from campaigns.kit import histogram
from campaigns.kit.mappings import ProgramResult

SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
DISTRIBUTIONS = {
    "package": "package_time",
    "package_round2": "second_round_package_time",
    "metadata": "metadata_time",
    "first_byte": "first_byte",
    "connect": "connect_time",
    "tls": "tls_time",
}
"""Names of the distributions of a run by the histograms of the program."""
MIDDLE = (0.1, 0.9)
LEAST_MIDDLE_SECONDS = 1.0
MB = 1_000_000
Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Delivered:
    """What hosts fetched in a run.

    packages: of each host in all rounds. bytes_each: of all that a host fetches; None if the repository tells no sizes.
    """

    hosts: int
    packages: int
    bytes_each: int | None
    columns: Columns
    result: ProgramResult
    limit_seconds: float

    @property
    def planned(self) -> int:
        """How many packages all hosts were to fetch."""
        return self.hosts * self.packages

    @property
    def fetched(self) -> int:
        """How many packages came."""
        return self.count("packages")

    @property
    def missing(self) -> int:
        """How many did not: those that failed, and those that a host that had stopped did not ask for."""
        return self.planned - self.fetched

    @property
    def passed(self) -> list[int]:
        """The rows of hosts that fetched all."""
        return [row for row, failure in enumerate(self.column("failure")) if not failure]

    @property
    def hosts_failed(self) -> int:
        """How many hosts did not fetch all."""
        return self.hosts - len(self.passed)

    def count(self, name: str) -> int:
        """Return one of the program's counts."""
        return int((self.result.get("counts") or {}).get(name, 0))

    @property
    def tells_cold(self) -> bool:
        """Whether the server is one that tells what it has stored: a Pulp, which told it of some file. Others send chunks as they like."""
        return self.count("told_size") > 0

    def column(self, name: str) -> Sequence[Any]:
        """Return a column of the rows of hosts."""
        return self.columns.get(name, ())

    def failures(self) -> dict[str, int]:
        """Count the packages that did not come, by class; those that nobody asked for after a failure are a class of their own."""
        counts = {
            kind: int(count)
            for kind, count in (self.result.get("package_failures") or {}).items()
            if count
        }
        rest = self.missing - sum(counts.values())
        return counts | ({"not asked for": rest} if rest > 0 else {})

    def values(self) -> dict[str, float]:
        """Return the value of each metric that this run allows."""
        values = {
            "packages_failed": float(self.missing),
            "hosts_failed": float(self.hosts_failed),
            "retried": float(self.count("retried")),
        }
        if self.fetched:
            values["first_try"] = 100.0 * self.count("first_try") / self.planned
            if self.tells_cold:
                values["cold_share"] = 100.0 * self.count("cold") / self.fetched
            values |= self._times() | self._rates()
        return values | self._of_hosts()

    def _times(self) -> dict[str, float]:
        values = _spread("package_time", self.histogram("package"))
        for name, metric in (
            ("package_round2", "second_round_package_time"),
            ("metadata", "metadata_time"),
            ("connect", "connect_time"),
            ("tls", "tls_time"),
        ):
            if counts := self.histogram(name):
                values[metric] = (counts.mean or 0.0) / 1e6
        first = self.histogram("first_byte")
        if first and not histogram.needs(first.total, 0.95):
            values["first_byte_p95"] = first.at([0.95])[0] / 1e6
        return values

    def _rates(self) -> dict[str, float]:
        seconds = self.window
        if not seconds:
            return {}
        values = {
            "package_rate": self.fetched / seconds,
            "throughput": self.bytes_fetched / MB / seconds,
        }
        middle = middle_rate(self.per_second("packages"))
        return values | ({"middle_rate": middle} if middle else {})

    def _of_hosts(self) -> dict[str, float]:
        return of_hosts(
            self.column("began_us"), self.column("ended_us"), self.column("failure"), self.packages
        )

    @property
    def window(self) -> float:
        """Seconds from the first request to the last byte; 0 without."""
        window: Sequence[float] = self.result.get("window") or []
        return window[1] - window[0] if len(window) == 2 and window[1] > window[0] else 0.0

    @property
    def bytes_fetched(self) -> int:
        """Bytes of all files of all hosts."""
        return sum(int(each or 0) for each in self.column("bytes"))

    def per_second(self, name: str) -> Sequence[int]:
        """Return how much was counted in each second."""
        return (self.result.get("per_second") or {}).get(name) or ()

    def histogram(self, name: str) -> histogram.Counts | None:
        """Return a histogram of the program; None where it is empty."""
        encoded = (self.result.get("histograms") or {}).get(name)
        counts = histogram.counts_of(encoded.encode("ascii")) if encoded else None
        return counts if counts is not None and counts.total else None

    def distributions(self) -> list[Distribution]:
        """Return the histograms under the names of their metrics, and the times of the hosts."""
        coded = self.result.get("histograms") or {}
        stored = []
        for name, shown in DISTRIBUTIONS.items():
            if counts := self.histogram(name):
                stored.append(Distribution(shown, coded[name].encode("ascii"), counts.total))
        if times := self.host_times_us():
            stored.append(Distribution.of("host_time", times))
        return stored

    def host_times_us(self) -> list[int]:
        """Return the times of hosts that fetched all, from the first request to the last byte."""
        began, ended = self.column("began_us"), self.column("ended_us")
        return [ended[row] - began[row] for row in self.passed if began[row] is not None]

    def series(self) -> list[Series]:
        """Return packages and bytes of each second."""
        series = [
            Series(label, "1/s", 1.0, [float(each) for each in steps])
            for label, steps in (
                ("packages", self.per_second("packages")),
                ("failed packages", self.per_second("packages_failed")),
            )
            if any(steps)
        ]
        if sent := self.per_second("bytes"):
            series.append(Series("throughput", "MB/s", 1.0, [each / MB for each in sent]))
        return series

    def phases(self) -> list[Phase]:
        """Return how long a host takes for the metadata, and for the packages; means of hosts that fetched all."""
        rows = [
            (
                self.column("began_us")[row],
                self.column("metadata_us")[row],
                self.column("ended_us")[row],
            )
            for row in self.passed
        ]
        known = [row for row in rows if None not in row]
        if not known:
            return []
        return [
            Phase("metadata", sum(each[1] - each[0] for each in known) / len(known) / 1e6),
            Phase("packages", sum(each[2] - each[1] for each in known) / len(known) / 1e6),
        ]

    def samples(self) -> dict[str, Sequence[Any]]:
        """Return the columns of the samples, with a row for each host."""
        columns: dict[str, Sequence[Any]] = {
            "host": self.column("number"),
            "start_seconds": _seconds(self.column("began_us")),
            "metadata_seconds": _seconds(self.column("metadata_us")),
            "end_seconds": _seconds(self.column("ended_us")),
            "files": self.column("files"),
            "bytes": self.column("bytes"),
            "retries": self.column("retries"),
            "failure": self.column("failure"),
            "words": self.column("words"),
        }
        if generators := self.columns.get("generator"):
            columns["generator"] = generators
        return columns

    def figures(self) -> dict[str, float]:
        """Return the figures by which the generator is judged."""
        figures = dict(self.result.get("figures") or {})
        for name in ("cpu_seconds", "peak_memory_bytes"):
            if name in self.result:
                figures[name] = float(self.result[name])
        for name in ("requests", "connections", "bytes"):
            figures[name] = float(self.count(name))
        return figures

    def examples(self) -> dict[str, str]:
        """Return the first error message of each class of failure."""
        return dict(self.result.get("examples") or {})

    def first_message(self) -> str:
        """Return the first error message."""
        words = next((each for each in self.column("words") if each), "")
        return words or next(iter(self.examples().values()), "no reason is known")

    def failure(self) -> str:
        """Return why the run as a whole failed; empty where it did not."""
        if not self.result:
            return f"The time limit of {self.limit_seconds:g} s ended the run, and its program."
        if not self.fetched:
            counts = ", ".join(f"{count:,} {kind}" for kind, count in self.failures().items())
            return f"None of {self.planned:,} packages came ({counts}). The first: {self.first_message()}"
        if not self.result.get("complete"):
            return f"The time limit of {self.limit_seconds:g} s ended the run after {self.fetched:,} of {self.planned:,} packages."
        return ""


def of_hosts(
    began_us: Sequence[Any], ended_us: Sequence[Any], failures: Sequence[str], packages: float
) -> dict[str, float]:
    """Return the metrics of the times of hosts that fetched all; without such hosts none. packages: of each host."""
    times = sorted(
        (ended - began) / 1e6
        for began, ended, failure in zip(began_us, ended_us, failures, strict=True)
        if not failure and began is not None and ended is not None
    )
    if not times:
        return {}
    mean = sum(times) / len(times)
    values = {"host_time": mean}
    if packages:
        values["host_time_per_package"] = mean / packages
    if not histogram.needs(len(times), 0.95):
        values["host_time_p95"] = percentile(times, 0.95)
    return values


def middle_rate(per_second: Sequence[int]) -> float | None:
    """Return the packages per second of the middle 80 % of the packages; None where they came within a second or two."""
    total = sum(per_second)
    if not total:
        return None
    first, last = (_second_of(per_second, share * total) for share in MIDDLE)
    if last - first < LEAST_MIDDLE_SECONDS:
        return None
    return (MIDDLE[1] - MIDDLE[0]) * total / (last - first)


def _second_of(per_second: Sequence[int], wanted: float) -> float:
    """Return after how many seconds so many had come, evenly within each second."""
    before = 0
    for second, count in enumerate(per_second):
        if before + count >= wanted:
            return second + (wanted - before) / count
        before += count
    return float(len(per_second))


def _spread(metric: str, counts: histogram.Counts | None) -> dict[str, float]:
    if counts is None:
        return {}
    values = {metric: (counts.mean or 0.0) / 1e6, f"{metric}_max": counts.at([1.0])[0] / 1e6}
    for name, share in SHARES.items():
        if not histogram.needs(counts.total, share):
            values[f"{metric}_{name}"] = counts.at([share])[0] / 1e6
    return values


def _seconds(column: Sequence[Any]) -> list[float | None]:
    return [None if each is None else each / 1e6 for each in column]
