"""Compute the values of a run from what its programs have reported. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from campaigns.kinds.http.program.reading import Loaded
from campaigns.kinds.load.recorder import CENSORED
from campaigns.kinds.load.schedule import OPEN
from campaigns.kit import histogram
from campaigns.kit.histogram import Counts
from campaigns.kit.mappings import Parameters, ProgramResult

PERCENTILES = {
    "response_p50": ("response", 0.5),
    "response_p95": ("response", 0.95),
    "response_p99": ("response", 0.99),
    "service_p95": ("service", 0.95),
    "first_byte_p95": ("first_byte", 0.95),
    "scenario_time_p50": ("host_response", 0.5),
    "scenario_time_p95": ("host_response", 0.95),
}
SERIES = {
    "response": "response",
    "service": "service",
    "first_byte": "first_byte",
    "host_response": "scenario_time",
    "connect": "connect",
    "tls": "tls",
}
"""Distributions of a run by the series of the engine."""
OF_STEPS = ("response", "service")
MS = 1000.0
"""Microseconds in a millisecond."""


@dataclass(frozen=True)
class Played:
    """The requests of a run."""

    loaded: Loaded
    parameters: Parameters
    columns: Mapping[str, Sequence[Any]]
    result: ProgramResult
    limit_seconds: float

    @cached_property
    def done(self) -> int:
        """How many requests were answered as expected after the warm-up."""
        counts = self._counts("response")
        return counts.total if counts else 0

    @property
    def failures(self) -> dict[str, int]:
        """The failures after the warm-up by class."""
        return {kind: count for kind, count in (self.result.get("failures") or {}).items() if count}

    @property
    def failed(self) -> int:
        """How many requests failed after the warm-up."""
        return sum(self.failures.values())

    @property
    def seconds(self) -> float:
        """From the end of the warm-up to the last answer, or to the end of the duration where that is later.

        Of iterations alone: to the end of the last round.
        """
        window: Sequence[float] = self.result.get("window") or []
        if len(window) != 2:
            return 0.0
        warm_up = self.parameters["warm_up_seconds"] if self.parameters["duration_seconds"] else 0.0
        return max(0.0, window[1] - float(warm_up))

    def values(self) -> dict[str, float]:
        """Return the value of each metric that this run allows."""
        ended = self.done + self.failed
        values: dict[str, float] = {}
        if ended:
            values["failed"] = 100.0 * self.failed / ended
        if self.seconds > 0:
            values["request_rate"] = self.done / self.seconds
        values |= self._offered()
        response = self._counts("response")
        if response is None:
            return values
        values["response_mean"] = (response.mean or 0.0) / MS
        values["response_max"] = response.at([1.0])[0] / MS
        limit = self.parameters["success_limit_ms"]
        if limit and self.seconds > 0:
            values["goodput"] = (response.total - response.above(limit * MS)) / self.seconds
        return values | {name: value for name, (value, _) in self._percentiles().items()}

    def censored(self) -> frozenset[str]:
        """Return the percentiles that are lower limits, as requests or rounds timed out below them."""
        return frozenset(name for name, (_, above) in self._percentiles().items() if above)

    def distributions(self) -> dict[str, bytes]:
        """Return the encoded histograms of the run, and those of each step."""
        coded = self._coded
        found = {
            name: coded[series].encode("ascii")
            for series, name in SERIES.items()
            if series in coded
        }
        if self._is_plain and "response" in found:
            found["scenario_time"] = found["response"]
        names = [step.name for step in self.loaded.scenario.steps]
        for name in names:
            for series in OF_STEPS:
                one = coded.get(f"{series}:{name}") or (
                    coded.get(series) if len(names) == 1 else None
                )
                if one:
                    found[f"{name}: {series}"] = one.encode("ascii")
        return found

    def step_means(self) -> dict[str, float]:
        """Return the mean seconds of each step's answers."""
        means = {}
        for name, encoded in self.distributions().items():
            step, colon, series = name.rpartition(": ")
            if colon and series == "response":
                means[step] = (histogram.counts_of(encoded).mean or 0.0) / 1e6
        return means

    def figures(self) -> dict[str, float]:
        """Return the figures by which the generator is judged."""
        figures = dict(self.result.get("figures") or {})
        for name in ("cpu_seconds", "peak_memory_bytes"):
            if name in self.result:
                figures[name] = float(self.result[name])
        return figures

    def failure(self) -> str:
        """Return why the run as a whole failed; empty where it did not."""
        if not self.result:
            return f"The time limit of {self.limit_seconds:g} s ended the run, and its program."
        if not self.done:
            counts = ", ".join(f"{count} {kind}" for kind, count in self.failures.items())
            if not counts:
                return self._nothing_begun()
            return (
                f"No request was answered as expected ({counts}). The first: {self.first_message()}"
            )
        if not self.result.get("complete"):
            return (
                f"The time limit of {self.limit_seconds:g} s ended the run after {self.done} requests. Raise it, or "
                "make the load shorter."
            )
        return ""

    def _nothing_begun(self) -> str:
        """Return why no request was begun that counts."""
        sent = sum(self.of_steps("sent").values())
        rounds = int(self.result.get("rounds", 0))
        if rounds and not sent + sum(self.of_steps("failed").values()):
            return f"In {rounds} rounds no step was done, as each has a weight. Give one a weight of 1, or do more rounds."
        warm_up = (
            f" of {self.parameters['warm_up_seconds']:g} s, in which {sent} were sent"
            if sent
            else ""
        )
        return (
            f"No request was to begin after the warm-up{warm_up}. Make the load longer, the warm-up shorter, or the rate "
            "of an open loop higher."
        )

    def first_message(self) -> str:
        """Return the first error message."""
        return next(iter(self.examples().values()), "no reason is known")

    def examples(self) -> dict[str, str]:
        """Return the first error message of each class of failure."""
        examples = self.result.get("examples") or {}
        return {kind: examples[kind] for kind in self.failures if kind in examples}

    def of_steps(self, what: str) -> dict[str, int]:
        """Return a count of requests by step, the warm-up included: sent, answered, unanswered, failed, left_out."""
        return {
            name: int(count) for name, count in (self.result.get(f"steps_{what}") or {}).items()
        }

    def samples(self) -> dict[str, Sequence[Any]]:
        """Return the columns of the samples: a row for each host."""
        return dict(self.columns)

    def _offered(self) -> dict[str, float]:
        """Return what an open loop asked for, and how much of it was begun in time."""
        if self.parameters["loop"] != OPEN:
            return {}
        offered, sent = self.result.get("offered", 0.0), self.result.get("sent", 0.0)
        values = {"offered_rate": float(self.parameters["rate"])}
        if offered:
            values["achieved"] = 100.0 * sent / offered
        return values

    def _percentiles(self) -> dict[str, tuple[float, bool]]:
        """Return each percentile for which there are enough requests or rounds, and whether it is only a lower limit.

        What timed out ranks by how long it had waited. It would have taken longer, so percentiles from there on are lower limits.
        """
        percentiles: dict[str, tuple[float, bool]] = {}
        for name, (series, share) in PERCENTILES.items():
            if series == "host_response" and self._is_plain:
                series = "response"  # one plain request is the whole round
            counts, waits = self._counts(series), self._counts(CENSORED[series])
            if counts is None or not counts.total:
                continue
            every = counts if waits is None else histogram.added([counts, waits])
            if histogram.needs(every.total, share):
                continue
            value = every.at([share])[0]
            percentiles[name] = value / MS, waits is not None and waits.at([0.0])[0] <= value
        return percentiles

    @property
    def _is_plain(self) -> bool:
        """Whether the run went the way of plain load, which measures no rounds besides requests."""
        return bool(self.result.get("is_plain"))

    def _counts(self, series: str) -> Counts | None:
        encoded = self._coded.get(series)
        return histogram.counts_of(encoded.encode("ascii")) if encoded else None

    @property
    def _coded(self) -> Mapping[str, str]:
        return self.result.get("histograms") or {}
