"""The answer of a campaign as text."""

from collections.abc import Sequence
from dataclasses import dataclass

from campaigns.findings.values import Terms
from campaigns.findings.wording.verdicts import Display, change_in_words, span_in_words

MOST_FACTS = 4


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
    """The answer as pages and REST show it. ended: why an adaptive campaign ended; empty for any other."""

    sentence: str
    tone: str
    caveat: str = ""
    badges: Sequence[Display] = ()
    facts: Sequence[Fact] = ()
    statements: Sequence[Statement] = ()
    ended: str = ""


NOT_ANALYSED = AnswerText("Nothing has been analysed yet.", "thin")
WITHHELD = AnswerText(
    "The runs are not complete: the verdict is withheld until the stop rule is met.", "thin"
)
"""The answer of an active campaign."""


def capitalised(text: str) -> str:
    """Return a text with a capital first letter; the others stay as they are."""
    return text[:1].upper() + text[1:]
