"""Data of the pages of one campaign: its outline, findings and facts."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

from django.db.models import Count, Max, Min, Q, QuerySet

from campaigns.kinds.base import Metric
from campaigns.kinds.base.values import BLIND_LABEL
from campaigns.kit.charts.labels import FactorOutline, contrast_label
from campaigns.kit.mappings import JsonObject
from campaigns.models import Attempt, Campaign, EffectiveSetting, Finding, Run, Session
from campaigns.planning.configurations import CONFIGURATION
from campaigns.planning.configurations import text_of as text_of_set
from campaigns.planning.criterion import text_of
from campaigns.planning.metrics import driver_if_known, metric_of, metrics_of
from campaigns.planning.outline import factors_of, labels_of
from campaigns.results.environment import (
    Change,
    ObservedFact,
    changes_of,
    environment_of,
    unread_after,
)
from campaigns.stats import units

MOST = 100
"""The number of sentences and of notes that are shown; a campaign may have ten thousand submissions."""

NAME = "surroundings"
"""Columns of the finding."""


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
    criterion: str = ""


@dataclass(frozen=True, slots=True)
class SettingSeen:
    """A requested level, the level that was read back, and the number of runs."""

    name: str
    asked: Any
    in_force: Any
    ok: bool
    runs: units.Count


def outline_of(campaign: Campaign) -> Outline:
    """Return how a campaign is built; labels are missing for a kind that is no longer installed."""
    driver = driver_if_known(campaign.kind)
    counts = campaign.runs.aggregate(
        measured=Count("pk", filter=Q(purpose=Run.Purpose.MEASURED)),
        warm_ups=Count("pk", filter=Q(purpose=Run.Purpose.WARM_UP)),
    )
    metrics = metrics_of(campaign)
    labels = labels_of(campaign, driver, campaign.parameters)
    factors = factors_of(campaign)
    return Outline(
        kind=driver.label if driver else campaign.kind,
        executable=driver is not None and driver.executable and campaign.target_id is not None,
        factors=factors,
        parameters=(
            *((labels[name], value) for name, value in campaign.parameters.items()),
            *(
                (f"Configuration {level}", text_of_set(campaign.configurations[level]))
                for factor in factors
                if campaign.configurations and factor.name == CONFIGURATION
                for level in factor.levels
            ),
        ),
        metrics=metrics,
        metric=metric_of(campaign, campaign.primary_metric),
        cells=campaign.cells.count(),
        runs=counts["measured"],
        warm_ups=counts["warm_ups"],
        sessions=campaign.sessions.exclude(kind=Session.Kind.TRIAL).count(),
        contrast=_contrast(campaign, factors),
        criterion=text_of(campaign.criterion, metrics),
    )


def _contrast(campaign: Campaign, factors: Sequence[FactorOutline]) -> str:
    if campaign.paired_factor == BLIND_LABEL:
        return ""
    if campaign.primary_contrast or campaign.order != Campaign.Order.PAIRED:
        return (
            contrast_label(campaign.primary_contrast, factors) if campaign.primary_contrast else ""
        )
    levels = next((f.levels for f in factors if f.name == campaign.paired_factor), ())
    candidate = next((level for level in levels if level != campaign.baseline), None)
    pair: JsonObject = {"factor": campaign.paired_factor, "candidate": candidate, "at": {}}
    return contrast_label(pair | {"baseline": campaign.baseline}, factors)


def span_of(campaign: Campaign) -> tuple[datetime | None, datetime | None]:
    """Return when the first run of a campaign began, and when the last one ended."""
    runs = campaign.runs.exclude(purpose=Run.Purpose.TRIAL)
    found = runs.aggregate(first=Min("started_at"), last=Max("finished_at"))
    return found["first"], found["last"]


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

    facts: tuple[ObservedFact, ...]
    changes: tuple[Change, ...]
    unread: units.Count
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


def surroundings_of(campaign: Campaign, stored: Surroundings | None) -> Surroundings:
    """Return the stored ones where no run can have been added since, else compute them."""
    if stored is None or campaign.state in Campaign.ACTIVE or campaign.analysis_requested_at:
        return count_surroundings(campaign)
    return stored
