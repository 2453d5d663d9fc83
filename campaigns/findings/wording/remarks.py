"""Short remarks on a verdict, on its confirmation by sessions, on the order in pairs, and on an interaction. Pure."""

from campaigns.findings.values import Confirmation, Pairs
from campaigns.kit.numbers import change, change_span, counted, number, p_value, share
from campaigns.stats.matrix import Interaction
from campaigns.stats.verdict import Verdict

INTERACTS = 0.05
"""Below this p, the rows of a matrix differ."""

BADGES = {
    "real_below_margin": "real, but below the margin",
    "no_worse_than_m": "not worse by more than the margin",
    "lost_in_family": "not significant among all comparisons",
    "tests_disagree": "rank test disagrees",
    "zero_variance": "no variance: suspect the clock",
    "pooled_noise": "noise of all strata pooled",
    "unequal_noise": "a noisy level: judged by the two alone",
    "two_sessions": "holds for these two sessions",
}
STANDINGS = {
    "one_session": "one session",
    "confirmed": "confirmed",
    "not_confirmed": "not confirmed",
}
REASONS = {
    "sessions_disagree": "the sessions disagree",
    "not_enough_sessions": "not enough sessions",
    "across_sessions": "measured in different sessions",
}
REFUSALS = {
    "failed_runs": "of the runs failed",
    "timed_out": "of the runs timed out",
    "lost_runs": "of the runs have no value",
    "failed_units": "of the work failed",
}
PAIR_REFUSALS = {
    **REFUSALS,
    "failed_runs": "of the pairs have a failed run",
    "timed_out": "of the pairs have a run that timed out",
    "lost_runs": "of the pairs have a run without a value",
}


def verdict_remarks(verdict: Verdict, *, pairs: bool = False) -> tuple[str, ...]:
    """Return the remarks on a verdict, and why it is refused. pairs: it is one of pairs."""
    remarks = [BADGES.get(badge, badge) for badge in verdict.badges]
    if verdict.fields:
        remarks.append(f"differs in {', '.join(verdict.fields)}")
    if refused := refusal_text(verdict, pairs=pairs):
        remarks.append(refused)
    return tuple(remarks)


def refusal_text(verdict: Verdict, *, pairs: bool = False) -> str:
    """Return how much failed or was lost on which side; empty where that is not the reason of a verdict.

    pairs: a share of runs is one of pairs.
    """
    what = (PAIR_REFUSALS if pairs else REFUSALS).get(verdict.reason)
    if what is None:
        return ""
    part = "some" if verdict.share is None else share(verdict.share)
    return f"{part} {what}{f' in the {verdict.side}' if verdict.side else ''}"


def confirmation_text(confirmation: Confirmation) -> str:
    """Return whether a verdict holds beyond one session, and why not."""
    value = STANDINGS.get(confirmation.standing, confirmation.standing)
    reason = REASONS.get(confirmation.reason, confirmation.reason)
    return f"{value}: {reason}" if reason else value


def session_remarks(confirmation: Confirmation) -> tuple[str, ...]:
    """Return the change in each of two sessions; of more sessions the change within them."""
    if confirmation.sessions == 2:
        each = confirmation.each_pct
        return (f"each session: {', '.join(change(one) for one in each)}",)
    within = confirmation.within
    if confirmation.between and within:
        bounds = change_span(within.ci_pct, within.pct_change)
        return (f"within these sessions: {change(within.pct_change)} ({bounds})",)
    return ()


def order_remark(pairs: Pairs, baseline: str, candidate: str) -> tuple[str, str]:
    """Return whether it mattered which side of a pair ran first, and the tone; both empty where unknown."""
    effect = pairs.order_effect
    if effect is None:
        return "", ""
    difference = f"{change(effect.difference_pct)}, p {p_value(effect.p)}"
    firsts = (
        f"{candidate} ran first in {counted(effect.candidate_first, 'pair')}, "
        f"{baseline} in {effect.baseline_first}"
    )
    if effect.flagged:
        return f"{firsts}; the order matters ({difference}): read the change with care.", "warn"
    return f"{firsts}; no effect of the order was found ({difference}).", "pass"


def interaction_remark(result: Interaction | None) -> tuple[str, str]:
    """Return whether the rows of a matrix differ, and the tone; both empty where unknown."""
    if result is None:
        return "", ""
    of = f"F {number(result.f)} on {result.df} and {result.noise_df} df, p {p_value(result.p)}"
    if result.p < INTERACTS:
        return f"The rows differ: what a column brings depends on the row ({of}).", "warn"
    return f"No interaction is shown ({of}): that is not a proof of none.", "thin"
