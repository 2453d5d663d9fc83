"""Whether cells keep the criterion: the verdict, and why. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from campaigns.findings.values import (
    ConditionTerms,
    ThresholdCell,
    Thresholds,
    ThresholdState,
    ThresholdWord,
)
from campaigns.findings.wording.answer_text import capitalised
from campaigns.findings.wording.capacity import HELD, SHARE, beside_limit, kept, subject
from campaigns.findings.wording.loads import setting_name
from campaigns.findings.wording.verdicts import Display
from campaigns.kit.numbers import MISSING, bound, digits_of
from campaigns.stats.capacity import Held

LABELS: Mapping[ThresholdWord, Display] = {
    "passes": Display("passes", "info", "check", "solid"),
    "does_not_pass": Display("does not pass", "fail", "x", "solid"),
    "not_decided": Display("not decided", "thin", "ring", "outline"),
    "not_contradicted": HELD[Held.NOT_CONTRADICTED],
}
LOADS: Mapping[ThresholdWord, Display] = {
    "passes": HELD[Held.HELD],
    "does_not_pass": HELD[Held.FAILED],
    "not_decided": HELD[Held.UNDECIDED],
    "not_contradicted": HELD[Held.NOT_CONTRADICTED],
}
"""Of cells that are loads, whose words are the decisions on them."""
ORDER: Sequence[ThresholdWord] = ("does_not_pass", "not_decided", "not_contradicted", "passes")
"""The worst first."""
MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class ThresholdLine:
    """One condition in one cell. why: estimate, interval and limit in a few words."""

    cell: str
    condition: str
    limit: str
    estimate: str
    interval: str
    label: Display
    why: str


@dataclass(frozen=True, slots=True)
class ThresholdTexts:
    """The verdict of a campaign. lines: of each condition in each cell, in their order."""

    sentence: str
    label: Display
    lines: Sequence[ThresholdLine]


def threshold_texts(finding: Thresholds) -> ThresholdTexts:
    """Return the verdict on the criterion as text."""
    conditions = {each.name: each for each in finding.conditions}
    labels = labels_of(finding)
    lines = [
        _line(cell, state, conditions[state.name], labels)
        for cell in finding.cells
        for state in cell.states
        if state.name in conditions
    ]
    return ThresholdTexts(thresholds_sentence(finding), labels[finding.word], lines)


def labels_of(finding: Thresholds) -> Mapping[ThresholdWord, Display]:
    """Return how its words are shown."""
    return LOADS if finding.loads else LABELS


def thresholds_sentence(finding: Thresholds) -> str:
    """Return whether every cell keeps the criterion, and where and why one does not."""
    total = len(finding.cells)
    limits = " and ".join(map(limit_text, finding.conditions))
    if not total or not limits:
        return ""
    if finding.word == "passes":
        where = "" if total == 1 else f", in {'both' if total == 2 else f'all {total}'} cells"
        return f"{capitalised(labels_of(finding)['passes'].word)}: {limits}{where}."
    counts = Counter(cell.word for cell in finding.cells)
    parts = [
        _where(finding, word, counts[word])
        for word in ORDER
        if counts[word] and (word != "passes" or total > 1)
    ]
    return f"{' '.join(parts)} The criterion: {limits}."


def thresholds_verdict(finding: Thresholds) -> Iterator[str]:
    """Return whether the criterion is kept, in one sentence; of texts that say ever less."""
    total = len(finding.cells)
    limits = " and ".join(map(kept, finding.conditions))
    one = len(finding.conditions) == 1
    where = ""
    if total == 1 and (name := setting_name(finding.cells[0].levels)):
        where = f" at {name}"
    elif total > 1:
        where = f" in {'both' if total == 2 else f'all {total}'} cells"
    its = "the criterion"
    match finding.word:
        case "passes":
            yield capitalised(f"{limits}{where}.")
            yield capitalised(f"{limits}.")
            yield f"Passes: {its} is kept{where}."
            yield f"Passes: {its} is kept."
        case "does_not_pass":
            failing = [cell for cell in finding.cells if cell.word == "does_not_pass"]
            which = f" in {len(failing)} of {total} cells" if total > 1 else where
            reasons = [
                f"{_reached(state, condition)}, the limit is {_bound_of(condition)}"
                for state in (failing[0].states if failing else ())
                for condition in finding.conditions
                if state.name == condition.name and state.word == "does_not_pass"
                if _estimate(state, condition) != MISSING
            ]
            for reason in reasons[:1] if total == 1 else ():
                yield f"Does not pass{which}: {reason}."
                yield f"Does not pass: {reason}."
            if one:
                yield f"Does not pass{which}: {limit_text(finding.conditions[0])} is not kept."
            yield f"Does not pass{which}."
            yield "Does not pass."
        case "not_contradicted":
            yield f"That {limits} is not contradicted{where}, and not shown either."
            yield "That the criterion is kept is not contradicted, and not shown either."
        case _:
            undecided = sum(cell.word == "not_decided" for cell in finding.cells)
            which = f" in {undecided} of {total} cells" if total > 1 else where
            yield f"Whether {limits}{which} is not decided."
            yield f"Whether {limits} is not decided."
            yield f"Whether {its} is kept is not decided."


def thresholds_certainty(finding: Thresholds) -> Iterator[str]:
    """Return estimate and interval of what decides, as texts that say ever less."""
    conditions = {each.name: each for each in finding.conditions}
    worst = next((cell for cell in finding.cells if cell.word == finding.word), None)
    if worst is None:
        return
    reasons = [
        _why(state, conditions[state.name])
        for state in worst.states
        if state.name in conditions and state.word == finding.word
    ]
    name = setting_name(worst.levels) if len(finding.cells) > 1 else ""
    for count in range(len(reasons), 0, -1):
        text = capitalised(" and ".join(reasons[:count]))
        yield f"{text}{f', at {name}' if name else ''}."
        yield f"{text}."
    yield "The table has the interval of each condition."


def _reached(state: ThresholdState, condition: ConditionTerms) -> str:
    return f"{subject(condition)} {'are' if not condition.metric else 'is'} {_estimate(state, condition)}"


def _bound_of(condition: ConditionTerms) -> str:
    return limit_of(condition).removeprefix("at most ").removeprefix("at least ")


def limit_text(condition: ConditionTerms) -> str:
    """Write a condition: “p95 of a registration at most 3:00 min”, “failures at most 5 %”."""
    return f"{subject(condition)} {limit_of(condition)}"


def limit_of(condition: ConditionTerms) -> str:
    """Write the bound of a condition: “at most 3:00 min”."""
    if condition.at_least is not None:
        return f"at least {bound(condition.at_least, condition.unit)}"
    if condition.at_most is not None:
        return f"at most {bound(condition.at_most, condition.unit)}"
    return f"at most {bound(condition.failed_share, SHARE)}"


def _where(finding: Thresholds, word: ThresholdWord, count: int) -> str:
    """Say in how many cells, and why in the first of them."""
    total = len(finding.cells)
    label = capitalised(labels_of(finding)[word].word)
    head = label if total == 1 else f"{label} in {count} of {total} cells"
    if word == "passes":
        return f"{head}."
    conditions = {each.name: each for each in finding.conditions}
    named = []
    for cell in [each for each in finding.cells if each.word == word][:MOST_NAMED]:
        reasons = [
            _why(state, conditions[state.name])
            for state in cell.states
            if state.word == word and state.name in conditions
        ]
        name = setting_name(cell.levels)
        text = ", ".join(reasons)
        named.append(f"{name}: {text}" if name and text else name or text)
    more = f"; and {count - MOST_NAMED} more" if count > MOST_NAMED else ""
    return f"{head}: {'; '.join(filter(None, named))}{more}." if any(named) else f"{head}."


def _why(state: ThresholdState, condition: ConditionTerms) -> str:
    estimate, interval = _estimate(state, condition), _interval(state, condition)
    if estimate == MISSING:
        return f"{subject(condition)} has no value"
    bounds = f" ({interval})" if interval != MISSING else ", without an interval"
    return f"{subject(condition)} {estimate}{bounds}"


def _line(
    cell: ThresholdCell,
    state: ThresholdState,
    condition: ConditionTerms,
    labels: Mapping[ThresholdWord, Display],
) -> ThresholdLine:
    return ThresholdLine(
        cell=setting_name(cell.levels),
        condition=subject(condition),
        limit=limit_of(condition),
        estimate=_estimate(state, condition),
        interval=_interval(state, condition),
        label=labels[state.word],
        why=f"{_why(state, condition)}: {limit_of(condition)}",
    )


def _estimate(state: ThresholdState, condition: ConditionTerms) -> str:
    limit = condition.at_most if condition.at_most is not None else condition.at_least
    if state.value is not None:
        return beside_limit(state.value, limit, condition.unit)
    if state.share is None:
        return MISSING
    text = beside_limit(state.share, condition.failed_share, SHARE)
    above = condition.metric and limit is not None
    return f"{text} above {bound(limit, condition.unit)}" if above else text


def _interval(state: ThresholdState, condition: ConditionTerms) -> str:
    """Write both ends so that neither looks like the limit that it is above or below."""
    limit, unit, ends = condition.failed_share, SHARE, state.share_interval
    if state.value is not None:
        limit = condition.at_most if condition.at_most is not None else condition.at_least
        unit, ends = condition.unit, state.interval
    if not ends:
        return MISSING
    return " … ".join(beside_limit(end, limit, unit, digits_of(*ends)) for end in ends)
