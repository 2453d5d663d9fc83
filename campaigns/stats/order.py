"""Whether it mattered which of a pair ran first. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from campaigns.stats.logs import pct_of
from campaigns.stats.verdict import Contrast, p_value


@dataclass(frozen=True, slots=True)
class OrderEffect:
    """How the change differs where the candidate ran first from where the baseline did, in %.

    t is None where the pairs hold no noise at all. `flagged`: p is below alpha.
    """

    candidate_first: int
    baseline_first: int
    difference_pct: float
    t: float | None
    df: int
    p: float
    flagged: bool


def order_effect(
    strata: Sequence[tuple[NDArray[np.float64], Sequence[bool | None]]], alpha: float
) -> OrderEffect | None:
    """Compare the log ratios of both orders, within strata: df = pairs - strata - 1.

    strata: log ratios, and for each whether the candidate ran first; None is left out. Both are
    taken from their stratum's mean (Frisch and Waugh, 1933), so that three pairs a stratum, which
    cannot be half and half, do not bias it. None where the orders cannot be told apart.
    """
    ratios, firsts, used = [], [], 0
    for differences, candidate_first in strata:
        known = np.array([first is not None for first in candidate_first], dtype=bool)
        if not known.any():
            continue
        used += 1
        first = np.array([first is True for first in candidate_first], dtype=float)[known]
        ratios.append(differences[known] - differences[known].mean())
        firsts.append((first, first - first.mean()))
    if not used:
        return None
    ratio = np.concatenate(ratios)
    indicator = np.concatenate([first for first, _ in firsts])
    centred = np.concatenate([centre for _, centre in firsts])
    spread, df = float(centred @ centred), ratio.size - used - 1
    if spread == 0 or df < 1:
        return None
    slope = float(centred @ ratio) / spread
    error = ratio - slope * centred
    contrast = Contrast(slope, float(np.sqrt(error @ error / df / spread)), df, ratio.size)
    p = p_value(contrast)
    return OrderEffect(
        candidate_first=int(indicator.sum()),
        baseline_first=int(ratio.size - indicator.sum()),
        difference_pct=pct_of(slope),
        t=slope / contrast.standard_error if contrast.standard_error else None,
        df=df,
        p=p,
        flagged=p < alpha,
    )
