"""Small findings for tests of wording: what a test does not name is plain."""

from typing import Any

from campaigns.findings.values import (
    Best,
    Confirmation,
    LevelComparison,
    LevelGroup,
    LevelRow,
    LevelsFinding,
    Noise,
    Pairs,
    RunsOfCell,
    Stratum,
    SummarisedCell,
    WithinShare,
)
from campaigns.stats.cell_summary import CellSummary
from campaigns.stats.compared import Model
from campaigns.stats.paired import PairedComparison
from campaigns.stats.verdict import Verdict, Word

SECONDS: dict[str, Any] = {
    "metric": "duration",
    "label": "Duration",
    "unit": "s",
    "lower_is_better": True,
}
ONE_SESSION = Confirmation("one_session", "", 1)


def summarised(
    ok: int = 3, failed: int = 0, timed_out: int = 0, flags: Any = (), **counts: Any
) -> SummarisedCell:
    """Return a cell of `ok` runs and `failed` ones, of which some timed out."""
    summary = CellSummary(
        n_total=ok + failed,
        n_ok=ok,
        n_failed=failed,
        n_lost=0,
        n_missing=0,
        n_censored=timed_out,
        n_saturated=0,
        confidence=0.95,
        flags=flags,
    )
    plain: dict[str, Any] = {
        "runs": ok + failed,
        "states": {},
        "lowest_limit": None,
        "highest_limit": None,
        "at_least": None,
        "units": 0,
        "units_failed": 0,
        "too_many_failures": False,
    }
    return SummarisedCell(cell=1, levels={}, summary=summary, counts=RunsOfCell(**plain | counts))


def best_of(cells: list[int], seen: int, upper_pct: list[float], **fields: Any) -> Best:
    """Return the best of cells, by what each may cost at most."""
    plain: dict[str, Any] = {
        "at_edge": False,
        "possibly": [seen],
        "cost_pct": [0.0] * len(cells),
        "smallest_share": 0.0,
        "critical": [2.0] * len(cells),
        "df": 10.0,
        "within": [WithinShare(0.05, None, None)],
    }
    return Best(cells=cells, seen=seen, upper_pct=upper_pct, **plain | fields)


def level_row(word: Word, baseline: int = 1, candidate: int = 2) -> LevelRow:
    """Return a comparison of two cells with this verdict."""
    return LevelRow(
        baseline=baseline,
        candidate=candidate,
        comparison=LevelComparison(verdict=Verdict(word, 3)),
        confirmation=ONE_SESSION,
    )


def level_group(values: list[Any], **fields: Any) -> LevelGroup:
    """Return the levels of one factor, in cells 1, 2, 3 and so on."""
    plain: dict[str, Any] = {
        "cells": list(range(1, len(values) + 1)),
        "levels": {},
        "numeric": True,
        "reading": [None] * len(values),
        "comparisons": [],
        "best": None,
        "best_of_each": [],
        "few": [],
        "knee": None,
    }
    return LevelGroup(values=values, **plain | fields)


def levels_of(*groups: LevelGroup, **fields: Any) -> LevelsFinding:
    """Return a campaign of levels of workers."""
    plain: dict[str, Any] = {
        "factor": "workers",
        "model": Model.BLOCKS,
        "noise": Noise(),
        "sessions": 1,
        "between": False,
        "drift": None,
        "overall": [],
    }
    return LevelsFinding(groups=groups, **SECONDS | plain | fields)


def stratum(word: Word, **levels: Any) -> Stratum:
    """Return the pairs at these levels, with this verdict."""
    name = ", ".join(str(level) for level in levels.values())
    return Stratum(
        name=name,
        levels=levels,
        comparison=PairedComparison(name, 5, 0, 0, Verdict(word, 5)),
        confirmation=ONE_SESSION,
        pairs=[],
    )


def pairs_of(*strata: Stratum, **fields: Any) -> Pairs:
    """Return a paired campaign of engine new against old."""
    plain: dict[str, Any] = {
        "factor": "engine",
        "baseline": "old",
        "candidate": "new",
        "overall": None,
        "sessions": 1,
        "order_effect": None,
    }
    return Pairs(strata=strata, **SECONDS | plain | fields)
