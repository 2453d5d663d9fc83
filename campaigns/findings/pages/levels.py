"""The levels of a result: their addresses, and on which of them each part stands."""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

ANSWER, EVIDENCE, TRUST, RUNS, SETTINGS = "answer", "evidence", "trust", "runs", "settings"
LABELS = {
    ANSWER: "Answer",
    EVIDENCE: "Evidence",
    TRUST: "Trust",
    RUNS: "Runs",
    SETTINGS: "Settings",
}
"""In the order of the tabs, and of the printed document."""
PRINT = "print"
"""Not a level: all of them as one document."""

PARTS = {
    "panel-capacity": ANSWER,
    "h-chart-capacity": ANSWER,
    "h-cells": EVIDENCE,
    "h-capacity": EVIDENCE,
    "h-thresholds": EVIDENCE,
    "h-strata": EVIDENCE,
    "h-heat": EVIDENCE,
    "h-calibration": EVIDENCE,
    "resources": EVIDENCE,
    "h-resources": EVIDENCE,
    "h-caveats": TRUST,
    "h-checks": TRUST,
    "h-sensitivity": TRUST,
    "h-excluded": TRUST,
    "h-targets": TRUST,
    "h-runs": RUNS,
    "runs": RUNS,
    "runs-panel": RUNS,
    "h-environment": SETTINGS,
    "h-amendments": SETTINGS,
}
"""The level of each part by its id; those of panels and of steps are known by the beginning of theirs."""
OF_EVIDENCE = ("panel-", "h-chart-", "h-steps-")
MAIN_CHART = ("curve", "h-curve")
"""Of the answer; beside a chart of capacity it stands among the evidence."""

VIEW = ("metric", "x", "colour", "by")
"""Parameters that mean the same on each level."""
OF_QUERY = {
    EVIDENCE: ("open", "cells"),
    RUNS: ("q", "state", "page", "sort"),
}
"""Parameters by which addresses of before the levels named a part."""
OLD_LINK = re.compile(
    r"(?P<page>[^?#]*/campaigns/(?P<campaign>\d+)/)(?P<query>\?[^#]*)?#(?P<part>.+)"
)


@dataclass(frozen=True, slots=True)
class Tab:
    """A link to a level."""

    label: str
    address: str
    current: bool


def address_of(campaign: int, level: str, part: str = "") -> str:
    """Return the address of a level of a campaign. part: the id of what is meant on it."""
    name = "campaign" if level == ANSWER else f"campaign-{level}"
    return f"{reverse(name, args=[campaign])}{f'#{part}' if part else ''}"


def level_of_part(part: str) -> str:
    """Return the level of a part by its id; the answer's where it is unknown."""
    return PARTS.get(part) or (EVIDENCE if part.startswith(OF_EVIDENCE) else ANSWER)


def address_of_part(campaign: int, part: str) -> str:
    """Return the address of a part of the result by its id."""
    return address_of(campaign, level_of_part(part), part)


def moved_parts(campaign: int) -> str:
    """Return the addresses of the levels of parts, by their ids or the beginning of these, as JSON for tab.js."""
    levels = {**PARTS, **dict.fromkeys((*OF_EVIDENCE, *MAIN_CHART), EVIDENCE)}
    return json.dumps(
        {part: address_of(campaign, level) for part, level in levels.items() if level != ANSWER}
    )


def level_of_query(query: Collection[str]) -> str:
    """Return the level that an address of before the levels meant, by the names in its query."""
    for level, names in OF_QUERY.items():
        if any(name in query for name in names):
            return level
    return ANSWER


def current_link(link: str) -> str:
    """Return a link to a part of a result as it is today; snapshots of conclusions keep those of before the levels."""
    old = OLD_LINK.fullmatch(link)
    if old is None:
        return link
    level = level_of_part(old["part"])
    below = "" if level == ANSWER else f"{level}/"
    return f"{old['page']}{below}{old['query'] or ''}#{old['part']}"


def tabs_of(
    campaign: int, current: str, query: Mapping[str, str], *, is_open: bool = False, runs: int = 0
) -> list[Tab]:
    """Return the tabs, which keep the metric and the axes. is_open: the first one is the page of what runs."""
    kept = {name: query[name] for name in VIEW if name in query}
    tabs = [Tab("Running", reverse("campaign", args=[campaign]), False)] if is_open else []
    for level, label in LABELS.items():
        named = kept
        if is_open and level == ANSWER:
            label, named = "Results so far", {"view": "results", **kept}
        if level == RUNS and runs:
            label = f"{label} ({runs})"
        text = f"?{urlencode(named)}" if named else ""
        tabs.append(Tab(label, f"{address_of(campaign, level)}{text}", level == current))
    return tabs
