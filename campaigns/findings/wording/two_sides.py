"""The verdict on two sides in one sentence, and how certain it is. Pure."""

from collections.abc import Iterator, Sequence

from campaigns.findings.values import LevelsFinding, Terms
from campaigns.findings.wording.answer_text import capitalised
from campaigns.findings.wording.drift import meanwhile
from campaigns.findings.wording.verdicts import (
    differs_by,
    size_in_words,
    smaller_side,
    span_in_words,
)
from campaigns.kit.numbers import share
from campaigns.stats.verdict import Verdict, Word

GENERIC = ("the candidate", "the baseline")
"""Of sides whose names are too long."""
UNCOMPARED = {
    Word.TOO_MANY_FAILURES: "are not compared: too many failures",
    Word.NOT_COMPARABLE: "are not comparable",
    Word.INVALID_VALUES: "are not compared: a value is zero, negative or no number",
}


def verdict_of_two(
    terms: Terms,
    verdict: Verdict,
    sides: Sequence[str],
    where: str = "",
    shorter: str = "",
    means: Sequence[float | None] = (None, None),
) -> Iterator[str]:
    """Return the verdict as sentences that say ever less: “new is 19.5 % faster than old on all 5 manifests.”.

    sides: names of candidate and baseline. where: what stands after them, as “ at 40 hosts”; shorter: that in fewer words, since a verdict on
    one place is none on all. means: of baseline and candidate, in
    the unit of the metric.
    """
    for candidate, baseline in (sides, GENERIC):
        for place in dict.fromkeys((where, shorter or where)):
            for beside in dict.fromkeys((smaller_side(terms, verdict.word, *means), "")):
                text = _told(terms, verdict, candidate, baseline, place)
                yield f"{text[:1].upper() if candidate in GENERIC else text[:1]}{text[1:]}{beside}."


def _told(terms: Terms, verdict: Verdict, candidate: str, baseline: str, where: str) -> str:
    word = verdict.word
    after = meanwhile(terms) if isinstance(terms, LevelsFinding) else ""
    if word in (Word.BETTER, Word.WORSE):
        return f"{candidate} {differs_by(terms, word, verdict.pct_change)} {baseline}{where}{after}"
    if word == Word.EQUIVALENT:
        within = size_in_words(terms, terms.margin_pct)
        return f"{candidate} and {baseline} are equivalent within {within}{where}{after}"
    if word == Word.NO_DIFFERENCE_SHOWN:
        return f"No difference is shown between {candidate} and {baseline}{where}{after}"
    if word == Word.NOT_ENOUGH_DATA:
        return f"No difference is shown between {candidate} and {baseline}{where}: not enough data"
    return f"{candidate} and {baseline} {UNCOMPARED[word]}{where}"


def certainty_of_two(terms: Terms, verdict: Verdict, of: str, advice: str) -> Iterator[str]:
    """Return how certain the verdict is as texts that say ever less: interval, what was measured, what would decide.

    of: what was measured, as “10 pairs, one session”.
    """
    advice = "" if verdict.word in UNCOMPARED else advice
    interval = interval_of(terms, verdict)
    measured = capitalised(f"{', '.join(filter(None, (interval, of)))}.") if interval or of else ""
    if verdict.word == Word.NO_DIFFERENCE_SHOWN:
        excluded = f"A change of {size_in_words(terms, terms.delta_pct)} or more is excluded"
        yield f"{excluded}: {measured}"
    yield " ".join(filter(None, (measured, advice)))
    if verdict.word == Word.NOT_ENOUGH_DATA and advice:
        yield advice
    yield measured


def interval_of(terms: Terms, verdict: Verdict) -> str:
    """Write the interval of a change after its verdict, which has the direction: “16.0 to 24.0 % (95 %)”; empty without one."""
    bounds = verdict.ci_pct
    if not bounds or verdict.pct_change is None:
        return ""
    has_direction = verdict.word in (Word.BETTER, Word.WORSE)
    return interval_in_prose(terms, bounds, verdict.pct_change, has_direction=has_direction)


def interval_in_prose(
    terms: Terms, bounds: Sequence[float], change: float, *, has_direction: bool
) -> str:
    """Write an interval of changes in a sentence: “16.0 to 24.0 % (95 %)”, “−9.0 to +16.0 % (95 %)”.

    has_direction: whether the verdict beside it says which way it is, so that it needs no signs.
    """
    low, high = bounds
    text = span_in_words(terms, bounds, change)
    if has_direction:
        if low < 0 and high < 0 and text.startswith("−"):
            text = span_in_words(terms, (-high, -low), -change)
        if (low < 0) == (high < 0) and low * high:
            text = text.replace("+", "").replace("−", "")
    first, _, last = text.partition(" … ")
    text = last if last.startswith(f"{first} ") else text.replace(" … ", " to ")
    if text[-1:].isdigit():
        text = f"A factor of {text}"
    return f"{text} ({share(1 - terms.alpha)})"
