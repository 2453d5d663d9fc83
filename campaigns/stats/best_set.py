"""Which settings may be the best, by the verdicts of all pairs; who takes part, and who is unknown. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from campaigns.stats.compared import Comparisons
from campaigns.stats.comparison_cells import CellRuns, refusal_of_cell, too_many_failures
from campaigns.stats.criteria import Criteria
from campaigns.stats.family import unbeaten
from campaigns.stats.verdict import Word


@dataclass(frozen=True, slots=True)
class BestSet:
    """Settings by their places, in the order of the input.

    members: those that are compared; possibly: of these, those that no other is shown to be better than; alike: all pairs of these are
    equivalent. failing: too much failed in them, so that they win nothing. unknown: too little is known of them, so that one of them may
    be the best.
    """

    members: tuple[int, ...]
    possibly: tuple[int, ...]
    alike: bool
    failing: tuple[int, ...]
    unknown: tuple[int, ...]


def best_set(
    places: Sequence[int], cells: Sequence[CellRuns], compared: Comparisons, criteria: Criteria
) -> BestSet:
    """Return which of the settings at `places` of `cells` may be the best; `compared`: with the pairs of these."""
    failing = [place for place in places if too_many_failures(cells[place], criteria)]
    members = [
        place
        for place in places
        if place in compared.fitted
        and len(cells[place].values) >= criteria.minimum_n
        and not refusal_of_cell(cells[place], criteria)
    ]
    possibly = unbeaten(members, worse_pairs(compared))
    words = {
        compared.pairs[pair].word if pair in compared.pairs else None
        for pair in combinations(sorted(possibly), 2)
    }
    return BestSet(
        members=tuple(members),
        possibly=possibly,
        alike=words == {Word.EQUIVALENT},
        failing=tuple(failing),
        unknown=tuple(place for place in places if place not in {*failing, *members}),
    )


def worse_pairs(compared: Comparisons) -> set[tuple[int, int]]:
    """Return the pairs of a setting, and another one that is said to be better."""
    return {
        (one, other) if verdict.word == Word.BETTER else (other, one)
        for (one, other), verdict in compared.pairs.items()
        if verdict.word in (Word.BETTER, Word.WORSE)
    }
