"""Data of the pages of one campaign: its outline, findings and facts."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet

from campaigns.kinds.base import Metric
from campaigns.kinds.base.values import BLIND_LABEL
from campaigns.kit.charts.labels import contrast_label
from campaigns.models import Attempt, Campaign, EffectiveSetting, Finding, Run, Session
from campaigns.planning.metrics import driver_if_known, metric_of, metrics_of
from campaigns.planning.outline import FactorOutline, _label, factors_of
from campaigns.results.environment import Change, Fact, changes_of, environment_of, unread_after
from campaigns.stats.methods import METHODS

MOST = 100
"""The number of sentences and of notes that are shown; a campaign may have ten thousand submissions."""

NAME = "surroundings"
"""Columns of the finding."""


class _Stored(NamedTuple):
    """The columns that are read of a finding."""

    name: str
    result: Mapping[str, Any]
    computed_at: datetime
    data_hash: str


@dataclass(frozen=True, slots=True)
class Outline:
    """How a campaign is built. `metrics`: those of its kind; `metric`: the primary one.

    parameters: label and value of each fixed parameter. contrast: the primary one as text, of pairs by
    their nature; empty without one.
    """

    kind: str
    executable: bool
    factors: tuple[FactorOutline, ...]
    parameters: tuple[tuple[str, Any], ...]
    metrics: tuple[Metric, ...]
    metric: Metric
    cells: int
    runs: int
    warm_ups: int
    sessions: int
    contrast: str


class LateResults(Mapping[str, Mapping[str, Any]]):
    """Results by name, each read at its first use: some hold megabytes that few pages show."""

    def __init__(self, keys: Mapping[str, int]) -> None:
        self._keys = keys
        self._read: dict[str, Mapping[str, Any]] = {}

    def __getitem__(self, name: str) -> Mapping[str, Any]:
        if name not in self._read:
            results = Finding.objects.values_list("result", flat=True)
            self._read[name] = results.get(pk=self._keys[name])
        return self._read[name]

    def __contains__(self, name: object) -> bool:
        return name in self._keys

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


@dataclass(frozen=True, slots=True)
class Findings:
    """The stored findings of a campaign; None where nothing is stored yet.

    `cells` belongs to one metric; `metrics` names all that have cells, the primary one first.

    charts: data that only charts show, by name: density and drift of the metric, phases, usl, changes
    within_blocks, and percentiles:NAME of each quantity that has histograms.
    """

    cells: Mapping[str, Any] | None
    pairs: Mapping[str, Any] | None
    levels: Mapping[str, Any] | None
    checks: Mapping[str, Any] | None
    with_excluded: Mapping[str, Any] | None
    outlook: Mapping[str, Any] | None
    calibration: Mapping[str, Any] | None
    matrix: Mapping[str, Any] | None
    surroundings: Mapping[str, Any] | None
    sessions: Mapping[str, Any] | None
    sensitivity: Mapping[str, Any] | None
    answer: Mapping[str, Any] | None
    failed_parts: Mapping[str, Any] | None
    charts: Mapping[str, Mapping[str, Any]]
    metrics: tuple[str, ...]
    computed_at: datetime | None
    data_hash: str


@dataclass(frozen=True, slots=True)
class SettingSeen:
    """A requested level, the level that was read back, and the number of runs."""

    name: str
    asked: Any
    in_force: Any
    ok: bool
    runs: int


def outline_of(campaign: Campaign) -> Outline:
    """Return how a campaign is built; labels are missing for a kind that is no longer installed."""
    driver = driver_if_known(campaign.kind)
    counts = campaign.runs.aggregate(
        measured=Count("pk", filter=Q(purpose=Run.Purpose.MEASURED)),
        warm_ups=Count("pk", filter=Q(purpose=Run.Purpose.WARM_UP)),
    )
    return Outline(
        kind=driver.label if driver else campaign.kind,
        executable=driver is not None and driver.executable and campaign.target_id is not None,
        factors=(factors := factors_of(campaign)),
        parameters=tuple(
            (_label(driver, name), value) for name, value in campaign.parameters.items()
        ),
        metrics=metrics_of(campaign),
        metric=metric_of(campaign, campaign.primary_metric),
        cells=campaign.cells.count(),
        runs=counts["measured"],
        warm_ups=counts["warm_ups"],
        sessions=campaign.sessions.exclude(kind=Session.Kind.TRIAL).count(),
        contrast=_contrast(campaign, factors),
    )


def _contrast(campaign: Campaign, factors: Sequence[FactorOutline]) -> str:
    if campaign.paired_factor == BLIND_LABEL:
        return ""
    if campaign.primary_contrast or campaign.order != Campaign.Order.PAIRED:
        return contrast_label(campaign.primary_contrast) if campaign.primary_contrast else ""
    levels = next((f.levels for f in factors if f.name == campaign.paired_factor), ())
    candidate = next((level for level in levels if level != campaign.baseline), None)
    pair: dict[str, Any] = {"factor": campaign.paired_factor, "candidate": candidate, "at": {}}
    return contrast_label(pair | {"baseline": campaign.baseline})


def findings_of(campaign: Campaign, metric: str, *, brief: bool = False) -> Findings:
    """Return the findings of a campaign, with the cells of `metric`, or else of the primary one.

    brief: cells have the `values` of their runs instead of `runs`: for ten thousand runs these are
    megabytes.

    Findings of other versions of the methods are left out, since they are being computed again.
    """
    current = campaign.findings.filter(versions__methods=METHODS)
    keys = dict(current.order_by("name").values_list("name", "pk"))
    others = [name for name in keys if name.startswith("cells:")]
    cells = f"cells:{metric}" if f"cells:{metric}" in others else "cells"
    shown = metric if cells != "cells" else campaign.primary_metric
    of_metric = {f"{name}:{shown}": name for name in ("density", "drift")}
    wanted = ["answer", "pairs", "levels", "checks", "with_excluded", "outlook", "matrix"]
    wanted += ["calibration", "surroundings", "sessions", "sensitivity", Finding.FAILED_PARTS]
    read = f"brief:{shown}" if brief else cells
    reported = current.filter(name__in=[*wanted, read])
    rows = [_Stored(*row) for row in reported.values_list(*_Stored._fields)]
    results = {row.name: row.result for row in rows}
    late = ("phases", "usl", "within_blocks", *of_metric)
    latest = max(rows, key=lambda row: row.computed_at, default=None)
    return Findings(
        cells=results.get(read),
        pairs=results.get("pairs"),
        levels=results.get("levels"),
        checks=results.get("checks"),
        with_excluded=results.get("with_excluded"),
        outlook=results.get("outlook"),
        calibration=results.get("calibration"),
        matrix=results.get("matrix"),
        surroundings=results.get("surroundings"),
        sessions=results.get("sessions"),
        sensitivity=results.get("sensitivity"),
        answer=results.get("answer"),
        failed_parts=results.get(Finding.FAILED_PARTS),
        charts=LateResults(
            {
                of_metric.get(name, name): pk
                for name, pk in keys.items()
                if name in late or name.startswith("percentiles:")
            }
        ),
        metrics=tuple(
            dict.fromkeys(
                [campaign.primary_metric, *sorted(name.removeprefix("cells:") for name in others)]
            )
        ),
        computed_at=latest.computed_at if latest else None,
        data_hash=latest.data_hash if latest else "",
    )


def shown_findings(campaign: Campaign) -> QuerySet[Finding]:
    """Return the findings that may be shown: none that judges while a campaign is active."""
    result = campaign.findings.all()
    return result.exclude(name__in=Finding.JUDGING) if campaign.withheld else result


def settings_of(campaign: Campaign) -> list[SettingSeen]:
    """Return requested levels and those that were read back, over all attempts."""
    # To leave out doubles costs a sort of all settings: only where a run was tried again.
    again = Attempt.objects.filter(run__campaign=campaign, number__gt=1).exists()
    rows = (
        EffectiveSetting.objects.filter(attempt__run__campaign=campaign)
        .values("name", "asked", "in_force", "ok")
        .annotate(runs=Count("attempt__run", distinct=again))
        .order_by("name", "asked", "in_force")
    )
    return [SettingSeen(**row) for row in rows]


@dataclass(frozen=True, slots=True)
class ImportNotes:
    """Sentences on what an import left out, and its further information: names with their values as text."""

    left_out: tuple[str, ...] = ()
    info: tuple[tuple[str, str], ...] = ()


def import_notes(campaign: Campaign) -> ImportNotes:
    """Return this of the first submissions of a campaign; nothing where perfdash measured its runs."""
    if not campaign.source:
        return ImportNotes()
    result = campaign.submissions.order_by("pk").values_list("dropped", "info")[:MOST]
    rows = list(result)
    notes = dict.fromkeys((name, _text(value)) for _, info in rows for name, value in info.items())
    left_out = dict.fromkeys(chain.from_iterable(dropped for dropped, _ in rows))
    return ImportNotes(tuple(left_out)[:MOST], tuple(notes)[:MOST])


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Facts and their changes. unread: runs after which the facts were not read again."""

    facts: tuple[Fact, ...]
    changes: tuple[Change, ...]
    unread: int
    settings: tuple[SettingSeen, ...]


def count_surroundings(campaign: Campaign) -> Surroundings:
    """Compute them now: a tenth of a second with ten thousand runs."""
    facts = environment_of(campaign)
    return Surroundings(
        facts=tuple(facts),
        changes=tuple(changes_of(campaign, facts)),
        unread=unread_after(campaign),
        settings=tuple(settings_of(campaign)),
    )


def surroundings_of(campaign: Campaign, stored: Mapping[str, Any] | None) -> Surroundings:
    """Return the stored ones where no run can have been added since, else compute them."""
    if stored is None or campaign.state in Campaign.ACTIVE or campaign.analysis_requested_at:
        return count_surroundings(campaign)
    return Surroundings(
        facts=tuple(Fact(**each) for each in stored["facts"]),
        changes=tuple(Change(**each) for each in stored["changes"]),
        unread=stored["unread"],
        settings=tuple(SettingSeen(**each) for each in stored["settings"]),
    )
