"""Whether a verdict depends on one run or block: one or two sentences, and the lines of the panel. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from campaigns.findings.values import (
    LEVEL_CHOICES,
    Flipped,
    LeftOutInTurn,
    Sensitivity,
    Terms,
    Tried,
)
from campaigns.findings.wording.verdicts import label_of
from campaigns.kit.charts.labels import level_text
from campaigns.kit.marks import OUTCOMES as MARKS
from campaigns.kit.numbers import counted, number
from campaigns.stats.verdict import Word

MOST_NAMED = 3
"""Runs and blocks that the sentence names."""
MOST_LINES = 20
OUTCOMES = {
    "robust": "pass",
    "best_flips": "warn",
    "flips": "warn",
    "too_few": "not_possible",
    "undecided": "not_possible",
    "not_tried": "not_possible",
}
UNDONE = "exclusions undone"


@dataclass(frozen=True, slots=True)
class Flip:
    """One run or block without which something changes."""

    without: str
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Look:
    """One kind of part left out: how many were tried (as text), and what happened."""

    title: str
    tried: str
    tone: str
    icon: str
    flips: tuple[Flip, ...] = ()
    more: int = 0


@dataclass(frozen=True, slots=True)
class SensitivityPanel:
    """The sentence, and a look each at runs and blocks, as judged and with the exclusions."""

    sentence: str
    tone: str
    icon: str
    looks: tuple[Look, ...]


def sensitivity_panel(terms: Terms, finding: Sensitivity) -> SensitivityPanel:
    """Return the lines of the panel. terms: of the finding whose verdicts were tried."""
    _, tone, icon = MARKS[OUTCOMES[finding.status]]
    looks = tuple(_look(terms, side, noun, look) for side, noun, look in _looks(finding))
    return SensitivityPanel(sensitivity_sentence(terms, finding), tone, icon, looks)


def sensitivity_sentence(terms: Terms, finding: Sensitivity) -> str:
    """Return one or two sentences, with the runs and blocks on which a verdict depends."""
    tried = list(dict.fromkeys(noun for _, noun, look in _looks(finding) if look.tried))
    parts = _parts(finding, finding.as_judged)
    untried = [f"{noun}s" for noun, look in parts if look.of and not look.tried]
    single = " and no single ".join(tried)
    match finding.status:
        case "robust":
            best = "" if finding.unit == "pair" else " or which level is recommended"
            text = f"Robust: no single {single} changes a verdict{best}."
        case "best_flips":
            text = f"No single {single} changes a verdict. But without {_flips(terms, finding)}."
        case "flips":
            text = f"A verdict changes without {_flips(terms, finding)}."
        case "too_few":
            text = f"With one {tried[-1]} less there would be too few to judge."
        case "undecided":
            text = "There is no verdict that could flip."
        case _:
            return "Not tried: leaving out one after another would take too long."
    if untried and tried:
        text += f" Not tried for single {' and '.join(untried)}: too many."
    return text


def change_text(terms: Terms, change: Flipped) -> str:
    """Describe one change: “10 vs. 5: not enough data instead of faster”."""
    sides = f"{_changed_text(terms, change, change.after)} instead of {_changed_text(terms, change, change.before)}"
    match change.of:
        case "best" | "recommended":
            what = f"the {change.of} level"
        case "primary":
            what = "the primary contrast"
        case "pairs":
            what = ", ".join(map(level_text, change.levels.values())) or "all pairs"
            return f"{what}: {sides}"
        case _:
            what = f"{level_text(change.candidate)} vs. {level_text(change.baseline)}"
    where = ", ".join(f"{name} {level_text(level)}" for name, level in change.levels.items())
    return f"{what}{f', at {where}' if where else ''}: {sides}"


def _changed_text(terms: Terms, change: Flipped, value: object) -> str:
    """Return the label of a verdict, or a level as text."""
    if change.of in LEVEL_CHOICES:
        return level_text(value)
    return "no verdict" if value is None else label_of(terms, Word(str(value))).word


def _flips(terms: Terms, finding: Sensitivity) -> str:
    """Name the first runs and blocks that change a verdict, or else the best level."""
    of_levels = finding.status == "best_flips"
    texts, unlisted = [], 0
    for side, noun, look in _looks(finding):
        name = " and with the exclusions undone" if side else ""
        unlisted += look.flipping - len(look.flips)
        for flip in look.flips:
            changes = [
                each
                for each in flip.changes
                if (each.of in LEVEL_CHOICES) == of_levels and not each.too_few
            ]
            if changes:
                first = min(changes, key=lambda each: not each.primary)
                more = f" and {len(changes) - 1} more" if len(changes) > 1 else ""
                texts.append(f"{noun} {flip.without}{name}: {change_text(terms, first)}{more}")
    text = "; ".join(texts[:MOST_NAMED])
    if len(texts) > MOST_NAMED:
        text += f"; and {'at least ' if unlisted else ''}{len(texts) - MOST_NAMED} more"
    return text


def _look(terms: Terms, side: str, noun: str, look: LeftOutInTurn) -> Look:
    title = f"Without any one {noun}{f', {side}' if side else ''}"
    _, tone, icon = MARKS["not_possible"]
    if not look.tried:
        text = f"{counted(look.of, noun)}: too many to test" if look.of else f"No {noun} counts"
        return Look(title, text, tone, icon)
    if look.flips and all(each.too_few for flip in look.flips for each in flip.changes):
        return Look(title, f"Too few {noun}s to test this", tone, icon)
    _, tone, icon = MARKS["warn" if look.flipping else "pass"]
    flips = tuple(
        Flip(
            f"Without {noun} {flip.without}",
            tuple(
                change_text(terms, each) + (", too few left" if each.too_few else "")
                for each in flip.changes
            ),
        )
        for flip in look.flips[:MOST_LINES]
    )
    tried = f"{number(look.flipping)} of {counted(look.tried, noun)} would change something"
    return Look(title, tried, tone, icon, flips, look.flipping - len(flips))


def _looks(finding: Sensitivity) -> Iterator[tuple[str, str, LeftOutInTurn]]:
    """Yield each look with its side, empty for the verdicts as judged, and its noun."""
    for side, tried in (("", finding.as_judged), (UNDONE, finding.with_excluded)):
        for noun, look in _parts(finding, tried) if tried else ():
            yield side, noun, look


def _parts(finding: Sensitivity, tried: Tried) -> Iterator[tuple[str, LeftOutInTurn]]:
    for noun, look in (("run", tried.runs), (finding.unit, tried.blocks)):
        if look is not None:
            yield noun, look
