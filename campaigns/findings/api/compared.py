"""A comparison as JSON, in the shape of `ComparisonOutput`."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rest_framework.request import Request
from rest_framework.reverse import reverse

from campaigns.findings.compute.comparability import Cell, Differs
from campaigns.findings.compute.compared import Against, Compared, Row
from campaigns.findings.compute.compared_answer import answer_of

Positions = Mapping[int, int]
"""Positions of cells by their keys."""


def comparison_as_json(
    compared: Compared, positions: Positions, request: Request
) -> dict[str, Any]:
    """Return all that the page shows, with exact numbers."""
    first, answer = compared.measured[0], answer_of(compared)
    return {
        "sentence": answer["sentence"],
        "caveat": answer["caveat"],
        "metric": first.name,
        "unit": first.unit,
        "lower_is_better": first.direction,
        "confidence": 1 - compared.criteria.alpha,
        "smallest_effect_percent": 100 * compared.criteria.delta,
        "margin_percent": 100 * compared.criteria.margin,
        "campaigns": [
            {
                "id": each.side.campaign.pk,
                "name": name,
                "url": reverse("api-campaign", [each.side.campaign.pk], request=request),
                "stand_in": list(each.side.stand_ins),
            }
            for each, name in zip(compared.measured, compared.names.campaigns, strict=True)
        ],
        "candidates": [_candidate(compared, each) for each in compared.against],
        "comparisons": [_row(compared, each, positions) for each in compared.rows],
        "left_out": compared.left_out,
        "differences": [asdict(each) for each in compared.differences],
        "data_hash": compared.data_hash,
    }


def _candidate(compared: Compared, against: Against) -> dict[str, Any]:
    over = against.over
    return {
        "campaign": compared.measured[against.side].side.campaign.pk,
        "refused": _differing(against.refused),
        "factors_apart": _differing(against.apart),
        "only_here": list(against.only_here),
        "only_in_baseline": list(against.only_there),
        "overall": over
        and {
            "cells": over.cells,
            "change_percent": _finite(over.geometric_pct),
            **_bounds(over.ci_pct),
            "smallest_percent": _finite(over.low_pct),
            "largest_percent": _finite(over.high_pct),
            "sample_low_percent": _bounds(over.sample_ci_pct)["low_percent"],
            "sample_high_percent": _bounds(over.sample_ci_pct)["high_percent"],
        },
    }


def _row(compared: Compared, row: Row, positions: Positions) -> dict[str, Any]:
    comparison, verdict = row.comparison, row.comparison.verdict
    return {
        "baseline": _cell(compared, 0, row.baseline, row.means[0], positions),
        "candidate": _cell(compared, row.side, row.candidate, row.means[1], positions),
        "verdict": verdict.word.value,
        "word": row.display.word,
        "reason": verdict.reason,
        "badges": list(verdict.badges),
        "change_percent": _finite(verdict.pct_change),
        **_bounds(verdict.ci_pct),
        "p": _finite(verdict.p),
        "p_holm": _finite(verdict.p_adjusted),
        "p_ranks": _finite(comparison.ranks.p if comparison.ranks else None),
        "model": comparison.model.value,
        "n": verdict.n,
        "df": _finite(comparison.df),
        "standing": row.confirmation,
        "advice": row.advice,
        "refused": _differing(row.fields),
        "settings": _differing(row.settings),
    }


def _cell(
    compared: Compared, side: int, cell: Cell, mean: float | None, positions: Positions
) -> dict[str, Any]:
    measured = compared.measured[side]
    runs = measured.cell_runs[cell["cell"]]
    return {
        "campaign": measured.side.campaign.pk,
        "position": positions.get(cell["cell"]),
        "levels": cell["levels"],
        "mean": _finite(mean),
        "unit": measured.unit,
        "runs": len(runs.values),
        "failed": runs.failed,
    }


def _differing(fields: Sequence[Differs]) -> list[dict[str, str]]:
    return [asdict(each) for each in fields]


def _bounds(interval: Sequence[float] | None) -> dict[str, float | None]:
    low, high = interval or (None, None)
    return {"low_percent": _finite(low), "high_percent": _finite(high)}


def _finite(number: float | None) -> float | None:
    """Return None for infinity, which JSON does not have."""
    return number if number is not None and math.isfinite(number) else None
