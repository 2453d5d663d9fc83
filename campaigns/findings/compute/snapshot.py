"""The frozen findings that a conclusion rests on, and whether they have changed since (STATISTICS 0.4)."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from campaigns.findings.store import read, shape_of, values_of
from campaigns.findings.values import BriefCells
from campaigns.models import Campaign, Finding
from campaigns.stats.changes import Change, changed

__all__ = ["Change", "changes", "snapshot"]

RETOLD = ("answer", "outlook", "surroundings", "sensitivity", "density:", "brief:", "failed_parts")
"""Findings that repeat others, plan, or are only drawn: they are not in a snapshot."""


def snapshot(campaign: Campaign) -> dict[str, Any]:
    """Return a campaign's findings as they are stored, for JSON.

    `findings`: result by name, cells without their runs; `data_hash`: empty where nothing was
    analysed yet; `versions`: of methods and libraries; `sessions`: how many the statistics saw.
    """
    stored = list(Finding.objects.filter(campaign=campaign).order_by("name"))
    by_name = {finding.name: finding for finding in stored}
    first = by_name.get("answer")
    return {
        "campaign": campaign.pk,
        "data_hash": first.data_hash if first else "",
        "versions": dict(first.versions) if first else {},
        "computed_at": first.computed_at.isoformat() if first else None,
        "sessions": _sessions(by_name),
        "findings": {
            name: _without_runs(name, by_name)
            for name in by_name
            if not name.startswith(RETOLD) and name != "cells"
        },
    }


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Compare two snapshots of one campaign; empty: the basis of a conclusion is unchanged.

    Another data hash is a change by itself (path `data_hash`) and comes first. Then verdicts,
    confirmations, recommended levels and badges, and numbers beyond their tolerance; path: the finding's
    name, then keys and places in lists, with dots. Versions alone are no change, nor are those of shapes.
    """
    result = []
    if before["data_hash"] != after["data_hash"]:
        result.append(Change("data_hash", before["data_hash"], after["data_hash"]))
    return result + changed(_values(before), _values(after))


def _values(snapshot: Mapping[str, Any]) -> dict[str, Any]:
    """Return the findings of a snapshot in today's shapes."""
    return {
        name: values_of(result, BriefCells if name.startswith("cells:") else shape_of(name))
        for name, result in snapshot["findings"].items()
    }


def _without_runs(name: str, by_name: Mapping[str, Finding]) -> Any:
    brief = by_name.get(f"brief:{name.removeprefix('cells:')}") if ":" in name else None
    return brief.result if name.startswith("cells:") and brief else by_name[name].result


class _Run(Struct):
    session: int
    state: str


class _Cell(Struct):
    runs: Sequence[_Run]


class _OfAnyVersion(Struct):
    """What every version of `pairs` and `levels` (sessions) and of `cells` has."""

    sessions: int = 0
    cells: Sequence[_Cell] = ()


def _sessions(by_name: Mapping[str, Finding]) -> int:
    """Return the number of sessions; findings of other methods are read, too, where their analysis failed."""
    judged = by_name.get("pairs") or by_name.get("levels")
    if judged:
        return read(judged.result, _OfAnyVersion).sessions
    cells = read(by_name["cells"].result, _OfAnyVersion).cells if "cells" in by_name else ()
    return len({run.session for cell in cells for run in cell.runs if run.state == "ok"})
