"""What the rows of hosts amount to. Pure: columns in, numbers and sentences out."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from campaigns.kinds.programs.health import percentile
from campaigns.kinds.registration.program.profiles import CONSUMER, PROFILES, Part, Profile
from campaigns.kinds.registration.program.sequence import columns_of
from campaigns.kit import histogram

PERCENTILES = {
    "registration_time_p50": 0.5,
    "registration_time_p95": 0.95,
    "registration_time_p99": 0.99,
}
PART_TIMES = {
    Part.SCRIPT: "script_time",
    Part.SUBSCRIPTION: "subscription_time",
    Part.CONFIGURATION: "configuration_time",
    Part.BUILT: "built_time",
}
FEWEST_IN_STEADY_PART = 20
"""Hosts, below which the middle of the completions says nothing."""
TIMED_OUT = "timeout"
Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Registrations:
    """The hosts of a run: rows of those that ended, and how many there were to be.

    retried: numbers of hosts that came through in the retry phase; retry_failures: by class.
    """

    hosts: int
    profile: Profile
    columns: Columns
    result: Mapping[str, Any]
    limit_seconds: float
    retried: frozenset[int] = frozenset()
    retry_failures: Mapping[str, int] = field(default_factory=dict)

    @property
    def passed(self) -> list[int]:
        """The rows of hosts that registered at their first try."""
        return [row for row, failure in enumerate(self._column("failure")) if not failure]

    @property
    def failed(self) -> int:
        """How many did not; those that the time limit kept from beginning are among them."""
        return self.hosts - len(self.passed)

    @property
    def failed_numbers(self) -> list[int]:
        """The numbers of hosts that may try again."""
        came = {self._column("number")[row] for row in self.passed}
        return [number for number in range(self.hosts) if number not in came]

    def failures(self) -> dict[str, int]:
        """Count what failed by class; a host without a row has timed out."""
        counts = Counter(failure for failure in self._column("failure") if failure)
        counts[TIMED_OUT] += self.hosts - len(self._column("failure"))
        return {kind: count for kind, count in counts.items() if count}

    def values(self) -> dict[str, float]:
        """Return the value of each metric that this run allows."""
        passed = len(self.passed)
        values = {
            "passed": float(passed),
            "failed": float(self.failed),
            "first_try": 100.0 * passed / self.hosts,
            "eventual": 100.0 * (passed + len(self.retried)) / self.hosts,
            "resent": float(sum(self._column("retries"))),
            "profiles_refused": float(sum(self._column("profile_refused"))),
        }
        window: Sequence[float] = self.result.get("window") or []
        if len(window) == 2 and window[1] > window[0]:
            values["window"] = window[1] - window[0]
            values["registration_rate"] = passed / values["window"]
        if passed:
            values |= self._times() | self._parts() | self._middle()
        starts = self._column("start_us")
        if starts:
            values["start_spread"] = (max(starts) - min(starts)) / 1e6
        return values

    def censored(self) -> frozenset[str]:
        """Name the percentiles that hosts reached only by their timeout: what is above is not known."""
        return frozenset(name for name, (_, above) in self._percentiles().items() if above)

    def _times(self) -> dict[str, float]:
        times = self._of("total_us")
        values = {"registration_time": sum(times) / len(times) / 1e6,
                  "registration_time_max": max(times) / 1e6}  # fmt: skip
        consumers = self._of(f"{CONSUMER}_us")
        if consumers:
            values["consumer_time"] = sum(consumers) / len(consumers) / 1e6
        return values | {name: value for name, (value, _) in self._percentiles().items()}

    def _percentiles(self) -> dict[str, tuple[float, bool]]:
        """Return each percentile that the number of hosts bears, and whether it is only a lower limit.

        A host that timed out would have taken longer than it was waited for: it stands above all others.
        """
        times = sorted(self._of("total_us"))
        waited = [
            self._column("total_us")[row]
            for row, failure in enumerate(self._column("failure"))
            if failure == TIMED_OUT
        ]
        late = self.failures().get(TIMED_OUT, 0)
        count = len(times) + late
        found: dict[str, tuple[float, bool]] = {}
        if not times:
            return found
        for name, share in PERCENTILES.items():
            if histogram.needs(count, share):
                continue
            rank = max(1, int(count * share + 0.5))
            if rank <= len(times):
                found[name] = times[rank - 1] / 1e6, False
            else:
                least = min(waited) / 1e6 if waited else self.limit_seconds
                found[name] = least, True
        return found

    def _parts(self) -> dict[str, float]:
        """Return the mean times of the parts of a registration that has several."""
        if len(self.profile.parts) < 2:
            return {}
        means = self.step_means()
        owners = {step.name: step.part for step in self.profile.steps}
        values: dict[str, float] = {}
        for name, seconds in means.items():
            metric = PART_TIMES[owners.get(name, Part.SUBSCRIPTION)]
            values[metric] = values.get(metric, 0.0) + seconds
        return values

    def _middle(self) -> dict[str, float]:
        """Return the throughput of the middle 80 % of the completions."""
        ends = sorted(self._of("ended_us"))
        if len(ends) < FEWEST_IN_STEADY_PART:
            return {}
        first, last = percentile(ends, 0.1), percentile(ends, 0.9)
        return {"middle_rate": 0.8 * len(ends) / ((last - first) / 1e6)} if last > first else {}

    def step_means(self) -> dict[str, float]:
        """Return the mean seconds of each step of the hosts that came through; together: a registration."""
        passed = len(self.passed)
        means = {}
        for name in columns_of(self.profile):
            times = self._of(f"{name}_us")
            if times and passed:
                means[name] = sum(times) / passed / 1e6
        return means

    def times_us(self) -> dict[str, list[int]]:
        """Return the times of those that came through by quantity, in microseconds: the whole, and each step."""
        return {"registration_time": self._of("total_us")} | {
            name: times for name in columns_of(self.profile) if (times := self._of(f"{name}_us"))
        }

    def connections(self) -> dict[str, bytes]:
        """Return the encoded histograms of what connections took: `connect`, and `tls`."""
        coded = self.result.get("histograms") or {}
        return {name: coded[name].encode("ascii") for name in ("connect", "tls") if name in coded}

    def figures(self) -> dict[str, float]:
        """Return what the generator is judged by, and what so many identities cost it."""
        figures = dict(self.result.get("figures") or {})
        for name, encoded in self.connections().items():
            figures[f"{name}_p50_seconds"] = histogram.counts_of(encoded).at([0.5])[0] / 1e6
        if identities := self._of("identity_us"):
            figures["identity_mean_seconds"] = sum(identities) / len(identities) / 1e6
        for name in ("cpu_seconds", "peak_memory_bytes"):
            if name in self.result:
                figures[name] = float(self.result[name])
        return figures

    def completions(self) -> list[float]:
        """Count the registrations that ended in each second."""
        ends = [int(end // 1_000_000) for end in self._of("ended_us")]
        counts = Counter(ends)
        return [float(counts[second]) for second in range(max(ends) + 1)] if ends else []

    def failure(self) -> str:
        """Return why the run as a whole failed; empty where it did not."""
        if not self.result:
            return f"The time limit of {self.limit_seconds:g} s ended the run, and its program."
        if self.passed:
            if not self.result.get("complete"):
                return (
                    f"The time limit of {self.limit_seconds:g} s ended the run after "
                    f"{len(self.passed)} of {self.hosts} hosts had registered."
                )
            return ""
        counts = ", ".join(f"{count} {kind}" for kind, count in self.failures().items())
        return (
            f"None of {self.hosts} hosts registered ({counts}). The first: {self.first_message()}"
        )

    def first_message(self) -> str:
        """Return what went wrong first."""
        words = [text for text in self._column("words") if text]
        examples = self.result.get("examples") or {}
        return words[0] if words else next(iter(examples.values()), "nothing was said")

    def examples(self) -> dict[str, str]:
        """Return the first words of each class of failure."""
        found: dict[str, str] = {}
        for failure, words in zip(self._column("failure"), self._column("words"), strict=True):
            if failure and words:
                found.setdefault(failure, words)
        return found

    def samples(self) -> dict[str, Sequence[Any]]:
        """Return one row a host, in seconds; what it did not come to is None."""
        given: dict[str, Sequence[Any]] = {
            "host": self._column("name"),
            "start_seconds": [value / 1e6 for value in self._column("start_us")],
            "total_seconds": [value / 1e6 for value in self._column("total_us")],
        }
        given |= {
            f"{name}_seconds": [
                None if value is None else value / 1e6 for value in self._column(f"{name}_us")
            ]
            for name in columns_of(self.profile)
        }
        given |= {
            "status": self._column("status"),
            "failed_at": self._column("failed_at"),
            "eventual": [self._outcome(row) for row in range(len(self._column("failure")))],
            "failure": self._column("failure"),
            "words": self._column("words"),
            "uuid": self._column("uuid"),
        }
        if generators := self.columns.get("generator"):
            given["generator"] = generators
        return given

    def _outcome(self, row: int) -> str:
        if not self._column("failure")[row]:
            return "first try"
        return "retry" if self._column("number")[row] in self.retried else "failed"

    def _of(self, name: str) -> list[int]:
        """Return a column of the hosts that came through, without holes."""
        if name == "ended_us":
            column: Sequence[Any] = [
                intended + total
                for intended, total in zip(
                    self._column("intended_us"), self._column("total_us"), strict=True
                )
            ]
        else:
            column = self._column(name)
        return [column[row] for row in self.passed if column and column[row] is not None]

    def _column(self, name: str) -> Sequence[Any]:
        return self.columns.get(name, ())


def registrations(
    parameters: Mapping[str, Any],
    columns: Columns,
    result: Mapping[str, Any],
    limit_seconds: float,
    retried: frozenset[int] = frozenset(),
    retry_failures: Mapping[str, int] | None = None,
) -> Registrations:
    """Bring together what a run's programs have reported."""
    return Registrations(
        hosts=int(parameters["hosts"]),
        profile=PROFILES[parameters["profile"]],
        columns=columns,
        result=result,
        limit_seconds=limit_seconds,
        retried=retried,
        retry_failures=retry_failures or {},
    )
