"""Estimate the run-to-run variation of a kind on a target: from A/A campaigns, else from all so far. Reads only."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, Q

from campaigns.kit.json_path import values_at
from campaigns.models import Campaign, Finding, Target, on_address

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

    latest: the key of the one that ended last, at ended_at. floor_pct, run_sd_log: its noise floor, and the deviation of
    its runs. alarms: the number of comparisons of all campaigns with the verdict better or worse, all of which are false.
    """

    latest: int
    ended_at: datetime
    floor_pct: float
    run_sd_log: float
    comparisons: int
    alarms: int


def calibrations_on(kind: str, metric: str, target: Target | None) -> Calibrations | None:
    """Return the A/A campaigns of a kind and metric on a target; None without any."""
    if target is None:
        return None
    rows = list(
        Finding.objects.filter(
            _on(kind, metric, target), name="calibration", campaign__closed_at__isnull=False
        )
        .order_by("-campaign__closed_at")
        .values_list(
            "campaign",
            F("campaign__closed_at"),
            "result__floor_pct",
            "result__run_sd_log",
            "result__verdicts",
            "result__alarms",
        )
    )
    if not rows:
        return None
    latest, ended_at, floor_pct, run_sd_log, *_ = rows[0]
    return Calibrations(
        latest,
        ended_at,
        floor_pct,
        run_sd_log,
        comparisons=sum(verdicts for *_, verdicts, _alarms in rows),
        alarms=sum(alarms for *_, alarms in rows),
    )


def _on(kind: str, metric: str, target: Target) -> Q:
    """Return the condition on findings of campaigns with this server, alone or among others."""
    campaigns = Campaign.objects.filter(
        on_address(target.address),
        kind=kind,
        primary_metric=metric,
        team=target.team_id,
        state=Campaign.State.FINISHED,
    )
    return Q(campaign__in=campaigns.order_by().values("pk"))


def largest_noise(kind: str, metric: str, targets: Sequence[Target]) -> KnownNoise | None:
    """Return the noise of the target that varies most; None where none is known of any."""
    known = [known_noise(kind, metric, target) for target in targets]
    return max(filter(None, known), key=lambda noise: noise.sd_log, default=None)


def known_noise(kind: str, metric: str, target: Target | None) -> KnownNoise | None:
    """Return the noise of a kind and metric on a target; None without any campaign.

    It is that of the latest A/A campaign, else pooled from the latest campaigns.
    """
    if target is None:
        return None
    calibrated = calibrations_on(kind, metric, target)
    if calibrated is not None and calibrated.run_sd_log:
        return KnownNoise(calibrated.run_sd_log, 1, calibrated.ended_at)
    rows = (
        Finding.objects.filter(_on(kind, metric, target), name__in=["levels", "pairs"])
        .order_by("-computed_at")
        .values_list(
            "result__noise__sd_pct",
            "result__noise__df",
            values_at("result", "$.strata[*].comparison.sd_log"),
            values_at("result", "$.strata[*].comparison.n_pairs"),
        )[:LATEST]
    )
    squares = weight = 0.0
    campaigns = 0
    for sd_pct, df, sds_log, pairs in rows:
        parts = (
            [(math.log1p(sd_pct / 100), df)] if sd_pct is not None else _of_pairs(sds_log, pairs)
        )
        if not parts:
            continue
        campaigns += 1
        squares += sum(df * sd**2 for sd, df in parts)
        weight += sum(df for _, df in parts)
    if not weight or not squares:
        return None
    return KnownNoise(math.sqrt(squares / weight), campaigns)


def _of_pairs(sds_log: list[float | None], pairs: list[int]) -> list[tuple[float, float]]:
    """A ratio of two runs varies sqrt(2) times as much as a run within its block."""
    return [
        (sd_log / math.sqrt(2), n - 1)
        for sd_log, n in zip(sds_log, pairs, strict=True)
        if sd_log is not None and n > 1
    ]
