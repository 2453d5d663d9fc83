"""What the page of a result is written from: answer, chart, cells, runs, environment."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest

from campaigns.models import Campaign
from campaigns.queries.environment import (
    changes_of,
    environment_of,
    stand_ins_of,
    unread_after,
)
from campaigns.queries.pages import (
    FactorOutline,
    Findings,
    Outline,
    amendments_of,
    findings_of,
    metric_of,
    settings_of,
)
from campaigns.queries.rows import RunRow, chosen, run_rows
from campaigns.templatetags.marks import RUNS
from campaigns.web.changes import changed_facts
from campaigns.web.check_lines import check_lines
from campaigns.web.fields import Choice, Field
from campaigns.web.level_tables import LevelTables, excluded_table, level_tables
from campaigns.web.limits import limits_of, stopped_of
from campaigns.web.phrases import (
    MISSING,
    Levels,
    level_text,
    percent,
    place,
    reason_of,
    value_text,
)
from campaigns.web.plots import Plot, drift_plot, labelled, levels_plot, pairs_plot
from campaigns.web.tables import cell_table, strata_table

PAGE_SIZE = 100
MOST_CHOICES = 500
MOST_FAILURES = 6
EXTENDABLE = (Campaign.State.RUNNING, Campaign.State.PAUSED, Campaign.State.FINISHED)
STATES = ("done", "bound", "failed", "censored", "void", "cancelled", "excluded", "planned")
NO_PLAIN_VALUE = ("failed", "censored", "bound", "void")
WITHOUT_VALUE = "without"
"""What the filter of runs calls all of these together, warm-ups aside."""


NO_VERDICT_YET = {"word": "no verdict yet", "tone": "thin", "icon": "clock", "form": "open"}


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run as the table writes it. `states`: under what the filter finds it."""

    row: RunRow
    levels: tuple[tuple[str, str], ...]
    value: str
    from_mean: str
    place: str
    notes: str
    states: str


def context(request: HttpRequest, campaign: Campaign, outline: Outline) -> dict[str, Any]:
    """Everything, for the metric and axis that the address chooses."""
    words = Levels(outline.factors)
    findings = findings_of(campaign, request.GET.get("metric", ""))
    metric = _chosen_metric(request, campaign, findings)
    axis = _axis(request, outline)
    primary = metric == campaign.primary_metric
    rows = run_rows(campaign, metric)
    without = _without_value(rows)
    is_open = campaign.state in Campaign.ACTIVE
    pairs = findings.pairs if primary else None
    if pairs and is_open:
        pairs = _undecided(pairs)
    facts = environment_of(campaign)
    stand_ins = stand_ins_of(campaign)
    compared = findings.levels if primary and not is_open else None
    plot = _plot(findings, words, axis, pairs=pairs, compared=compared)
    drift = drift_plot(findings.cells, words) if findings.cells else None
    return {
        "campaign": campaign,
        "outline": outline,
        "findings": findings,
        "answer": findings.answer if primary and not is_open else None,
        "metric": metric_of(campaign, metric),
        "primary": primary,
        "choices": _choices(campaign, outline, findings, metric, axis),
        "stand_ins": stand_ins,
        "plot": labelled(plot, stand_ins) if plot else None,
        "strata": strata_table(pairs, words) if pairs else None,
        "levels": _levels(findings, words) if primary and not is_open else None,
        "excluded": excluded_table(findings.with_excluded, words)
        if primary and not is_open and findings.with_excluded
        else None,
        "checks": check_lines(findings.checks) if primary and findings.checks else None,
        "cells": cell_table(findings.cells, words) if findings.cells else None,
        "drift": labelled(drift, stand_ins) if drift else None,
        "failures": [_line(row, words, {}) for row in without[:MOST_FAILURES]],
        "more_failures": max(0, len(without) - MOST_FAILURES),
        "told": _told(without),
        "table": _runs(request, rows, words, findings),
        "facts": facts,
        "changes": changed_facts(changes_of(campaign, facts)),
        "unread": unread_after(campaign),
        "settings": [
            (seen, level_text(seen.asked), level_text(seen.in_force))
            for seen in settings_of(campaign)
        ],
        "parameters": [(label, level_text(value)) for label, value in outline.parameters],
        "factors": [(f, [level_text(level) for level in f.levels]) for f in outline.factors],
        "stopped": stopped_of(campaign),
        "limits": limits_of(campaign) if outline.executable else "",
        "amendments": amendments_of(campaign),
        "is_open": is_open,
        "awaited": campaign.analysis_requested_at is not None and not is_open,
        "cancelled": f"Cancelled: {campaign.state_reason}. What had been measured stands below.",
        "can_extend": outline.executable and campaign.state in EXTENDABLE,
    }


def _levels(findings: Findings, words: Levels) -> LevelTables | None:
    """Comparisons of levels; none before the stop rule says so, as for pairs."""
    if not findings.levels or not findings.cells:
        return None
    return level_tables(findings.levels, findings.cells, words)


def _undecided(pairs: Mapping[str, Any]) -> dict[str, Any]:
    """Leave the numbers, take the words: nobody judges before the stop rule says so."""
    strata = [{**each, "display": NO_VERDICT_YET, "advice": ""} for each in pairs["strata"]]
    return {**pairs, "strata": strata}


def _without_value(rows: Sequence[RunRow]) -> list[RunRow]:
    """Measured runs that gave no plain value; warm-ups enter no number anyway."""
    return [row for row in rows if row.state in NO_PLAIN_VALUE and not row.is_warm_up]


def _told(rows: Sequence[RunRow]) -> list[str]:
    """How many runs gave no plain value, by state."""
    counts = Counter(row.state for row in rows)
    return [f"{counts[state]} {RUNS[state][0]}" for state in NO_PLAIN_VALUE if counts[state]]


def _chosen_metric(request: HttpRequest, campaign: Campaign, findings: Findings) -> str:
    wanted = request.GET.get("metric", "")
    return wanted if wanted in findings.metrics else campaign.primary_metric


def _axis(request: HttpRequest, outline: Outline) -> FactorOutline | None:
    """The factor on the x axis: the one that was asked for, else the first one of numbers."""
    wanted = request.GET.get("x", "")
    by_name = {factor.name: factor for factor in outline.factors}
    if wanted in by_name:
        return by_name[wanted]
    several = [factor for factor in outline.factors if len(factor.levels) > 1]
    numeric = [factor for factor in several if factor.numeric]
    return next(iter([*numeric, *several, *outline.factors]), None)


def _plot(
    findings: Findings,
    words: Levels,
    axis: FactorOutline | None,
    *,
    pairs: Mapping[str, Any] | None,
    compared: Mapping[str, Any] | None,
) -> Plot | None:
    if pairs:
        return pairs_plot(pairs, words)
    return levels_plot(findings.cells, words, axis, compared) if findings.cells else None


def _choices(
    campaign: Campaign,
    outline: Outline,
    findings: Findings,
    metric: str,
    axis: FactorOutline | None,
) -> list[Field]:
    """Selectors of metric and axis, where there is something to choose."""
    labels = {known.name: known.label for known in outline.metrics}
    fields = []
    if len(findings.metrics) > 1:
        options = [
            Choice(name, labels.get(name, name.replace("_", " ")), chosen=name == metric)
            for name in findings.metrics
        ]
        fields.append(Field("metric", "Metric", metric, "select", choices=options))
    forest = campaign.paired_factor and metric == campaign.primary_metric and findings.pairs
    if len(outline.factors) > 1 and not forest:
        options = [
            Choice(factor.name, factor.label, chosen=factor == axis) for factor in outline.factors
        ]
        fields.append(
            Field("x", "Factor on the axis", axis.name if axis else "", "select", choices=options)
        )
    return fields


def _runs(
    request: HttpRequest, rows: Sequence[RunRow], words: Levels, findings: Findings
) -> dict[str, Any]:
    """One page of the runs that fit the filter, with the filter itself."""
    text = request.GET.get("q", "").replace("\x00", "")[:200]
    state = request.GET.get("state", "")
    found = (
        chosen(_without_value(rows), text, "")
        if state == WITHOUT_VALUE
        else chosen(rows, text, state)
    )
    page = Paginator(found, PAGE_SIZE).get_page(request.GET.get("page"))
    means = {
        cell["cell"]: cell["summary"]["gmean"]
        for cell in (findings.cells["cells"] if findings.cells else ())
    }
    kept = {name: request.GET[name] for name in ("metric", "x", "view") if name in request.GET}
    return {
        "lines": [_line(row, words, means) for row in page],
        "page": page,
        "text": text,
        "state": state,
        "states": [
            (name, RUNS[name][0]) for name in STATES if any(row.state == name for row in rows)
        ]
        + ([(WITHOUT_VALUE, "without a plain value")] if _without_value(rows) else []),
        "in_all": len(rows),
        "found": len(found),
        "whole": len(rows) <= PAGE_SIZE and not text and not state,
        "kept": kept,
        "query": urlencode({**kept, "q": text, "state": state}),
        "without": urlencode({**kept, "state": WITHOUT_VALUE}),
        "heads": [factor.label for factor in words.factors],
    }


def _line(row: RunRow, words: Levels, means: dict[int, float | None]) -> RunLine:
    mean = means.get(row.cell)
    plain = row.measured is not None and row.state in ("done", "bound", "excluded")
    change = (
        percent(100 * (row.measured.value / mean - 1))
        if row.measured is not None and plain and mean
        else MISSING
    )
    return RunLine(
        row=row,
        levels=words.one_each(row.levels),
        value=value_text(row.measured),
        from_mean=change,
        place=place(row),
        notes=reason_of(row),
        states=f"{row.state} {WITHOUT_VALUE}" if _without_value([row]) else row.state,
    )
