"""Compute the values of a run from the samples of its files. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from campaigns.kinds.programs.health import percentile
from campaigns.kinds.programs.manifest import Entry
from campaigns.kit import histogram
from campaigns.kit.mappings import ProgramResult

PERCENTILES = {"file_time_p50": 0.5, "file_time_p95": 0.95}


@dataclass(frozen=True, slots=True)
class Download:
    """The samples (columns) and the result of an engine program; a killed one has no result."""

    entries: Sequence[Entry]
    columns: Mapping[str, Sequence[Any]]
    result: ProgramResult
    limit_seconds: float

    @property
    def complete(self) -> bool:
        """Whether every file was processed before the time limit."""
        return bool(self.result.get("complete"))

    @property
    def failed(self) -> int:
        """The number of files that failed."""
        return sum(self.failures().values())

    def done(self) -> list[int]:
        """Return the numbers, in the manifest, of the files that were downloaded."""
        return [self._column("file")[row] for row in self._rows()]

    def failures(self) -> dict[str, int]:
        """Count the failed files by class."""
        return dict(Counter(failure for failure in self._column("failure") if failure))

    def failure(self) -> str:
        """Return why the run as a whole failed; empty where it did not."""
        done = len(self.done())
        if not self.complete:
            return (
                f"The time limit of {self.limit_seconds:g} s ended the run after {done} of "
                f"{len(self.entries)} files ({self.failed} failed)."
            )
        if done:
            return ""
        counts = ", ".join(f"{count} {failure}" for failure, count in self.failures().items())
        first = next(iter(self.result["examples"].values()), "")
        return f"All {self.failed} files failed ({counts}). The first: {first}"

    def values(self) -> dict[str, float]:
        """Return the value of each metric that this run allows."""
        result, done = self.result, self.done()
        values = {"failed_files": float(self.failed)}
        if result:
            values["cpu_seconds"] = result["cpu_seconds"]
            values["peak_memory"] = result["peak_memory_bytes"] / 1e6
        if not self.complete:
            return values | {"duration": result.get("seconds", self.limit_seconds)}
        if not done:
            return values
        seconds = result["seconds"]
        values["duration"] = seconds
        values["throughput"] = sum(self.entries[index].size for index in done) / 1e6 / seconds
        values["file_rate"] = len(done) / seconds
        values["effective_concurrency"] = result["figures"]["effective_concurrency"]
        times = self.times_us().get("file_time", ())
        for name, share in PERCENTILES.items():
            if not histogram.needs(len(times), share):
                values[name] = percentile(times, share) / 1000
        return values

    def times_us(self) -> dict[str, list[int]]:
        """Return the times of the downloaded files in microseconds."""
        rows = self._rows()
        return {
            name: [self._column(column)[row] for row in rows]
            for name, column in (("file_time", "total_us"), ("first_byte", "first_byte_us"))
        }

    def phases(self) -> dict[str, float]:
        """Return the duration, split like the times of the files: until the first byte, and the rest."""
        times = self.times_us()
        total = sum(times.get("file_time", ()))
        if not self.complete or not total:
            return {}
        share = sum(times["first_byte"]) / total
        seconds = self.result["seconds"]
        return {"first byte": share * seconds, "download and save": (1 - share) * seconds}

    def samples(self) -> dict[str, Sequence[Any]]:
        """Return the samples with names and in seconds; None where a value is missing or unknown."""
        return {
            "file": [self.entries[index].name for index in self._column("file")],
            "start_seconds": _seconds(self._column("start_us")),
            "first_byte_seconds": _seconds(
                value or None for value in self._column("first_byte_us")
            ),
            "total_seconds": _seconds(self._column("total_us")),
            "bytes": self._column("bytes"),
            "status": self._column("status"),
            "failure": self._column("failure"),
        }

    def _column(self, name: str) -> Sequence[Any]:
        return self.columns.get(name, ())

    def _rows(self) -> list[int]:
        return [row for row, failure in enumerate(self._column("failure")) if not failure]


def _seconds(microseconds: Iterable[int | None]) -> list[float | None]:
    return [None if value is None else value / 1e6 for value in microseconds]
