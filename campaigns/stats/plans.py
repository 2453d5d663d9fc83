"""How many more runs would decide. Added to a verdict, never part of it. Pure."""

import math
from dataclasses import dataclass, replace

from campaigns.stats.criteria import Criteria
from campaigns.stats.power import Design, detectable_by, n_to_decide, required_n
from campaigns.stats.verdict import Contrast, Verdict, Word


@dataclass(frozen=True, slots=True)
class Plan:
    """The noise (sd of logs), how n becomes precision, and the current n, which need not be whole."""

    sd_log: float
    design: Design
    n: float


def planned(verdict: Verdict, contrast: Contrast, plan: Plan, criteria: Criteria) -> Verdict:
    """Add the required n, how many more that is, and the change detectable with the current n."""
    if contrast.df < 1:
        return verdict
    in_hand = math.floor(plan.n + 1e-9)
    required = required_n(
        plan.sd_log,
        design=plan.design,
        delta=criteria.delta,
        alpha=criteria.alpha,
        chance=criteria.power,
    )
    undecided = (
        verdict.word == Word.NOT_ENOUGH_DATA
        and not verdict.reason
        and required is not None
        and required <= in_hand
    )
    return replace(
        verdict,
        required_n=required,
        more=max(0, required - in_hand) if required is not None else None,
        n_to_decide=n_to_decide(
            contrast.estimate,
            plan.sd_log,
            design=plan.design,
            delta=criteria.delta,
            alpha=criteria.alpha,
        )
        if undecided
        else None,
        mde_pct=_detectable(contrast, plan, in_hand, criteria),
    )


def _detectable(contrast: Contrast, plan: Plan, in_hand: int, criteria: Criteria) -> float:
    """Return the detectable change by the contrast, or where its df is its own (Welch), by a plan of as many runs."""
    error, df = contrast.standard_error, contrast.df
    if df != int(df) and in_hand > 1:
        error, df = plan.design.error(in_hand, plan.sd_log), plan.design.df(in_hand)
    return detectable_by(error, df, alpha=criteria.alpha, chance=criteria.power)
