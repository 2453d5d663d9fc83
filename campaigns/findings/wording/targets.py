"""What is said of several targets: what else differs between them, and how far each took part. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from campaigns.findings.values import (
    FactOnBoth,
    QuietMeanwhile,
    TargetPair,
    TargetPart,
    TargetsTold,
)
from campaigns.kit.numbers import counted

MOST_FACTS = 6
MOST_PAIRS = 3
MOST_LETTERS = 80
NOT_RECORDED = "not recorded"


def targets_texts(told: TargetsTold) -> list[str]:
    """Return the caveats of the answer: who is left out, what else differs, who shares a machine."""
    texts = [part_text(part) for part in told.targets if part.out or part.took_part < part.blocks]
    texts += [
        f"{pair.baseline} / {pair.candidate}: {pair_text(pair)}."
        for pair in told.pairs[:MOST_PAIRS]
    ]
    if len(told.pairs) > MOST_PAIRS:
        texts.append("What else differs between the other targets is in the table of targets.")
    return [*texts, *_beside(told)]


@dataclass(frozen=True, slots=True)
class TargetTable:
    """The panel of targets: level, blocks, environments and note of each; pairs with what else differs."""

    lines: Sequence[tuple[str, str, int, str]]
    pairs: Sequence[tuple[str, int, str]]
    shared: Sequence[str]


def target_table(told: TargetsTold) -> TargetTable:
    """Return the panel of targets, with every pair."""
    return TargetTable(
        lines=[
            (
                part.level,
                f"{part.took_part} of {part.blocks}",
                part.sessions,
                f"out: {part.out}" if part.out else "",
            )
            for part in told.targets
        ],
        pairs=[
            (f"{pair.baseline} / {pair.candidate}", pair.together, pair_text(pair))
            for pair in told.pairs
        ],
        shared=[*_beside(told)],
    )


def part_text(part: TargetPart) -> str:
    """Return how far a target took part, and why not to the end."""
    text = f"{part.level} took part in {part.took_part} of {counted(part.blocks, 'block')}"
    return f"{text}: {_value(part.out).rstrip('.')}." if part.out else f"{text}."


def pair_text(pair: TargetPair) -> str:
    """Return the facts that differ between two targets, both values of each; hardware first."""
    return differing_text(pair.differs)


def differing_text(differs: Sequence[FactOnBoth], *, turned: bool = False) -> str:
    """Return facts with both values, the first few of them. turned: the value of the candidate comes first."""
    if not differs:
        return "no recorded fact differs; unrecorded ones may"
    facts = []
    for fact in differs[:MOST_FACTS]:
        if not fact.baseline and not fact.candidate:  # values that a public report does not show
            facts.append(fact.name)
            continue
        both = [_value(fact.baseline), _value(fact.candidate)]
        facts.append(f"{fact.name} {' / '.join(reversed(both) if turned else both)}")
    if len(differs) > MOST_FACTS:
        facts.append(f"and {counted(len(differs) - MOST_FACTS, 'more fact')}")
    return f"also differs: {', '.join(facts)}"


def also_differs(told: TargetsTold | None, factor: str, baseline: Any, candidate: Any) -> str:
    """Return what else differs between the targets of a comparison, baseline first; empty where it is of one target."""
    if told is None or factor != told.factor:
        return ""
    for pair in told.pairs:
        if (pair.baseline, pair.candidate) == (baseline, candidate):
            return differing_text(pair.differs)
        if (pair.candidate, pair.baseline) == (baseline, candidate):
            return differing_text(pair.differs, turned=True)
    return ""


def shared_texts(
    shared: Sequence[Sequence[str]], quiet: Sequence[QuietMeanwhile] = ()
) -> list[str]:
    """Return a sentence for each machine that several targets run on. quiet: those that were asked."""
    proved = {each.level for each in quiet if not each.unproved}
    return [
        f"{listed(names)} run on one machine: they were never loaded at once, "
        + (
            "and the idle one was quiet before each run."
            if proved.issuperset(names)
            else "yet an idle one may have taken part of it."
        )
        for names in shared
    ]


def quiet_texts(quiet: Sequence[QuietMeanwhile]) -> list[str]:
    """Return a sentence for each target that was not proved to be quiet before each run on another."""
    return [
        f"That {each.level} was quiet is not proved before {each.unproved} of {counted(each.of, 'run')} on "
        f"other targets{f' ({_value(each.why)})' if each.why else ''}."
        for each in quiet
        if each.unproved
    ]


def _beside(told: TargetsTold) -> list[str]:
    return [*shared_texts(told.shared, told.quiet), *quiet_texts(told.quiet)]


def listed(names: Sequence[str]) -> str:
    """Return names with commas, and “and” before the last."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _value(text: str) -> str:
    if not text:
        return NOT_RECORDED
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1]}…"
