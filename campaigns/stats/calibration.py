"""Estimate a target's noise from pairs of identical runs (A/A). Pure. STATISTICS 8.5."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from campaigns.stats.interval import Interval
from campaigns.stats.log_means import NO_NOISE
from campaigns.stats.logs import pct_of
from campaigns.stats.power import detectable_pct
from campaigns.stats.units import Count, Percent
from campaigns.stats.validity import aa_noise

PAIRS_SHOWN = (3, 5, 10)


@dataclass(frozen=True, slots=True)
class Detectable:
    """The smallest change that a number of pairs detects in 4 of 5 campaigns."""

    pairs: Count
    pct: Percent


@dataclass(frozen=True, slots=True)
class Calibration:
    """The noise of n pairs of one setting with itself.

    sd_log: of the log ratios, with its chi-square interval; run_sd_log: of a run within its pair.
    seen_pct: 95th percentile of |%| of these pairs; of few pairs the largest are missing. floor_pct:
    19 of 20 further pairs differ by no more, t(n) times the root mean square. mean_pct, mean_p: of the
    two labels, which differ by chance alone.
    """

    n: int
    sd_log: float
    sd_log_ci: Interval
    run_sd_log: float
    seen_pct: float
    floor_pct: float
    mean_pct: float
    mean_p: float
    detectable: tuple[Detectable, ...]


def calibrate(log_ratios: Sequence[float], *, alpha: float = 0.05) -> Calibration | None:
    """Measure the noise by the log ratios of identical runs; None with fewer than two."""
    result = aa_noise(log_ratios)
    if result.value is None:
        return None
    n, sd = len(log_ratios), result.figures["sd"]
    sd = sd if sd >= NO_NOISE else 0.0
    bounds = (
        math.sqrt((n - 1) / float(scipy.stats.chi2.ppf(share, n - 1)))
        for share in (1 - alpha / 2, alpha / 2)
    )
    return Calibration(
        n=n,
        sd_log=sd,
        sd_log_ci=Interval(*(sd * bound for bound in bounds)),
        run_sd_log=sd / math.sqrt(2),
        seen_pct=result.value,
        floor_pct=_floor_pct(log_ratios),
        mean_pct=pct_of(float(np.mean(log_ratios))),
        mean_p=result.figures["mean_p"],
        detectable=tuple(
            Detectable(pairs, detectable_pct(pairs, sd, alpha=alpha)) for pairs in PAIRS_SHOWN
        ),
    )


def _floor_pct(log_ratios: Sequence[float]) -> float:
    """Return the bound that one more pair stays within, with 95 %: its mean is known to be zero."""
    n = len(log_ratios)
    spread = math.sqrt(sum(ratio * ratio for ratio in log_ratios) / n)
    return pct_of(float(scipy.stats.t.ppf(0.975, n)) * spread) if spread >= NO_NOISE else 0.0
