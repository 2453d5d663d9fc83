"""The contract between a kind of test and the rest. Knows no database, no Celery, no clock but its own.

A kind is one module, or one folder, beside this one. Its name is the kind; it holds `driver`, one instance of a
subclass of Driver. Errors that a driver raises on purpose:

  DriverError             what a person can act on; the run ends `failed`, the message is shown
  ├─ TargetUnavailable    the target refuses, hangs or resets before anything could be measured; `void`
  ├─ GeneratorFailed      what generates the load broke, not the target; the run is `void`
  ├─ NotClean             the clean state could not be reached; the run is `void`
  ├─ LevelNotInForce      a level did not take effect on the target; the run is `void`
  └─ AddressRefused       the rules say that workers may not connect there; the run is `void`
  Cancelled               the context's cancel flag was seen; load has stopped

Anything else is a bug: it keeps its traceback and is re-raised.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from django import forms

from campaigns.clients.tls import Tls
from campaigns.network import Rules

Parameters = Mapping[str, Any]
STAND_IN = "stand-in"
"""The fact of `Driver.environment` by which a target that is no real one says what it is instead.

It has to come from the target itself. Whatever was measured there is labelled with its value.
"""


class DriverError(Exception):
    """An expected failure; its message says what, which and what to do."""

    void: ClassVar[bool] = False


class ParametersRefused(DriverError):
    """The target does not take parameters; `refused` holds its sentences by the parameter's name."""

    def __init__(self, message: str, refused: Mapping[str, str]) -> None:
        super().__init__(message)
        self.refused = refused


class TargetUnavailable(DriverError):
    """The target did not answer."""

    void = True


class GeneratorFailed(DriverError):
    """The engine died, or its machine could not keep what came: nothing is known of the target."""

    void = True


class NotClean(DriverError):
    """Something was left of an earlier run, and could not be removed."""

    void = True


class LevelNotInForce(DriverError):
    """The target reads back another value than the one that was applied."""

    void = True


class AddressRefused(DriverError):
    """The rules of where workers may connect exclude the address."""

    void = True


class Cancelled(Exception):
    """Somebody asked for the end, or the lease ran out; nothing loads the target any more."""


@dataclass(frozen=True, slots=True)
class Metric:
    """What is stored of a run as one number. Exactly one metric of a driver is `primary`."""

    name: str
    label: str
    unit: str
    lower_is_better: bool
    primary: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """What a driver may know of the server under test. `password` never appears in repr.

    dedicated: it belongs to perfdash alone, which may delete what nobody claims.
    hardware: the operator's words on what it runs on.
    """

    name: str
    family: str
    base_url: str
    username: str = ""
    password: str = field(default="", repr=False)
    settings: Mapping[str, Any] = field(default_factory=dict)
    tls: Tls = field(default_factory=Tls)
    dedicated: bool = False
    hardware: str = ""


@dataclass(frozen=True, slots=True)
class Proof:
    """A probe with its measured value, compared with what it had to be."""

    name: str
    expected: float | str
    measured: float | str
    unit: str
    ok: bool


REFUSED = "refused: "
"""Begins what stands in place of a level that the target refused; its own words follow."""


@dataclass(frozen=True, slots=True)
class EffectiveSetting:
    """What a level is in force, as read back from the target or the generator.

    why: why it is another one than was asked for, where that is known.
    """

    name: str
    asked: Any
    in_force: Any
    ok: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """Values at equal steps: `values[i]` belongs to [i, i + 1) x `step_seconds` of the clock."""

    name: str
    unit: str
    step_seconds: float
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class Distribution:
    """The samples of one quantity as an encoded HDR histogram (integer microseconds)."""

    name: str
    encoded: bytes
    count: int
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of the measured time, for example first byte, or save.

    started_seconds: since the clock started, where parts overlap; None: they follow one another.
    counted_seconds: since the clock started, when the target first counted anything of the part, where
        the part may have begun before; None: it is known when it began.
    """

    name: str
    seconds: float
    started_seconds: float | None = None
    counted_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Health:
    """How the generator did while it measured. A saturated generator makes the value a bound.

    `verdict` is `healthy`, `warned` or `saturated` (STATISTICS: client saturation).
    """

    verdict: str
    reasons: tuple[str, ...]
    figures: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Measured:
    """What `measure` gives.

    values: by metric name; a metric that is not there was not observed.
    censored: names of metrics whose value is a lower limit ("above"): the run timed out.
    failure: in words, where the run as a whole failed; empty otherwise.
    samples: columns of equal length, one row per sample.
    work: what was done, for `verify` (never stored).
    """

    values: Mapping[str, float]
    health: Health
    samples: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    series: Sequence[Series] = ()
    distributions: Sequence[Distribution] = ()
    phases: Sequence[Phase] = ()
    units_done: int = 0
    units_failed: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    censored: frozenset[str] = frozenset()
    failure: str = ""
    work: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Context:
    """What the keeper lends to a driver for one attempt.

    cancelled: set when the load has to end; `check` raises Cancelled then.
    lease_seconds: how long the lease is still certain, from the keeper's monotonic clock; engine
        programs are told again and again, and end themselves when it runs out.
    progress: takes a small mapping of what is going on; losing it is harmless.
    say: one line for the run's log.
    clock: nanoseconds, monotonic (perf_counter_ns).
    directory: a place of this attempt alone, that the driver makes and empties.
    rules: where connections may go.
    deadline_seconds: the longest that `measure` may take.
    sender: who loads the target, as its owner reads it in the access log (User-Agent).
    most_concurrent: the most requests at a time that the target's owner allows; None: any number.
    most_per_second: the most requests that may begin in any second, redirects included; None: any.
    """

    cancelled: threading.Event
    lease_seconds: Callable[[], float]
    progress: Callable[[Mapping[str, Any]], None]
    say: Callable[[str], None]
    clock: Callable[[], int]
    directory: Path
    rules: Rules
    deadline_seconds: float
    sender: str = "perfdash"
    most_concurrent: int | None = None
    most_per_second: float | None = None

    def check(self) -> None:
        """Raise Cancelled where the cancel flag is set or the lease has run out."""
        if self.cancelled.is_set() or self.lease_seconds() <= 0:
            raise Cancelled


@dataclass(frozen=True, slots=True)
class Preset:
    """Values of parameters to begin with, that go together."""

    name: str
    label: str
    parameters: Mapping[str, str]


class Driver(ABC):
    """One kind of test. Subclass it, declare the class variables, write the four steps."""

    label: ClassVar[str]
    summary: ClassVar[str]
    question: ClassVar[str]
    families: ClassVar[tuple[str, ...]]
    """Kinds of server that it can measure."""
    parameters: ClassVar[type[forms.Form]]
    factors: ClassVar[tuple[str, ...]]
    metrics: ClassVar[tuple[Metric, ...]]
    work: ClassVar[tuple[str, ...]] = ()
    """Parameters that say what work is done: cells that differ in one are not comparable."""
    of_one_family: ClassVar[Mapping[str, str]] = {}
    """The family of servers that alone knows a parameter, by the parameter's name."""
    sample: ClassVar[str] = "sample"
    """What one row of `Measured.samples` is, as people count it: file, sync."""
    rate: ClassVar[tuple[str, str]] = ("throughput", "B/s")
    """What `rate_series` of its progress is: name and unit."""
    executable: ClassVar[bool] = True
    """False where runs only come in from outside (`external`)."""

    @abstractmethod
    def probe(self, target: Target, rules: Rules) -> list[Proof]:
        """Look whether the target answers, within seconds. Raise DriverError where it does not."""

    @abstractmethod
    def reset(self, target: Target, parameters: Parameters, context: Context) -> list[Proof]:
        """Bring the target to its clean state and prove it."""

    @abstractmethod
    def apply(
        self, target: Target, parameters: Parameters, context: Context
    ) -> list[EffectiveSetting]:
        """Set the cell's levels and read them back."""

    @abstractmethod
    def measure(self, target: Target, parameters: Parameters, context: Context) -> Measured:
        """Run the clock; here and nowhere else."""

    @abstractmethod
    def verify(
        self, target: Target, parameters: Parameters, context: Context, measured: Measured
    ) -> list[Proof]:
        """Prove that the work was really done."""

    def urls(self, base_url: str, parameters: Parameters) -> Mapping[str, str]:
        """What a run asks for, by the parameter that says so; all of it has to be on the target.

        A run leases its target's address alone: what it loads elsewhere, another one could load too.
        """
        return {}

    def misfits(
        self, family: str, parameters: Parameters, factors: Mapping[str, Sequence[Any]]
    ) -> Mapping[str, str]:
        """Say what does not fit servers of a family: a sentence by the name of the parameter.

        parameters: those that are fixed; factors: the levels of those that vary.
        """
        return {}

    def presets(self, sandbox_url: str) -> Sequence[Preset]:
        """Offer values to begin with, of things that the sandbox at a URL serves."""
        return ()

    def concurrency(self, parameters: Parameters) -> int | None:
        """Say how many requests at a time the parameters ask for; None where that is not known."""
        return None

    def environment(self, target: Target, context: Context) -> Mapping[str, str]:
        """Facts about the target that must stay the same within a session, by name.

        Asked before and after what is measured. A target that is no real one has a fact STAND_IN.
        """
        return {}

    def clean_up(  # noqa: B027  most kinds leave nothing behind
        self, target: Target, parameters: Parameters, context: Context
    ) -> None:
        """Remove what a run has left; called after every attempt, also a cancelled one."""

    def prepares_at_length(self, parameters: Parameters) -> bool:
        """Say whether `apply` does as much as `measure`, and so gets the time of a whole run, too."""
        return False

    def estimate_seconds(self, parameters: Parameters) -> float:
        """Guess the seconds of one run, for a plan without earlier runs."""
        return 60.0

    @property
    def primary_metric(self) -> Metric:
        """The metric that answers the question unless a campaign names another."""
        return next(metric for metric in self.metrics if metric.primary)
