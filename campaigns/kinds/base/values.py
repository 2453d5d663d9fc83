"""What a driver is given, and what it gives. Knows no database, no Celery, no clock but its own."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from campaigns.kinds.base.errors import Cancelled, GeneratorFailed
from campaigns.kinds.base.generating import Gather
from campaigns.kinds.programs.program import Outcome, ProgramFailed, run_program
from campaigns.kit.http.credentials import Tls
from campaigns.kit.network import Rules


def driver_levels(levels: Mapping[str, Any]) -> dict[str, Any]:
    """Return the levels of a cell that a driver may know: a blind label stays with perfdash."""
    return {name: level for name, level in levels.items() if name != BLIND_LABEL}


BLIND_LABEL, BLIND_LEVELS = "blind_label", ("A", "B")
"""The factor of an A/A campaign, which no driver is told; and its levels."""

Parameters = Mapping[str, Any]
STAND_IN = "stand-in"
"""The fact of `Driver.environment` by which a target that is no real one says what it is instead.

It has to come from the target itself. Whatever was measured there is labelled with its value.
"""


@dataclass(frozen=True, slots=True)
class Metric:
    """What is stored of a run as one number. Exactly one metric of a driver is `primary`.

    directed: False where neither way is better; `lower_is_better` says nothing then. fidelity: raw,
    aggregated or rounded; of a driver always raw. percentile: its share, of one over the samples of a
    run, which takes a number of them. of_survivors: it is made of what came through alone, so a cell
    in which too much failed has none.
    """

    name: str
    label: str
    unit: str
    lower_is_better: bool
    primary: bool = False
    directed: bool = True
    fidelity: str = "raw"
    percentile: float | None = None
    of_survivors: bool = False

    @property
    def direction(self) -> bool | None:
        """Return whether lower is better; None where neither way is."""
        return self.lower_is_better if self.directed else None


@dataclass(frozen=True, slots=True)
class ClosedLoop:
    """Where a kind keeps a fixed number of requests in flight, so that throughput has a law.

    parameter: that says how many. throughput: a metric of completions per second. response: the
    distribution of the times of the same requests. series: what was carried over the run, by which
    it is seen whether it was steady.
    """

    parameter: str
    throughput: str
    response: str
    series: str


@dataclass(frozen=True, slots=True)
class Target:
    """What a driver may know of the server under test. `password` never appears in repr.

    dedicated: it belongs to perfdash alone, which may delete what nobody claims.
    hardware: the operator's words on what it runs on.
    wanted: its settings that perfdash has put in force for this run, by name.
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
    wanted: Mapping[str, Any] = field(default_factory=dict)


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
    gather: runs several generators, for `generate`; None where there is nobody to do so.
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
    gather: Gather | None = None

    def generate(
        self, module: str, requests: Sequence[Mapping[str, Any]], deadline_seconds: float
    ) -> Outcome:
        """Run a load program once for each request (`parts_of`), all from one instant on; merge what they say.

        One request runs in a program of this machine. Several go to the workers of `generator_pools`:
        results are added, samples stand one below the other with a column `generator` (1, 2, ...).
        deadline_seconds: the longest that a program may take, preparation included.

        Raise Cancelled, or GeneratorFailed where one did not come, or broke.
        """
        if len(requests) > 1:
            if self.gather is None:
                raise GeneratorFailed("Several generators cannot be asked for from here.")
            return self.gather(module, requests, deadline_seconds, self.progress)
        try:
            outcome = run_program(
                module,
                requests[0],
                cancelled=self.cancelled,
                lease_seconds=self.lease_seconds,
                deadline_seconds=deadline_seconds,
                progress=self.progress,
            )
        except ProgramFailed as error:
            raise GeneratorFailed(str(error)) from error
        if outcome.cancelled:
            raise Cancelled
        return outcome

    def check(self) -> None:
        """Raise Cancelled where the cancel flag is set or the lease has run out."""
        if self.cancelled.is_set() or self.lease_seconds() <= 0:
            raise Cancelled


@dataclass(frozen=True, slots=True)
class Recomputed:
    """What the stored samples of a run give once more; what they do not give is not in it.

    values: by metric; times_us: by distribution, what it was made of, in microseconds.
    """

    values: Mapping[str, float]
    times_us: Mapping[str, Sequence[int]]
    units_done: int | None = None


@dataclass(frozen=True, slots=True)
class Preset:
    """Values of parameters to begin with, that go together; factors: levels of those that vary."""

    name: str
    label: str
    parameters: Mapping[str, str]
    factors: Mapping[str, Sequence[str]] = field(default_factory=dict)
