"""Runs that were made elsewhere, checked, on their way into the database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from campaigns.models import Campaign

Scalar = str | int | float | bool

MOST_RUNS = 20_000
"""Of a campaign: more cannot be judged, or shown, within seconds."""
MOST_VALUES = 100_000
"""Of a request, or a file."""
MOST_METRICS = 1000
"""Of a campaign."""


@dataclass(frozen=True, slots=True)
class SubmittedMetric:
    """A metric as whoever sends it declares it. lower_is_better: None where neither way is."""

    name: str
    label: str
    unit: str
    lower_is_better: bool | None
    fidelity: str = Campaign.Fidelity.RAW


@dataclass(frozen=True, slots=True)
class SubmittedRun:
    """One repetition of one case.

    levels: of every factor, by its name. values: by metric; what is not there was not observed.
    censored: metrics whose value is a lower limit. lost: nothing was observed. block: which runs were made close together; None:
    the n-th run of a cell is in block n. context: facts of its environment. external_id: by which
    whoever sends it knows it.
    """

    levels: Mapping[str, Scalar]
    values: Mapping[str, float]
    censored: frozenset[str] = frozenset()
    failed: bool = False
    lost: bool = False
    reason: str = ""
    started_at: datetime | None = None
    finished_at: datetime | None = None
    units_done: int = 0
    units_failed: int = 0
    block: int | None = None
    external_id: str = ""
    context: Mapping[str, str] = field(default_factory=dict)
    info: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Submitted:
    """What came in at once. definition: the fields of a campaign that whoever sends it may choose.

    factors: levels in the order in which they shall be shown; what is missing comes as it is met.
    work: factors that say what is done, so that their levels are not compared.
    digest: of all of it; `format` and `filename`: of a file.
    """

    runs: Sequence[SubmittedRun]
    metrics: Sequence[SubmittedMetric] = ()
    definition: Mapping[str, Any] = field(default_factory=dict)
    factors: Mapping[str, Sequence[Scalar]] = field(default_factory=dict)
    work: Sequence[str] = ()
    info: Mapping[str, Any] = field(default_factory=dict)
    external_id: str = ""
    digest: str = ""
    format: str = ""
    filename: str = ""
    dropped: Sequence[str] = ()
