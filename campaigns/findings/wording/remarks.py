"""Short remarks beside numbers: on a verdict, on its confirmation by sessions, on a cell. Pure."""

from campaigns.findings.values import Confirmation, Pairs, SummarisedCell
from campaigns.kit import numbers
from campaigns.kit.marks import RUNS
from campaigns.kit.numbers import amount, counted, p_value, percent, share
from campaigns.stats.verdict import Verdict

BADGES = {
    "real_below_margin": "real, but below the margin",
    "no_worse_than_m": "not worse by more than the margin",
    "lost_in_family": "not significant after Holm's correction",
    "tests_disagree": "rank test disagrees",
    "zero_variance": "no variance: suspect the clock",
    "pooled_noise": "noise of all strata pooled",
    "unequal_noise": "a noisy level: judged by the two alone",
    "two_sessions": "holds for these two sessions",
}
FLAGS = {
    "empty": "not measured",
    "all_failed": "every run failed",
    "single_run": "one run, so no interval",
    "two_runs": "two runs, so a wide interval",
    "zero_variance": "all values are equal: suspect the clock",
    "median_ci_below_confidence": "",
    "not_positive": "a value of 0 or less, so no geometric mean",
    "invalid_values": "a value that is no number",
    "has_censored": "no mean, since runs timed out",
    "has_bounds": "",
    "too_many_failures": "too much failed for a mean of the rest",
}
WITHOUT_VALUE = ("empty", "all_failed")
"""Flags that repeat the counts of failed and lost runs."""
NOTED_STATES = ("failed", "censored", "bound", "lost", "cancelled")
"""States of runs that are counted in the notes of their cell."""
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
    "lost_runs": "of the runs were lost",
    "failed_units": "of the work failed",
}
PAIR_REFUSALS = {
    **REFUSALS,
    "failed_runs": "of the pairs have a failed run",
    "timed_out": "of the pairs have a run that timed out",
    "lost_runs": "of the pairs have a lost run",
}


def badge_text(badge: str) -> str:
    """Return the remark for a badge of a verdict."""
    return BADGES.get(badge, badge)


def verdict_remarks(verdict: Verdict, *, pairs: bool = False) -> tuple[str, ...]:
    """Return the remarks on a verdict, and why it is refused. pairs: shares of runs are of pairs."""
    remarks = [badge_text(badge) for badge in verdict.badges]
    if verdict.fields:
        remarks.append(f"differs in {', '.join(verdict.fields)}")
    if refused := (PAIR_REFUSALS if pairs else REFUSALS).get(verdict.reason):
        part = "some" if verdict.share is None else share(verdict.share)
        where = f" in the {verdict.side}" if verdict.side else ""
        remarks.append(f"{part} {refused}{where}")
    return tuple(remarks)


def confirmation_text(confirmation: Confirmation) -> str:
    """Return whether a verdict holds beyond one session, and why not."""
    value = STANDINGS.get(confirmation.standing, confirmation.standing)
    reason = REASONS.get(confirmation.reason, confirmation.reason)
    return f"{value}: {reason}" if reason else value


def session_remarks(confirmation: Confirmation) -> tuple[str, ...]:
    """Return the change in each of two sessions; of more sessions the change within them."""
    if confirmation.sessions == 2:
        return (f"each session: {', '.join(percent(each) for each in confirmation.each_pct)}",)
    within = confirmation.within
    if confirmation.between and within:
        bounds = numbers.span_pct(within.ci_pct)
        return (f"within these sessions: {percent(within.pct_change)} ({bounds} %)",)
    return ()


def order_remark(pairs: Pairs, baseline: str, candidate: str) -> tuple[str, str]:
    """Return whether it mattered which side of a pair ran first, and the tone; both empty where unknown."""
    effect = pairs.order_effect
    if effect is None:
        return "", ""
    difference = f"{percent(effect.difference_pct)}, p {p_value(effect.p)}"
    firsts = (
        f"{candidate} ran first in {counted(effect.candidate_first, 'pair')}, "
        f"{baseline} in {effect.baseline_first}"
    )
    if effect.flagged:
        return f"{firsts}; the order matters ({difference}): read the change with care.", "warn"
    return f"{firsts}; no effect of the order was found ({difference}).", "pass"


def cell_notes(cell: SummarisedCell, unit: str) -> tuple[str, ...]:
    """Return the notes on a cell: failures first, then what its numbers do not show."""
    counts = cell.counts
    states, limit = counts.states, counts.lowest_limit
    notes = []
    for state in NOTED_STATES:
        if state in states:
            above = f" above {amount(limit, unit)}" if state == "censored" and limit else ""
            notes.append(f"{states[state]} {RUNS[state][0]}{above}")
    if excluded := states.get("excluded"):
        notes.append(f"{excluded} excluded")
    if counts.units_failed:
        too_many = "too many failures: " if counts.too_many_failures else ""
        notes.append(f"{too_many}{share(counts.units_failed / counts.units)} of the work failed")
    if "open" not in states:
        flags = [flag for flag in cell.summary.flags if not (notes and flag in WITHOUT_VALUE)]
        notes += [text for flag in flags if (text := FLAGS.get(flag, flag))]
    return tuple(notes)
