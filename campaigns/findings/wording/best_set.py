"""Which settings may be the best, in one sentence. Pure.

The only place that writes a superlative: it reads the verdicts of all pairs of settings (`values.Best.possibly`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from campaigns.findings.values import Best, LevelsFinding, SummarisedCell
from campaigns.findings.wording.answer_text import capitalised
from campaigns.findings.wording.cells import FEWEST_RUNS, NO_LOG
from campaigns.findings.wording.drift import meanwhile
from campaigns.findings.wording.starved import kept_waiting
from campaigns.findings.wording.verdicts import comparative, cost_text, size_in_words, superlative
from campaigns.kit.numbers import counted, is_number
from campaigns.kit.units import is_share
from campaigns.stats.criteria import Criteria
from campaigns.stats.verdict import Word

MOST_NAMED = 3
LOST_LIMIT = Criteria().lost_limit


@dataclass(frozen=True, slots=True)
class Ranked:
    """Settings of one kind as text. name: of a cell; factor: before the first name, as “download concurrency ”; may be empty.

    value: the level of a cell, where cells are levels of one factor in ascending order; else None.
    """

    levels: LevelsFinding
    cells: dict[int, SummarisedCell]
    name: Callable[[int], str]
    factor: str
    value: Callable[[int], object]

    def sentence(self, best: Best, where: str = "") -> str:
        """Return which of them is the fastest, or may be; why none is called so where one cannot be judged.

        where: what stands before it, as “at 40 hosts: ”.
        """
        return f"{capitalised(where + self._told(best))}."

    def _told(self, best: Best) -> str:
        most = superlative(self.levels)
        if best.unknown:
            return f"no setting is called the {most}: {self.factor}{self._unknown(best.unknown)}"
        if best.winner is not None:
            text = f"{self.factor}{self.name(best.winner)} is the {most}"
            return f"{self._of_those(best, text)}{self._costs(best, best.winner)}"
        others = [cell for cell in best.cells if cell not in best.possibly]
        if best.alike:
            margin = size_in_words(self.levels, self.levels.margin_pct)
            text = f"{self.factor}{self._some(best.possibly, 'and')} are equivalent within {margin}"
        elif others:
            text = f"{self.factor}{self._some(best.possibly, 'or')} may be the {most}"
        else:
            return f"{'of those that pass, ' if best.failing else ''}no setting is shown to be the {most}"
        return f"{self._of_those(best, text)}{self._slower(best, others)}"

    def brief(self, best: Best) -> str:
        """Return in few words which of them may be the best: “20”, “15 or 20”, “none shown”."""
        if best.unknown or len(best.possibly) == len(best.cells):
            return "none shown"
        return self._some(best.possibly, "or")

    def _of_those(self, best: Best, text: str) -> str:
        text += meanwhile(self.levels)
        return f"of those that pass, {text}" if best.failing else text

    def _costs(self, best: Best, winner: int) -> str:
        """Return how much the next and the last cost, of those that are shown to."""
        costs = sorted(
            (cost, cell)
            for cell, cost in zip(best.cells, best.cost_pct, strict=True)
            if cell != winner and winner == best.seen
        )
        shown = dict.fromkeys((costs[0], costs[-1])) if costs else ()
        parts = [f"{self.name(cell)} {cost_text(self.levels, cost)}" for cost, cell in shown]
        return f"; {', '.join(parts)}" if parts else ""

    def _slower(self, best: Best, others: Sequence[int]) -> str:
        if not others:
            return ""
        numbers = [value for cell in best.cells if is_number(value := self.value(cell))]
        inner = [value for cell in best.possibly if is_number(value := self.value(cell))]
        outer = [value for cell in others if is_number(value := self.value(cell))]
        which, many = "the others", len(others) > 1
        if len(others) == 1:
            which = self.name(others[0])
        elif len(numbers) == len(best.cells) and max(outer) < min(inner):
            which = f"{self.name(others[-1])} and below"
        elif len(numbers) == len(best.cells) and min(outer) > max(inner):
            which = f"{self.name(others[0])} and above"
        return f"; {which} {comparative(self.levels, Word.WORSE, many=many)}"

    def _unknown(self, cells: Sequence[int]) -> str:
        first = cells[0]
        more = f", nor {counted(len(cells) - 1, 'other')}" if len(cells) > 1 else ""
        return f"{self.name(first)} cannot be judged{more} ({why_unknown(self.cells[first], self.levels.unit)})"

    def _some(self, cells: Sequence[int], joined: str) -> str:
        names = [self.name(cell) for cell in cells[:MOST_NAMED]]
        more = len(cells) - len(names)
        if more:
            return f"{', '.join(names)} and {more} more"
        return f" {joined} ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def why_unknown(cell: SummarisedCell, unit: str) -> str:
    """Return why nothing can be said of a cell; empty where nothing is in the way."""
    summary = cell.summary
    runs = summary.n_ok + summary.n_failed + summary.n_lost
    if not is_share(unit) and any(flag in NO_LOG for flag in summary.flags):
        return "a value is zero or below"
    if runs and summary.n_lost / runs > LOST_LIMIT:
        were = "was" if summary.n_lost == 1 else "were"
        if cell.counts.starved > LOST_LIMIT * runs:
            return kept_waiting(cell.counts.starved, runs)
        if summary.n_saturated == summary.n_lost:
            return f"the load generator was saturated in {summary.n_lost} of {counted(runs, 'run')}"
        return f"{summary.n_lost} of {counted(runs, 'run')} {were} lost"
    if summary.n_ok < FEWEST_RUNS:
        return f"it has {counted(summary.n_ok, 'run')}" if summary.n_ok else "it has no run"
    return ""
