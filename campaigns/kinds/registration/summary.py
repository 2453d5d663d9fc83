"""Compute the values of a run from the rows of its hosts. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from campaigns.kinds.programs.health import percentile
from campaigns.kinds.registration.form import ARRIVALS, hosts_of
from campaigns.kinds.registration.program.profiles import CONSUMER, PROFILES, Part, Profile
from campaigns.kinds.registration.program.sequence import columns_of
from campaigns.kit import histogram
from campaigns.kit.mappings import Parameters, ProgramResult

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
"""With fewer hosts, the middle of the completions has no meaning."""
TIMED_OUT = "timeout"
GONE = (404, 410)
Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Registrations:
    """The hosts of a run: the rows of those that ended, and how many there should be.

    retried: numbers of the hosts that registered in the retry phase. offered_rate: arrivals per second of an open loop; None: there is none.
    """

    hosts: int
    profile: Profile
    columns: Columns
    result: ProgramResult
    limit_seconds: float
    retried: frozenset[int] = frozenset()
    offered_rate: float | None = None

    @property
    def not_begun(self) -> int:
        """How many arrivals found as many hosts at work as there may be; they are none of `hosts`."""
        return int(self.result.get("not_begun", 0))

    @property
    def passed(self) -> list[int]:
        """The rows of hosts that registered at their first try."""
        return [row for row, failure in enumerate(self._column("failure")) if not failure]

    @property
    def failed(self) -> int:
        """How many hosts did not, those that never began before the time limit included."""
        return self.hosts - len(self.passed)

    @property
    def failed_numbers(self) -> list[int]:
        """The numbers of hosts that may try again."""
        came = {self._column("number")[row] for row in self.passed}
        if self.offered_rate is not None:
            return [number for number in self._column("number") if number not in came]
        return [number for number in range(self.hosts) if number not in came]

    def failures(self) -> dict[str, int]:
        """Count the failures by class; a host without a row has timed out."""
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
        if self.offered_rate is not None:
            values["offered_rate"] = self.offered_rate
            values["not_begun"] = float(self.not_begun)
            values["at_a_time"] = max(self.at_a_time(), default=0.0)
        starts = self._column("start_us")
        if starts:
            values["start_spread"] = (max(starts) - min(starts)) / 1e6
        return values

    def censored(self) -> frozenset[str]:
        """Return the percentiles that are lower limits, as hosts timed out there."""
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
        """Return each percentile for which there are enough hosts, and whether it is only a lower limit.

        A host that timed out would have taken longer than its timeout: it ranks above all others.
        """
        times = sorted(self._of("total_us"))
        waited = [
            self._column("total_us")[row]
            for row, failure in enumerate(self._column("failure"))
            if failure == TIMED_OUT
        ]
        late = self.failures().get(TIMED_OUT, 0)
        count = len(times) + late
        percentiles: dict[str, tuple[float, bool]] = {}
        if not times:
            return percentiles
        for name, share in PERCENTILES.items():
            if histogram.needs(count, share):
                continue
            rank = max(1, int(count * share + 0.5))
            if rank <= len(times):
                percentiles[name] = times[rank - 1] / 1e6, False
            else:
                least = min(waited) / 1e6 if waited else self.limit_seconds
                percentiles[name] = least, True
        return percentiles

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
        """Return the mean seconds of each step of successful hosts; their sum is a registration."""
        passed = len(self.passed)
        means = {}
        for name in columns_of(self.profile):
            times = self._of(f"{name}_us")
            if times and passed:
                means[name] = sum(times) / passed / 1e6
        return means

    def times_us(self) -> dict[str, list[int]]:
        """Return the times of successful hosts in microseconds: of the registration, and of each step."""
        return {"registration_time": self._of("total_us")} | {
            name: times for name in columns_of(self.profile) if (times := self._of(f"{name}_us"))
        }

    def connections(self) -> dict[str, bytes]:
        """Return the encoded histograms of the times to connect: `connect`, and `tls`."""
        coded = self.result.get("histograms") or {}
        return {name: coded[name].encode("ascii") for name in ("connect", "tls") if name in coded}

    def figures(self) -> dict[str, float]:
        """Return the figures by which the generator is judged, and the cost of the hosts' identities."""
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

    def at_a_time(self) -> list[float]:
        """Return the most hosts that were at work at one instant of each second."""
        changes = []
        for start, intended, total in zip(
            self._column("start_us"),
            self._column("intended_us"),
            self._column("total_us"),
            strict=True,
        ):
            changes += [(start, 1), (max(start, intended + total), -1)]
        most: list[float] = []
        now = 0
        for at, change in sorted(changes):
            second = int(at // 1_000_000)
            while len(most) <= second:
                most.append(float(now))
            now += change
            most[second] = max(most[second], float(now))
        return most

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

    def refused_as_gone(self) -> dict[str, str]:
        """Return the hosts for which the server said, after it had made them, that they are not there: messages by uuid."""
        return {
            uuid: words
            for uuid, status, step, words in zip(
                self._column("uuid"),
                self._column("status"),
                self._column("failed_at"),
                self._column("words"),
                strict=True,
            )
            if uuid and status in GONE and step in self._own_steps
        }

    @property
    def _own_steps(self) -> set[str]:
        """The steps that ask for the host itself."""
        return {step.name for step in self.profile.steps if "{uuid}" in step.path}

    def first_message(self) -> str:
        """Return the first error message."""
        messages = [text for text in self._column("words") if text]
        examples = self.result.get("examples") or {}
        return messages[0] if messages else next(iter(examples.values()), "no reason is known")

    def examples(self) -> dict[str, str]:
        """Return the first error message of each class of failure."""
        examples: dict[str, str] = {}
        for failure, message in zip(self._column("failure"), self._column("words"), strict=True):
            if failure and message:
                examples.setdefault(failure, message)
        return examples

    def sent(self) -> str:
        """Return how many requests each successful host sent on how many connections, and what it left out."""
        counts = Counter(
            (self._column("steps")[row], self._column("connections")[row]) for row in self.passed
        )
        shown = [
            f"{steps} on {connections} connections{f' ({hosts} hosts)' if len(counts) > 1 else ''}"
            for (steps, connections), hosts in sorted(counts.items())
        ]
        out = [step.name for step in self.profile.steps if not self._of(f"{step.name}_us")]
        left = f"; left out: {', '.join(out)}" if out and shown else ""
        return f"{', '.join(shown)}{left}" or "no host registered"

    def samples(self) -> dict[str, Sequence[Any]]:
        """Return the columns of the samples, with a row for each host; None for steps that it did not reach."""
        columns: dict[str, Sequence[Any]] = {
            "host": self._column("name"),
            "start_seconds": [value / 1e6 for value in self._column("start_us")],
            "total_seconds": [value / 1e6 for value in self._column("total_us")],
        }
        columns |= {
            f"{name}_seconds": [
                None if value is None else value / 1e6 for value in self._column(f"{name}_us")
            ]
            for name in columns_of(self.profile)
        }
        columns |= {
            "status": self._column("status"),
            "failed_at": self._column("failed_at"),
            "eventual": [self._outcome(row) for row in range(len(self._column("failure")))],
            "failure": self._column("failure"),
            "words": self._column("words"),
            "uuid": self._column("uuid"),
        }
        if generators := self.columns.get("generator"):
            columns["generator"] = generators
        return columns

    def _outcome(self, row: int) -> str:
        if not self._column("failure")[row]:
            return "first try"
        return "retry" if self._column("number")[row] in self.retried else "failed"

    def _of(self, name: str) -> list[int]:
        """Return the values of a column for successful hosts, without those that are None."""
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
    parameters: Parameters,
    columns: Columns,
    result: ProgramResult,
    limit_seconds: float,
    retried: frozenset[int] = frozenset(),
) -> Registrations:
    """Return the hosts of a run from what its programs have reported."""
    is_open = parameters.get("start") == ARRIVALS
    return Registrations(
        hosts=hosts_of(parameters) - int(result.get("not_begun", 0)),
        offered_rate=float(parameters["rate"]) if is_open else None,
        profile=PROFILES[parameters["profile"]],
        columns=columns,
        result=result,
        limit_seconds=limit_seconds,
        retried=retried,
    )


def unanswered_seconds(columns: Columns) -> float:
    """Return how long the longest host that gave up without an answer had waited; 0 without any."""
    waited = (
        total / 1e6
        for total, status, failure in zip(
            columns.get("total_us", ()),
            columns.get("status", ()),
            columns.get("failure", ()),
            strict=True,
        )
        if failure and not status
    )
    return max(waited, default=0.0)
