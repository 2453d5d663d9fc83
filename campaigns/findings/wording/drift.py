"""Drift over time, what an order of level after level leaves open, and what blocks brought. Pure."""

import math

from campaigns.findings.values import Drift, LevelsFinding
from campaigns.kit.numbers import about, number, without_sign
from campaigns.stats.validity import Check, Outcome
from campaigns.stats.verdict import Word

BY_THE_HOUR = (
    "All runs of a level were made one after the other: what differs may be the hour, "
    "and the intervals do not cover that."
)
"""The first caveat of levels that were measured one after the other."""
MEANWHILE = "if nothing else changed meanwhile"
UNKNOWN = "Whether the target drifted cannot be determined in this order."
TENFOLD = 10
JUDGED = (Word.BETTER, Word.WORSE, Word.EQUIVALENT, Word.NO_DIFFERENCE_SHOWN)

MISSING = {
    "not_in_blocks": "There are no effects of blocks: the runs were not made in blocks.",
    "not_positive": "There are no effects of blocks: a value is 0 or less, and has no logarithm.",
    "too_many": "There are no effects of blocks: there are more than the model takes.",
    "too_few": "There are no effects of blocks yet: it takes two blocks that share cells.",
}


def meanwhile(levels: LevelsFinding) -> str:
    """Return the clause after a word on levels that were measured one after the other; empty in any other order."""
    return f", {MEANWHILE}" if levels.drift else ""


def holds_meanwhile(terms: object, word: Word) -> str:
    """Return the sentence after a verdict on levels that were measured one after the other; empty for any other."""
    if isinstance(terms, LevelsFinding) and terms.drift and word in JUDGED:
        return f"This holds {MEANWHILE}."
    return ""


def drift_note(levels: LevelsFinding | None) -> str:
    """Return what an order of level after level leaves open; empty in any other order."""
    drift = levels.drift if levels else None
    if drift is None:
        return ""
    if not drift.known or drift.slope_pct is None:
        return UNKNOWN
    if drift.shown:
        return (
            f"Runs of one level drift ({slope_text(drift.slope_pct, drift.hours)}): a difference between levels "
            "measured one after the other cannot be distinguished from this drift."
        )
    return none_shown(drift.missed_pct, drift.hours)


def within_text(check: Check) -> str:
    """Return what a check of the drift within levels found."""
    figures = check.figures
    if check.outcome == Outcome.PASS:
        return none_shown(figures.get("missed_pct"), figures.get("hours"))
    return (
        f"Runs of one level drift ({slope_text(figures['slope_pct'], figures.get('hours'))}), so levels measured "
        "one after the other differ by that, too"
    )


def none_shown(missed_pct: float | None, hours: float | None) -> str:
    """Return that no drift is shown within levels, and the largest that would have been missed."""
    missed = ""
    if missed_pct is not None:
        missed = f" (at most {_missed(missed_pct, hours)} would have been missed)"
    return f"Drift: none shown within levels{missed}; between levels it cannot be determined in this order."


def slope_text(slope_pct: float, hours: float | None, each: str = "run") -> str:
    """Write a drift: +1.2 % an hour; of less than an hour over the time that was measured: +0.4 % in 12 min.

    hours: how long was measured; None where runs have no times: then it is that of `each`. Nothing is said beyond tenfold.
    """
    log, per = _over(slope_pct, hours, each)
    ratio = math.exp(min(log, 700.0))
    if ratio > TENFOLD:
        return f"more than tenfold {per}"
    if ratio < 1 / TENFOLD:
        return f"to less than a tenth {per}"
    change = 100 * (ratio - 1)
    return f"{'+' if change > 0 else ''}{number(change)} % {per}"


def _missed(missed_pct: float, hours: float | None) -> str:
    text = slope_text(missed_pct, hours)
    return text if text.startswith("more") else f"±{text.lstrip('+')}"


def _over(slope_pct: float, hours: float | None, each: str) -> tuple[float, str]:
    """Return the log ratio of a drift, and over what: an hour, no longer than what was measured, or from one to the next."""
    log = math.log1p(max(slope_pct / 100, -1 + 1e-15))
    if hours is None:
        return log, f"a {each}"
    if hours < 1:
        return log * hours, f"in {about(3600 * hours)}"
    return log, "an hour"


def block_notes(drift: Drift) -> tuple[str, ...]:
    """Return how much blocks vary compared with the runs within one, and how many runs blocks saved."""
    if drift.missing:
        return (MISSING[drift.missing],)
    texts = (
        f"Blocks vary by {without_sign(drift.block_sd_pct)} (standard deviation), runs within a "
        f"block by {without_sign(drift.sd_pct)}."
    )
    if drift.efficiency is None:
        return (texts,)
    return (
        f"{texts} Without blocks it would have taken {runs_without_blocks(drift.efficiency)} to see as much.",
    )


def runs_without_blocks(efficiency: float) -> str:
    """Return how many runs the same would have taken in no blocks, compared with those that were made: “2.6 times the runs”."""
    factor = number(efficiency, 2)
    return "as many runs" if factor == "1" else f"{factor} times the runs"
