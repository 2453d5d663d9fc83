"""All sentences on alerts: what moved, how surely, and what stands against it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from campaigns.findings.values import Terms
from campaigns.findings.wording.verdicts import differs_by
from campaigns.kit.numbers import change_span, counted, without_sign
from campaigns.stats.verdict import Word
from campaigns.trends.wording import Sentences


@dataclass(frozen=True, slots=True)
class AlertFacts:
    """What is known of an alert, by its worst trend.

    good, bad: versions; empty where the line goes by time, or the target told none. since: the first session that showed it.
    change, low, high: new over old, in %, of the metric; None where nothing has a value. fails: the new one fails too often.
    pairs: that were measured side by side; sessions: that were measured further. more: trends that moved with it. moved:
    whether the old version, too, is not as it was. is_measured_again: a confirmation is on.
    """

    line: str
    subject: str
    good: str
    bad: str
    since: datetime
    evidence: str
    direction: str
    label: str
    unit: str
    metric: str
    lower_is_better: bool
    change: float | None = None
    low: float | None = None
    high: float | None = None
    fails: bool = False
    pairs: int = 0
    sessions: int = 0
    more: int = 0
    moved: bool = False
    is_measured_again: bool = False
    reason: str = ""


def sentences_of(facts: AlertFacts) -> Sentences:
    """Return verdict, certainty and caveat of an alert."""
    return Sentences(verdict_of(facts), _certainty(facts), _caveat(facts))


def verdict_of(facts: AlertFacts) -> str:
    """Return the verdict, one sentence."""
    if facts.evidence == "machine":
        return f"The machine changed on {facts.since:%Y-%m-%d}, and {_old(facts)} with it: {facts.label}."
    if facts.evidence == "not_reproduced":
        return (
            f"{_new(facts)} is not shown to be {_worse(facts)} than {_old(facts)}: {facts.label}."
        )
    if facts.fails:
        return f"{_new(facts)} fails too often, and {_old(facts)} does not: {facts.label}."
    return f"{_new(facts)} {_differs(facts)} {_old(facts)}: {facts.label}."


def _new(facts: AlertFacts) -> str:
    if facts.bad and facts.bad != facts.good:
        return f"{facts.subject} {facts.bad}"
    return f"“{facts.line}” since {facts.since:%Y-%m-%d}"


def _old(facts: AlertFacts) -> str:
    if facts.good and facts.bad != facts.good:
        return facts.good if facts.evidence != "machine" else f"{facts.subject} {facts.good}"
    return "before"


def _differs(facts: AlertFacts) -> str:
    if facts.change is None:
        return "may be worse than"
    said = differs_by(_terms(facts), _word(facts), facts.change)
    if facts.evidence in CERTAIN:
        return said
    for verb, may in MAY.items():
        if said.startswith(f"{verb} "):
            return f"may {may}{said.removeprefix(verb)}"
    return said


CERTAIN = ("confirmed", "repeated")
MAY: Mapping[str, str] = {"is": "be", "has": "have", "takes": "take"}


def _worse(facts: AlertFacts) -> str:
    said = differs_by(_terms(facts), _word(facts), None)
    return said.removeprefix("is ").removesuffix(" than")


def _word(facts: AlertFacts) -> Word:
    return Word.BETTER if facts.direction == "better" else Word.WORSE


def _terms(facts: AlertFacts) -> Terms:
    return Terms(
        metric=facts.metric,
        label=facts.label,
        unit=facts.unit,
        lower_is_better=facts.lower_is_better,
    )


def _certainty(facts: AlertFacts) -> str:
    bounds = ""
    if facts.low is not None and facts.high is not None:
        bounds = f"{change_span((facts.low, facts.high), facts.change)} (95 %), "
    match facts.evidence:
        case "confirmed":
            return f"{bounds}{counted(facts.pairs, 'pair')}, each side installed anew."
        case "repeated":
            return f"{bounds}{counted(facts.sessions, 'further session')}."
        case "machine" if facts.pairs:
            return (
                f"{counted(facts.pairs, 'pair')} do not show that {_new(facts)} is {_worse(facts)}."
            )
        case "machine":
            return "The version was the same before and after."
        case "not_reproduced" if facts.pairs:
            return f"Seen once; {counted(facts.pairs, 'pair')}, each side installed anew, do not show it."
        case "not_reproduced":
            return f"Seen once; {counted(facts.sessions, 'further session')} do not show it."
        case "unverified":
            return facts.reason or "It could not be measured again."
    if facts.direction == "better":
        return f"{bounds}seen by the newest sessions; what is better is not measured again."
    if facts.is_measured_again:
        return f"{bounds}seen by the newest sessions, and being measured again."
    return f"{bounds}seen by the newest sessions. An operator can have it measured again."


def _caveat(facts: AlertFacts) -> str:
    parts = []
    if facts.evidence == "confirmed" and facts.moved:
        parts.append(f"The machine changed, too: {facts.good} is not as it was in its own history.")
    if facts.evidence == "repeated":
        parts.append("Product or machine is not known: the line has no build to switch.")
    if facts.more:
        verb = "moved" if facts.more > 1 else "moved, too"
        parts.append(
            f"{counted(facts.more, 'other trend')} {verb}{' with it' if facts.more > 1 else ''}."
        )
    return " ".join(parts)


def size_of(facts: AlertFacts) -> str:
    """Return the size of the change in a list; a dash where nothing has a value."""
    return "–" if facts.change is None else without_sign(abs(facts.change))
