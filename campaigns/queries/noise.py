"""How much runs of a kind varied on a target so far, as their findings say. Reads only."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from campaigns.models import Campaign, Finding, Target

LATEST = 10


@dataclass(frozen=True, slots=True)
class KnownNoise:
    """sd_log: of a run around its level (within blocks, where there were any), of so many campaigns."""

    sd_log: float
    campaigns: int


def known_noise(kind: str, metric: str, target: Target | None) -> KnownNoise | None:
    """Pool the noise of the latest campaigns of a kind and metric on a target; None without any."""
    if target is None:
        return None
    rows = (
        Finding.objects.filter(
            name__in=["levels", "pairs"],
            campaign__kind=kind,
            campaign__primary_metric=metric,
            campaign__target__address=target.address,
            campaign__state=Campaign.State.FINISHED,
        )
        .order_by("-computed_at")
        .values_list("name", "result")[:LATEST]
    )
    squares = weight = 0.0
    found = 0
    for name, result in rows:
        parts = _of_levels(result) if name == "levels" else _of_pairs(result)
        if not parts:
            continue
        found += 1
        squares += sum(df * sd**2 for sd, df in parts)
        weight += sum(df for _, df in parts)
    if not weight or not squares:
        return None
    return KnownNoise(math.sqrt(squares / weight), found)


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
