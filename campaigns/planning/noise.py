"""Estimate the run-to-run variation of a kind on a target: from A/A campaigns, else from all so far. Reads only."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from campaigns.models import Campaign, Finding, Target

LATEST = 10


@dataclass(frozen=True, slots=True)
class KnownNoise:
    """Run-to-run variation. sd_log: of a run around its level (within blocks, if any); campaigns: their number.

    calibrated_at: the end of the A/A campaign that it comes from; None where it comes from others.
    """

    sd_log: float
    campaigns: int
    calibrated_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Calibrations:
    """The A/A campaigns of a kind and metric on a target.

    latest: the one that ended last, at ended_at. alarms: the number of their comparisons with the verdict
    better or worse, all of which are false.
    """

    latest: Campaign
    ended_at: datetime
    result: Mapping[str, Any]
    comparisons: int
    alarms: int


def calibrations_on(kind: str, metric: str, target: Target | None) -> Calibrations | None:
    """Return the A/A campaigns of a kind and metric on a target; None without any."""
    if target is None:
        return None
    rows = list(
        Finding.objects.filter(name="calibration", **_on(kind, metric, target))
        .select_related("campaign")
        .order_by("-campaign__closed_at")
    )
    ended = [row for row in rows if row.campaign.closed_at is not None]
    if not ended:
        return None
    latest = ended[0]
    return Calibrations(
        latest=latest.campaign,
        ended_at=latest.campaign.closed_at or latest.computed_at,
        result=latest.result,
        comparisons=sum(row.result["verdicts"] for row in ended),
        alarms=sum(row.result["alarms"] for row in ended),
    )


def _on(kind: str, metric: str, target: Target) -> dict[str, Any]:
    return {
        "campaign__kind": kind,
        "campaign__primary_metric": metric,
        "campaign__target__address": target.address,
        "campaign__team": target.team_id,
        "campaign__state": Campaign.State.FINISHED,
    }


def known_noise(kind: str, metric: str, target: Target | None) -> KnownNoise | None:
    """Return the noise of a kind and metric on a target; None without any campaign.

    It is that of the latest A/A campaign, else pooled from the latest campaigns.
    """
    if target is None:
        return None
    calibrated = calibrations_on(kind, metric, target)
    if calibrated is not None and calibrated.result["run_sd_log"]:
        return KnownNoise(calibrated.result["run_sd_log"], 1, calibrated.ended_at)
    rows = (
        Finding.objects.filter(name__in=["levels", "pairs"], **_on(kind, metric, target))
        .order_by("-computed_at")
        .values_list("name", "result")[:LATEST]
    )
    squares = weight = 0.0
    campaigns = 0
    for name, result in rows:
        parts = _of_levels(result) if name == "levels" else _of_pairs(result)
        if not parts:
            continue
        campaigns += 1
        squares += sum(df * sd**2 for sd, df in parts)
        weight += sum(df for _, df in parts)
    if not weight or not squares:
        return None
    return KnownNoise(math.sqrt(squares / weight), campaigns)


def _of_levels(result: Mapping[str, Any]) -> list[tuple[float, float]]:
    noise = result["noise"]
    return [(math.log1p(noise["sd_pct"] / 100), noise["df"])] if noise else []


def _of_pairs(result: Mapping[str, Any]) -> list[tuple[float, float]]:
    """A ratio of two runs varies sqrt(2) times as much as a run within its block."""
    comparisons = [stratum["comparison"] for stratum in result["strata"]]
    return [
        (comparison["sd_log"] / math.sqrt(2), comparison["n_pairs"] - 1)
        for comparison in comparisons
        if comparison["sd_log"] is not None and comparison["n_pairs"] > 1
    ]
