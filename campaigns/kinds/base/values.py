"""What a driver receives and returns. Uses neither database nor Celery."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from campaigns.kinds.base.credentials import Credential, none_known
from campaigns.kinds.base.errors import Cancelled, GeneratorFailed
from campaigns.kinds.base.generating import Gather
from campaigns.kinds.programs.program import Outcome, ProgramFailed, run_program
from campaigns.kit import histogram
from campaigns.kit.http.credentials import Tls
from campaigns.kit.mappings import (
    Json,
    Levels,
    ProgramProgress,
    ProgramRequest,
    Settings,
)
from campaigns.kit.network import Rules
from campaigns.kit.ssh.access import SshAccess


def driver_levels(levels: Levels) -> Levels:
    """Return the levels of a cell without the blind label and the target, which no driver may know."""
    return {name: level for name, level in levels.items() if name not in (BLIND_LABEL, TARGET)}


BLIND_LABEL, BLIND_LEVELS = "blind_label", ("A", "B")
"""The factor of an A/A campaign, which is hidden from drivers, and its levels."""

TARGET = "target"
"""The factor of a campaign with several targets; its levels are their names."""

SIMULATOR = "simulated target"
"""The fact that only a simulated target has: its value says which simulator it is."""
"""The fact of `Driver.environment` that names a simulated target.

The target itself has to report it. Everything measured there is labelled with its value.
"""


@dataclass(frozen=True, slots=True)
class Metric:
    """A number that is stored of each run. Exactly one metric of a driver is `primary`.

    directed: False where neither direction is better; `lower_is_better` has no meaning then. fidelity:
    raw, aggregated or rounded; always raw for a driver. percentile: the share, where the metric is a
    percentile of a run's samples, which needs enough of them. of_survivors: the metric is computed from
    successes only, so a cell with too many failures has none.
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
        """Whether lower is better; None where neither direction is."""
        return self.lower_is_better if self.directed else None


@dataclass(frozen=True, slots=True)
class Served:
    """The metrics that tell who got answers in a closed loop.

    served: how many got at least one. response: the mean response time of those who did. end_to_end: the number at
    a time ÷ throughput, which is the time if all take turns; both in the same unit.
    """

    served: str
    response: str
    end_to_end: str


@dataclass(frozen=True, slots=True)
class ClosedLoop:
    """A fixed number of requests in flight, for which throughput follows a scalability law.

    parameter: how many requests. throughput: the metric of completions per second. response: the
    distribution of the times of these requests. series: the throughput over the run, which shows
    whether it was steady. served: who got answers; None where all do or fail.
    """

    parameter: str
    throughput: str
    response: str
    series: str
    served: Served | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """The server under test, as a driver sees it. `password` never appears in repr.

    dedicated: perfdash alone uses it, and may delete orphaned content.
    hardware: the operator's description of what it runs on.
    wanted: the settings that perfdash has put in force for this run, by name.
    ssh: how commands reach its machine; None where nobody has said so.
    installation: the identifier of this perfdash, for `naming`.
    unproved: the names of the proofs that failed when it was probed last.
    token: of a credential, sent in place of user and password. signs_in: each request is to be signed in by what a credential has.
    content_url: where a Pulp serves its content, if that is another port than that of its API.
    credential_of: returns a credential of its team by name, for the URLs that it will be sent to; raises CredentialRefused.
    """

    name: str
    family: str
    base_url: str
    username: str = ""
    password: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    signs_in: bool = False
    settings: Settings = field(default_factory=dict)
    tls: Tls = field(default_factory=Tls)
    dedicated: bool = False
    hardware: str = ""
    wanted: Settings = field(default_factory=dict)
    ssh: SshAccess | None = None
    installation: str = ""
    unproved: tuple[str, ...] = ()
    content_url: str = ""
    credential_of: Callable[[str, Sequence[str]], Credential] = field(
        default=none_known, repr=False, compare=False
    )


@dataclass(frozen=True, slots=True)
class Subject:
    """A part of a target with its version, by which a history is ordered. scheme: one of `kit.versions`.

    fact: the name of the fact that told it, which is then no part of the environment.
    """

    name: str
    version: str
    scheme: str
    fact: str


@dataclass(frozen=True, slots=True)
class Proof:
    """A measured value, compared with the expected one."""

    name: str
    expected: float | str
    measured: float | str
    unit: str
    ok: bool


REFUSED = "refused: "
"""Prefix of what is stored in place of a level that the target refused; its message follows."""


@dataclass(frozen=True, slots=True)
class EffectiveSetting:
    """A level that was requested (`asked`), and the one in force as read back.

    why: the reason of a difference, where it is known.
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

    @classmethod
    def of(
        cls, name: str, times_us: Sequence[int], counts: Sequence[int] | None = None
    ) -> "Distribution":
        """Return the distribution of times in microseconds. counts: how often each is there; by default once."""
        code = histogram.encode(times_us) if counts is None else histogram.encode(times_us, counts)
        return cls(name, code.encoded, code.count, code.dropped)


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of the measured time, for example first byte, or save.

    started_seconds: since the clock started, where parts overlap; None: they follow one another.
    counted_seconds: since the clock started, the first time that the target counted anything of the
        part, where the part may have begun before; None: its beginning is known.
    """

    name: str
    seconds: float
    started_seconds: float | None = None
    counted_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Health:
    """The state of the generator during the run. A saturated or starved generator makes the value a bound.

    `verdict` is `healthy`, `warned`, `starved` or `saturated` (STATISTICS: client saturation).
    """

    verdict: str
    reasons: tuple[str, ...]
    figures: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Output:
    """What a program printed, or a file that it wrote, to be stored with the run. cut: its end is missing."""

    name: str
    content: bytes
    cut: bool = False


@dataclass(frozen=True, slots=True)
class FoundMetric:
    """A metric in the output of another tool. value: the mean of `count` values."""

    name: str
    label: str
    unit: str
    lower_is_better: bool | None
    value: float
    count: int = 1


@dataclass(frozen=True, slots=True)
class Found:
    """What a reader found in the output of one run. failure: why that run counts as failed; empty where it does not."""

    metrics: Sequence[FoundMetric]
    primary: str
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """The result of `measure`.

    values: by metric name; a metric that is missing was not observed.
    examples: the first message of a class of failures, where samples do not tell it.
    censored: names of metrics whose value is a lower limit ("above"): the run timed out.
    failure: a message where the run as a whole failed; empty otherwise.
    samples: columns of equal length, one row per sample.
    work: what was done, for `verify` (never stored).
    pauses: why the campaign pauses after this run; empty where it goes on.
    outputs: of a program that is not perfdash's own, to be downloaded from the run.
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
    examples: Mapping[str, str] = field(default_factory=dict)
    censored: frozenset[str] = frozenset()
    failure: str = ""
    work: Json = field(default_factory=dict)
    pauses: str = ""
    outputs: Sequence[Output] = ()


class HostIdentity(NamedTuple):
    """A host that is registered at a target: its consumer uuid, its certificate and key, both PEM, and its name."""

    uuid: str
    certificate: str
    key: str
    name: str = ""

    def __repr__(self) -> str:
        return f"HostIdentity({self.uuid!r})"


@dataclass(frozen=True, slots=True)
class Context:
    """What a driver may use during one attempt.

    cancelled: set when the load has to end; `check` raises Cancelled then.
    lease_seconds: how long the lease is still certain, by the keeper's monotonic clock; engine programs
        receive it regularly, and end themselves when it runs out.
    progress: takes a small mapping that describes the progress; losing it is harmless.
    say: adds a line to the run's log.
    clock: nanoseconds, monotonic (perf_counter_ns).
    directory: of this attempt alone; the driver creates and empties it.
    rules: which addresses may be connected to.
    deadline_seconds: the longest that `measure` may take.
    sender: the User-Agent, by which the target's owner recognises the load in the access log.
    most_concurrent: the most requests at a time that the target's owner allows; None: any number.
    most_per_second: the most requests that may begin in any second, redirects included; None: any.
    gather: runs several generators, for `generate`; None where that is not possible.
    most_failed: the share of units above which failures end the run at once (`cut_short`); None: they never do.
    ask_health: asks the target whether it is healthy, and returns why it is not; raises DriverError without an answer.
    read: reads the output of another tool, of a named format, with a mapping of its columns if it is CSV; raises BadFile.
    secrets: of the kind, by name, decrypted.
    hosts_of: returns the first so many hosts of a population of the target, by the population's number; raises DriverError.
    """

    cancelled: threading.Event
    lease_seconds: Callable[[], float]
    progress: Callable[[ProgramProgress], None]
    say: Callable[[str], None]
    clock: Callable[[], int]
    directory: Path
    rules: Rules
    deadline_seconds: float
    sender: str = "perfdash"
    most_concurrent: int | None = None
    most_per_second: float | None = None
    gather: Gather | None = None
    most_failed: float | None = None
    ask_health: Callable[[], str] | None = None
    read: Callable[[str, bytes, Json], Found] | None = None
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    hosts_of: Callable[[int, int], Sequence[HostIdentity]] | None = None

    def generate(
        self, module: str, requests: Sequence[ProgramRequest], deadline_seconds: float
    ) -> Outcome:
        """Run a load program once for each request (`parts_of`), all from the same instant, and merge the outcomes.

        One request runs in a program on this machine. Several go to the workers of `generator_pools`:
        their results are added, their samples are appended with a column `generator` (1, 2, ...).
        deadline_seconds: the longest that a program may take, preparation included.

        Raise Cancelled, or GeneratorFailed where a generator did not start, or broke.
        """
        if len(requests) > 1:
            if self.gather is None:
                raise GeneratorFailed("Several generators cannot be asked for from here.")
            return self.gather(module, requests, deadline_seconds, self.progress, self.cancelled)
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
    """Values and distributions recomputed from the stored samples of a run, as far as they allow.

    values: by metric; times_us: the times of each distribution in microseconds, by its name.
    """

    values: Mapping[str, float]
    times_us: Mapping[str, Sequence[int]]
    units_done: int | None = None


@dataclass(frozen=True, slots=True)
class Preset:
    """Initial values of parameters that fit together; factors: the levels of those that vary.

    configurations: named sets of the target's settings, which are levels, too. values: of other fields of the design, as a
    definition has them; question and name only fill what is empty. group: the heading below which the form shows it; presets of
    one group stand together.
    """

    name: str
    label: str
    parameters: Mapping[str, str]
    factors: Mapping[str, Sequence[str]] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    configurations: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    group: str = ""

    @property
    def names(self) -> set[str]:
        """The parameters and settings that it fills in."""
        chosen = {name for each in self.configurations.values() for name in each}
        return {*self.parameters, *self.factors, *chosen}
