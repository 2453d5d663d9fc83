"""Failed shares over runs. Pure. STATISTICS 2.6.

The run is the unit of inference: three runs of 500 requests are three observations, not 1500.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from campaigns.stats import student
from campaigns.stats.interval import Interval

CLUMPED = 10.0
"""A design effect above it: failures come in few runs, and the interval is too narrow."""


@dataclass(frozen=True, slots=True)
class FailedShare:
    """The share of failed units of work over `n` runs; a share of 1.

    design_effect: how many times wider than by counting units alone. within_run: of one run, so it
    says nothing of the next. clumped: say first how many of the runs had failures.
    """

    share: float
    ci: Interval
    n: int
    failed: int
    units: int
    runs_with_failures: int
    design_effect: float
    effective_n: float
    within_run: bool
    clumped: bool


def failed_share(
    failed: Sequence[int], units: Sequence[int], *, alpha: float = 0.05
) -> FailedShare | None:
    """Estimate a failed share over runs: Wilson's interval of an effective n, with t(n - 1).

    failed, units: one of each per run; runs without units are left out, None where none is left.
    """
    pairs = [(f, m) for f, m in zip(failed, units, strict=True) if m > 0]
    if any(not 0 <= f <= m for f, m in pairs):
        raise ValueError("A run cannot have more failed units than units, or fewer than none.")
    if not pairs:
        return None
    counts = np.array(pairs, dtype=float)
    total_failed, total = float(counts[:, 0].sum()), float(counts[:, 1].sum())
    share, n = total_failed / total, len(pairs)
    effect = _design_effect(counts, share)
    effective = total / effect
    tail = 1 - alpha / 2
    quantile = float(stats.norm.ppf(tail)) if n == 1 else student.quantile(tail, n - 1)
    return FailedShare(
        share=share,
        ci=_wilson(share, effective, quantile),
        n=n,
        failed=int(total_failed),
        units=int(total),
        runs_with_failures=int((counts[:, 0] > 0).sum()),
        design_effect=effect,
        effective_n=effective,
        within_run=n == 1,
        clumped=effect > CLUMPED,
    )


def _design_effect(counts: np.ndarray, share: float) -> float:
    n = len(counts)
    if n < 2 or share in (0.0, 1.0):
        return 1.0
    failed, units = counts[:, 0], counts[:, 1]
    spread = float((units * np.square(failed / units - share)).sum())
    return max(1.0, spread / ((n - 1) * share * (1 - share)))


def _wilson(share: float, n: float, quantile: float) -> Interval:
    square = quantile**2
    centre = (share + square / (2 * n)) / (1 + square / n)
    half = quantile * math.sqrt(share * (1 - share) / n + square / (4 * n**2)) / (1 + square / n)
    return Interval(max(0.0, centre - half), min(1.0, centre + half))
