"""Leave out what aggregated or rounded numbers cannot support, with the reason."""

import dataclasses

from msgspec.structs import replace

from campaigns.findings.values import Cells, Densities
from campaigns.kinds.base import Metric
from campaigns.kit.units import UNITS
from campaigns.stats.criteria import Criteria
from campaigns.stats.rounding import is_too_coarse, step_shares
from campaigns.stats.validity import Check, Outcome
from campaigns.stats.verdict import Verdict

RAW, ROUNDED = "raw", "rounded"


def is_exact(unit: str) -> bool:
    """Return whether values are counted, so that equal ones are equal and whole ones are not rounded."""
    dimension = UNITS[unit].dimension if unit in UNITS else ""
    return dimension == "size" or dimension.startswith("count")


def fidelity_check(metric: Metric, cells: Cells, criteria: Criteria) -> list[Check]:
    """Return the check of aggregated or rounded values; it fails where they cannot show the smallest effect of interest."""
    if metric.fidelity not in (RAW, ROUNDED):
        return [Check("aggregated", Outcome.WARN)]
    step = 0.0 if is_exact(metric.unit) else max(_steps(cells), default=0.0)
    too_coarse = is_too_coarse(step, criteria)
    if metric.fidelity == RAW and not too_coarse:
        return []
    outcome = Outcome.FAIL if too_coarse else Outcome.WARN
    figures = {
        "smallest_effect_pct": 100 * criteria.delta,
        "declared": float(metric.fidelity == ROUNDED),
    }
    return [Check("rounded", outcome, 100 * step, figures)]


def has_ranks(metric: Metric) -> bool:
    """Return whether rank tests mean anything: rounding makes the ties that they count."""
    return metric.fidelity != ROUNDED


def without_ranks(verdict: Verdict) -> Verdict:
    """Omit the badge of a disagreement with a rank test that is omitted."""
    badges = tuple(badge for badge in verdict.badges if badge != "tests_disagree")
    return dataclasses.replace(verdict, badges=badges)


def without_densities(finding: Densities, metric: Metric) -> Densities:
    """Omit the density of values that were not measured singly: modes are hidden, or artificial."""
    if metric.fidelity == RAW:
        return finding
    return replace(finding, cells=[replace(cell, density=None) for cell in finding.cells])


def _steps(cells: Cells) -> list[float]:
    """Return the step in which values are written, as a share of each cell's mean."""
    return step_shares(
        [run.value for run in cell.runs if run.value is not None] for cell in cells.cells
    )
