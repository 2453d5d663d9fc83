"""What numbers that somebody aggregated or rounded cannot support: it is left off, with the reason."""

from collections.abc import Mapping
from typing import Any

from campaigns.drivers.base import Metric
from campaigns.models import Campaign
from campaigns.stats.rounding import step_of
from campaigns.stats.validity import Check, Outcome

RAW, ROUNDED = "raw", "rounded"


def fidelity_check(campaign: Campaign, metric: Metric, cells: Mapping[str, Any]) -> list[Check]:
    """Say what the numbers are; it fails where they are too coarse for the effect of interest."""
    if metric.fidelity == RAW:
        return []
    if metric.fidelity != ROUNDED:
        return [Check("aggregated", Outcome.WARN)]
    step = 100 * _coarsest(cells)
    too_coarse = step / 100 > campaign.smallest_effect
    outcome = Outcome.FAIL if too_coarse else Outcome.WARN
    wanted = 100 * campaign.smallest_effect
    return [Check("rounded", outcome, step, {"smallest_effect_pct": wanted})]


def without_ranks(finding: dict[str, Any] | None, metric: Metric) -> dict[str, Any] | None:
    """Leave rank tests off where rounding has made the ties that they count."""
    if finding is None or metric.fidelity != ROUNDED:
        return finding
    told: dict[str, Any] = _without(finding)
    return told


def without_densities(finding: dict[str, Any], metric: Metric) -> dict[str, Any]:
    """Leave the density off where a value is not one that was measured: modes are hidden, or made."""
    if metric.fidelity == RAW:
        return finding
    return {**finding, "cells": [{**cell, "density": None} for cell in finding["cells"]]}


def _coarsest(cells: Mapping[str, Any]) -> float:
    """The largest step of a cell, as a share of its mean."""
    shares = [0.0]
    for cell in cells["cells"]:
        mean = cell["summary"]["mean"]
        step = step_of([run["value"] for run in cell["runs"] if run["value"] is not None])
        if mean and step:
            shares.append(step / abs(mean))
    return max(shares)


def _without(found: Any) -> Any:
    if isinstance(found, Mapping):
        off = {"ranks": None, "wilcoxon_p": None}
        return {
            name: off[name] if name in off else _badges(name, _without(value))
            for name, value in found.items()
        }
    if isinstance(found, list | tuple):
        return [_without(each) for each in found]
    return found


def _badges(name: str, value: Any) -> Any:
    """A disagreement with a test that is off is none."""
    if name == "badges" and isinstance(value, list):
        return [badge for badge in value if badge != "tests_disagree"]
    return value
