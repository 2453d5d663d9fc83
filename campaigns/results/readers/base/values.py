"""The contract of a reader: what it returns and raises. Imports no Django and no database."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from msgspec import Struct

from campaigns.kit.mappings import Json
from campaigns.results.readers.base.source import Source

Scalar = str | int | float | bool
Fidelity = Literal["raw", "aggregated", "rounded"]
State = Literal["ok", "failed", "timed_out", "lost"]

UNKNOWN_UNIT = "unknown"
"""The unit of a number without one in the file."""

NOT_SET = "none"
"""The level of a run without a value of a factor that another run has."""


class ReadMetric(Struct, frozen=True):
    """What one number of a run means.

    unit: one of campaigns.kit.units, or as the file names it, or UNKNOWN_UNIT. lower_is_better: None if
    neither direction is better. fidelity: `raw` as measured, `aggregated` from many samples by the tool,
    `rounded` by the tool as well. latency: whether it is the time of one request, or item.
    """

    name: str
    label: str
    unit: str
    lower_is_better: bool | None
    fidelity: Fidelity = "raw"
    latency: bool = False


class ReadRun(Struct, frozen=True):
    """One repetition.

    levels: by factor. values: by metric name; a missing one was not observed. state: `lost` if nothing was
    observed. reason: as text, if the state is not `ok`, or as a remark on the value. started_at,
    finished_at: aware; None if the file does not have them. censored: metrics whose value is a lower limit.
    units_done, units_failed: requests or items.
    """

    levels: Mapping[str, Scalar]
    values: Mapping[str, float]
    state: State = "ok"
    reason: str = ""
    started_at: datetime | None = None
    finished_at: datetime | None = None
    censored: frozenset[str] = frozenset()
    units_done: int = 0
    units_failed: int = 0


@dataclass(frozen=True, slots=True)
class Read:
    """The content of a file.

    name, question: suggestions. factors: levels in order, by name. facts: of the environment, as text.
    info: further information, as text. dropped: sentences on what was left out, and why. work: factors
    whose levels are different tests or requests, which are not compared. roles: of further factors, by name.
    guesses: why a factor is one, where the file does not say so, by name; it has no role until a person states one.
    """

    format: str
    label: str
    name: str
    question: str
    metrics: tuple[ReadMetric, ...]
    primary_metric: str
    factors: Mapping[str, tuple[Scalar, ...]]
    runs: tuple[ReadRun, ...]
    facts: Mapping[str, str]
    info: Mapping[str, str]
    tags: tuple[str, ...]
    dropped: tuple[str, ...]
    work: tuple[str, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict)
    guesses: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Options:
    """What a person says about a file. mapping: of columns, for plain CSV only."""

    filename: str = ""
    mapping: Json = field(default_factory=dict)


class Reader(Protocol):
    """Reads one format. `name` is the module's name, `label` the tool's."""

    name: str
    label: str

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether the first 64 KiB match this format."""

    def read(self, source: Source, options: Options) -> Read:
        """Read a whole file. Raise BadFile, and nothing else."""
