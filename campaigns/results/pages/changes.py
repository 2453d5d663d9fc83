"""Describe changes of the environment within a campaign."""

from collections.abc import Iterable
from dataclasses import dataclass

from campaigns.models import EnvironmentFact
from campaigns.results.environment import Change, place_of

MOST_CHANGES = 3
"""The changes of one fact that are shown; further ones are counted."""


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """One change of a fact: both values, and the runs."""

    before: str
    after: str
    where: str


@dataclass(frozen=True, slots=True)
class ChangedFact:
    """A fact with its first changes. `more`: the number of further changes."""

    name: str
    side: str
    lines: tuple[ChangeLine, ...]
    more: int


def changed_facts(changes: Iterable[Change]) -> list[ChangedFact]:
    """Group the changes by fact, in their order."""
    by_fact: dict[tuple[str, str, str], list[Change]] = {}
    for change in changes:
        by_fact.setdefault((change.side, change.name, change.target), []).append(change)
    return [
        ChangedFact(
            name=name,
            side=place_of(EnvironmentFact.Side(side).label, target),
            lines=tuple(
                ChangeLine(change.before, change.after, _where(change))
                for change in result[:MOST_CHANGES]
            ),
            more=max(0, len(result) - MOST_CHANGES),
        )
        for (side, name, target), result in by_fact.items()
    ]


def _where(change: Change) -> str:
    if change.last_run_before == change.first_run_after:
        return f"during run {change.last_run_before}"
    return f"between run {change.last_run_before} and run {change.first_run_after}"
