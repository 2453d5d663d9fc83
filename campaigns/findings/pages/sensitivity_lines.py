"""Show whether one run or block decides a verdict, line by line."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from campaigns.findings.compute.sensitivity_sentences import change_text
from campaigns.kit.marks import OUTCOMES as MARKS
from campaigns.kit.numbers import counted

MOST_LINES = 20
OUTCOMES = {
    "robust": "pass",
    "best_flips": "warn",
    "flips": "warn",
    "too_few": "not_possible",
    "undecided": "not_possible",
    "not_tried": "not_possible",
}


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
    flips: tuple[Flip, ...]
    more: int


@dataclass(frozen=True, slots=True)
class SensitivityPanel:
    """The sentence, and a look each at runs and blocks, as judged and with the exclusions."""

    sentence: str
    tone: str
    icon: str
    looks: tuple[Look, ...]


def sensitivity_panel(result: Mapping[str, Any]) -> SensitivityPanel:
    """Return the finding `sensitivity` as text."""
    _, tone, icon = MARKS[OUTCOMES[result["status"]]]
    return SensitivityPanel(result["sentence"], tone, icon, tuple(_looks(result)))


def _looks(result: Mapping[str, Any]) -> Iterator[Look]:
    unit = result["unit"]
    for name, side in (("", result["as_judged"]), (", exclusions undone", result["with_excluded"])):
        for part, noun in (("runs", "run"), ("blocks", unit)):
            if side and side[part]:
                yield _look(f"Without any one {noun}{name}", noun, side[part])


def _look(title: str, noun: str, look: Mapping[str, Any]) -> Look:
    if not look["tried"]:
        _, tone, icon = MARKS["not_possible"]
        return Look(title, f"{counted(look['of'], noun)}: too many to test", tone, icon, (), 0)
    if look["flips"] and all(each["too_few"] for flip in look["flips"] for each in flip["changes"]):
        _, tone, icon = MARKS["not_possible"]
        text = f"Too few {noun}s to test this"
        return Look(title, text, tone, icon, (), 0)
    _, tone, icon = MARKS["warn" if look["flipping"] else "pass"]
    flips = tuple(
        Flip(
            f"Without {noun} {flip['without']}",
            tuple(
                change_text(each) + (", too few left" if each["too_few"] else "")
                for each in flip["changes"]
            ),
        )
        for flip in look["flips"][:MOST_LINES]
    )
    tried = f"{look['flipping']} of {counted(look['tried'], noun)} would change something"
    return Look(title, tried, tone, icon, flips, look["flipping"] - len(flips))
