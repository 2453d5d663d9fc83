"""The answer of a campaign as text."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from campaigns.findings.values import Terms
from campaigns.findings.wording.verdicts import Display, change_in_words, span_in_words

MOST_FACTS = 3
"""Key figures beside the verdict, and the longest list in a sentence."""
MOST_WORDS, MOST_LETTERS = 25, 160
"""Of the verdict and of the line of certainty: what is read in one breath."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A number beside the sentence."""

    label: str
    value: str
    note: str = ""


def fact_of(
    terms: Terms, label: str, change: float | None, interval: Sequence[float] | None, note: str = ""
) -> Fact:
    """Return a change with its interval as a number beside the sentence. note: stands after the interval."""
    bounds = span_in_words(terms, interval, change) if interval else ""
    return Fact(label, change_in_words(terms, change), f"{bounds}{note}")


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of the details. tone: a `data-tone`."""

    tone: str
    text: str


@dataclass(frozen=True, slots=True)
class AnswerText:
    """The answer as pages and REST show it.

    sentence: the verdict. certainty: interval, runs and what would decide. caveat: the worst one; further: all others.
    ended: why an adaptive campaign ended; empty for any other.
    """

    sentence: str
    tone: str
    certainty: str = ""
    caveat: str = ""
    further: Sequence[str] = ()
    badges: Sequence[Display] = ()
    facts: Sequence[Fact] = ()
    statements: Sequence[Statement] = ()
    ended: str = ""


NOT_ANALYSED = AnswerText("Nothing has been analysed yet.", "thin")
WITHHELD = AnswerText(
    "The runs are not complete: the verdict is withheld until the stop rule is met.", "thin"
)
"""The answer of an active campaign."""


def is_short(text: str) -> bool:
    """Return whether a text can be read in one breath."""
    return len(text.split()) <= MOST_WORDS and len(text) <= MOST_LETTERS


def first_short(texts: Iterable[str]) -> str:
    """Return the first of texts that can be read in one breath; of none, as much of the last as can."""
    last = ""
    for last in texts:
        if is_short(last):
            return last
    return clipped(last)


def clipped(text: str) -> str:
    """Return as much of a text as can be read in one breath, with an ellipsis after it."""
    if is_short(text):
        return text
    return f"{' '.join(text.split()[:MOST_WORDS])[: MOST_LETTERS - 1].rstrip(' ,;:(.')}…"


def capitalised(text: str) -> str:
    """Return a text with a capital first letter; the others stay as they are."""
    return text[:1].upper() + text[1:]
