"""Judge shares, such as an availability, by their difference in percentage points, not by a ratio.

99.99 % against 99.90 % is a ratio of 0.999, and ten times the failures; and 0 % and 100 % are values like others. The statistics work on
logarithms. Of a share they get exp(share), whose logarithm is the share: contrasts, noise and bounds are differences of shares then. What a
finding has in percent is converted here to percentage points, and what it has in the unit of the metric back to shares.

A margin of a share is in points, too, and is asked for: that of the design counts where it is not the default, which was meant for ratios.
Without one no share is called equivalent.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass, replace
from typing import Any, TypeVar

import numpy as np
from msgspec import Struct, structs

from campaigns.findings.values import Matrix, MatrixCell, PairOfRuns, Pairs, Stratum
from campaigns.kit.units import UNITS, is_share
from campaigns.models import Campaign
from campaigns.results.values import ObservedRun
from campaigns.stats.criteria import Criteria
from campaigns.stats.interval import Interval

Found = TypeVar("Found")
LARGEST = 300.0
"""A larger value is no share; its exponential is still a number."""
NO_MARGIN = 1e-12
LEVELS = ("levels", "at", "setting")
PERCENT_INTERVALS = ("average_ci", "geometric_ci", "fixed_ci", "sample_ci")
WITHOUT_MEANING = ("ratio", "knee", "shift", "hodges_lehmann", "bca_ci_pct")
"""What a finding of a difference has none of."""


def judged_runs(unit: str, runs: Sequence[ObservedRun]) -> Sequence[ObservedRun]:
    """Return runs with the values that the statistics judge: those of a share as exp(share), others as they are."""
    if not is_share(unit):
        return runs
    factor = UNITS[unit].factor
    return [
        run if run.value is None else replace(run, value=_judged(run.value * factor))
        for run in runs
    ]


def judged_criteria(unit: str, campaign: Campaign, criteria: Criteria) -> Criteria:
    """Return the criteria of verdicts: of a share the margin and the smallest effect are differences."""
    if not is_share(unit):
        return criteria
    stated = campaign.margin != Campaign._meta.get_field("margin").default
    return replace(
        criteria,
        margin=math.expm1(criteria.margin) if stated else NO_MARGIN,
        delta=math.expm1(criteria.delta),
    )


def in_points(unit: str, found: Found) -> Found:
    """Return a finding of judged runs with percentage points in the place of percent; of another metric the finding itself."""
    if not is_share(unit) or found is None:
        return found
    result: Found = _converted(found, "", UNITS[unit].factor)
    if isinstance(result, Pairs):
        return structs.replace(result, strata=[_with_means(each) for each in result.strata])
    return result


def _judged(share: float) -> float:
    return math.exp(share) if abs(share) < LARGEST else math.inf


def _converted(value: Any, name: str, factor: float) -> Any:
    if isinstance(value, float):
        if "pct" in name or name in PERCENT_INTERVALS:
            return 100 * math.log1p(max(value / 100, -1 + 1e-15))
        return math.log(value) / factor if name == "reading" else value
    if isinstance(value, Interval):
        return Interval(*(_converted(bound, name, factor) for bound in value))
    if isinstance(value, Matrix):
        return _matrix(value)
    if isinstance(value, PairOfRuns):
        return _pair(value, factor)
    if isinstance(value, Struct):
        return structs.replace(value, **_fields(value, value.__struct_fields__, factor))
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **_fields(value, value.__dataclass_fields__, factor))
    if isinstance(value, Mapping) and name not in LEVELS:
        return {
            key: _converted(each, key if isinstance(key, str) else name, factor)
            for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return type(value)(_converted(each, name, factor) for each in value)
    return value


def _fields(value: Any, names: Any, factor: float) -> dict[str, Any]:
    return {
        name: None if name in WITHOUT_MEANING else _converted(getattr(value, name), name, factor)
        for name in names
    }


def _matrix(matrix: Matrix) -> Matrix:
    """Return improvements in points. Less is an improvement where lower is better, so there it is 1 - ratio."""
    sign = -1 if matrix.lower_is_better else 1

    def points(improvement: float) -> float:
        return sign * 100 * math.log1p(max(sign * improvement / 100, -1 + 1e-15))

    def cell(each: MatrixCell) -> MatrixCell:
        if each.improvement_pct is None:
            return each
        bounds = each.ci_pct and Interval(*map(points, each.ci_pct))
        return structs.replace(each, improvement_pct=points(each.improvement_pct), ci_pct=bounds)

    factors = {
        name: structs.replace(
            factor,
            rows=[
                structs.replace(row, cells=[cell(each) for each in row.cells])
                for row in factor.rows
            ],
        )
        for name, factor in matrix.factors.items()
    }
    margins = {
        name: 100 * math.log1p(getattr(matrix, name) / 100) for name in ("margin_pct", "delta_pct")
    }
    return structs.replace(matrix, factors=factors, **margins)


def _pair(pair: PairOfRuns, factor: float) -> PairOfRuns:
    baseline, candidate = (
        None if value is None else math.log(value) / factor
        for value in (pair.baseline, pair.candidate)
    )
    change = _converted(pair.change_pct, "change_pct", factor)
    return structs.replace(pair, baseline=baseline, candidate=candidate, change_pct=change)


def _with_means(stratum: Stratum) -> Stratum:
    """Return pairs with means and deviations of the shares."""
    sides = [
        [value for pair in stratum.pairs if (value := getattr(pair, side)) is not None]
        for side in ("baseline", "candidate")
    ]
    if not all(len(values) > 1 for values in sides) or stratum.comparison.mean_baseline is None:
        return stratum
    (baseline, candidate), (baseline_sd, candidate_sd) = (
        [float(np.mean(values)) for values in sides],
        [float(np.std(values, ddof=1)) for values in sides],
    )
    comparison = replace(
        stratum.comparison,
        mean_baseline=baseline,
        mean_candidate=candidate,
        sd_baseline=baseline_sd,
        sd_candidate=candidate_sd,
    )
    return structs.replace(stratum, comparison=comparison)
