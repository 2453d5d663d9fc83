"""Record nanoseconds appended by the hot path, and fold them into counts of HDR histograms. No clock, no network.

Names of histograms: `lag` (intended start to sent), `service` (sent to done) and `response` (intended
start to done) of all successful requests, and the same for each step with the suffix `:STEP`; `first_byte`
and `body`, the parts of service; `connect`, `tls` and `tls_wait` (for the turn to begin with TLS) of
connections; `host_lag`, `host_service`, `host_response` of whole sequences; `loop_lag`. What timed out is in none of
these, but with how long it had waited in those of CENSORED. Repeated requests are only in those with the prefix `retry_`.
"""

from array import array
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from campaigns.kit import histogram
from campaigns.kit.mappings import ProgramResult

FOLD_SECONDS = 0.05
"""How often values are folded: few at a time, so that no request waits for it."""
COUNTED = ("done", "failed", "bytes")
OF_STEPS = frozenset({"lag", "service", "response"})
"""Series that each step has, too."""
CENSORED = {
    "response": "censored",
    "service": "service_censored",
    "first_byte": "first_byte_censored",
    "host_response": "host_censored",
}
"""Series with the waits of what timed out, by the series that would have its time."""
LONGEST_NS = histogram.HIGHEST_MICROSECONDS * 1000


class Series:
    """One name's values: `values.append(ns)` is the hot path."""

    __slots__ = ("counts", "dropped", "values")

    def __init__(self) -> None:
        self.values: array[int] = array("q")
        self.counts: NDArray[np.int64] | None = None
        self.dropped = 0

    def fold(self) -> int:
        """Add the appended values to the counts; return how many."""
        length = len(self.values)
        if length:
            self.take(np.frombuffer(self.values, np.int64))
            self.values = array("q")
        return length

    def take(self, nanoseconds: NDArray[np.int64]) -> None:
        """Add values, shape (n,), to the counts."""
        if self.counts is None:
            self.counts = histogram.no_counts()
        self.dropped += histogram.add_nanoseconds(self.counts, nanoseconds)


class Instants:
    """Four instants of each request of the fast path, subtracted only when they are folded.

    Four appends cost less there than five subtractions and appends.
    """

    __slots__ = ("done", "first_byte", "intended", "sent")

    def __init__(self) -> None:
        self.intended: array[int] = array("q")
        self.sent: array[int] = array("q")
        self.first_byte: array[int] = array("q")
        self.done: array[int] = array("q")

    def add(self, intended: int, sent: int, first_byte: int, done: int) -> None:
        """Append the instants of a request."""
        self.intended.append(intended)
        self.sent.append(sent)
        self.first_byte.append(first_byte)
        self.done.append(done)

    def take(self, from_ns: int) -> tuple[dict[str, NDArray[np.int64]], int]:
        """Return the values by series, and how many began before `from_ns` and are left out."""
        intended, sent, first_byte, done = (
            np.array(values, dtype=np.int64)
            for values in (self.intended, self.sent, self.first_byte, self.done)
        )
        for values in (self.intended, self.sent, self.first_byte, self.done):
            del values[:]  # the same array: the hot path holds its `append`
        counts = intended >= from_ns
        series = {
            "lag": sent - intended,
            "service": done - sent,
            "response": done - intended,
            "first_byte": first_byte - sent,
            "body": done - first_byte,
        }
        left_out = int(intended.size - np.count_nonzero(counts))
        if left_out:
            series = {name: values[counts] for name, values in series.items()}
        return series, left_out


class Recorder:
    """All series of one process.

    steps: the instants of each step of a sequence. from_ns: requests in `instants` and `steps` that should begin before are left out and counted in `warm_up`; callers
    of `add` have to check that themselves. answered_ns: when the last answer came that is folded, or was noted by a caller.
    """

    def __init__(self) -> None:
        self.instants = Instants()
        self.steps: dict[str, Instants] = {}
        self.from_ns = self.warm_up = self.answered_ns = 0
        self.series: dict[str, Series] = {}
        self.failures: Counter[str] = Counter()
        self.retry_failures: Counter[str] = Counter()
        self.statuses: Counter[int] = Counter()
        self.bytes = 0
        self.failed = 0
        self.per_second: dict[str, list[int]] = {name: [] for name in COUNTED}
        self._seen = dict.fromkeys(COUNTED, 0)

    def named(self, name: str) -> Series:
        """Return the series of a name."""
        series = self.series.get(name)
        if series is None:
            series = self.series[name] = Series()
        return series

    def instants_of(self, step: str) -> Instants:
        """Return where the instants of a step are appended; they count for all requests, and for the step."""
        return self.steps.setdefault(step, Instants())

    def add(self, name: str, nanoseconds: int) -> None:
        """Append a value to a series, outside of the hot path."""
        self.named(name).values.append(nanoseconds)

    def censor(self, name: str, nanoseconds: int, prefix: str = "") -> None:
        """Append how long something had waited when it timed out. It would have taken longer, so an hour stands for more."""
        self.add(prefix + CENSORED[name], min(nanoseconds, LONGEST_NS))

    def fail(self, kind: str, *, retry: bool = False) -> None:
        """Count a failure."""
        (self.retry_failures if retry else self.failures)[kind] += 1
        self.failed += 1

    @property
    def done(self) -> int:
        """How many successful requests are folded."""
        return sum(
            int(series.counts.sum())
            for name, series in self.series.items()
            if name in ("service", "retry_service") and series.counts is not None
        )

    def fold(self, second: int) -> None:
        """Fold everything; what was added since the last call counts for `second` of the run."""
        done = self._fold_instants()
        for name, series in self.series.items():
            folded = series.fold()
            if name in ("service", "retry_service"):
                done += folded
        second = max(0, second)
        now = {"done": self._seen["done"] + done, "failed": self.failed, "bytes": self.bytes}
        for name, value in now.items():
            steps = self.per_second[name]
            steps.extend([0] * (second + 1 - len(steps)))
            steps[second] += value - self._seen[name]
        self._seen = now

    def _fold_instants(self) -> int:
        done = self._fold_some(self.instants)
        if done:
            self.statuses[200] += done
        return done + sum(self._fold_some(instants, step) for step, instants in self.steps.items())

    def _fold_some(self, instants: Instants, step: str = "") -> int:
        """Fold instants into the series of all requests, and into those of a step; return how many counted."""
        if not instants.done:
            return 0
        self.answered_ns = max(self.answered_ns, instants.done[-1])
        values, left_out = instants.take(self.from_ns)
        self.warm_up += left_out
        for name, nanoseconds in values.items():
            if nanoseconds.size:
                self.named(name).take(nanoseconds)
                if step and name in OF_STEPS:
                    self.named(f"{name}:{step}").take(nanoseconds)
        return int(values["service"].size)

    def result(self) -> ProgramResult:
        """Return the measured values as JSON, in the form that `merging` adds."""
        return {
            "histograms": {
                name: text(series.counts)
                for name, series in sorted(self.series.items())
                if series.counts is not None
            },
            "dropped": {name: series.dropped for name, series in self.series.items()},
            "failures": dict(self.failures),
            "retry_failures": dict(self.retry_failures),
            "statuses": {str(status): count for status, count in self.statuses.items()},
            "per_second": {name: list(steps) for name, steps in self.per_second.items()},
            "bytes": self.bytes,
        }

    def percentile(self, name: str, share: float) -> float | None:
        """Return a percentile of the folded values in seconds; None where there are none."""
        series = self.series.get(name)
        if series is None or series.counts is None or not series.counts.any():
            return None
        return histogram.of_counts(series.counts).at([share])[0] / 1e6


def text(counts: NDArray[np.int64]) -> str:
    """Encode counts as `campaigns.kit.histogram` does: its bytes are base64 already."""
    return histogram.encode_counts(counts).decode("ascii")
