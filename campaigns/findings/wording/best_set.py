"""Which settings may be the best, in one sentence. Pure.

The only place that writes a superlative: it reads the verdicts of all pairs of settings (`values.Best.possibly`).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from campaigns.findings.values import Best, LevelsFinding, SummarisedCell
from campaigns.findings.wording.answer_text import capitalised, first_short
from campaigns.findings.wording.cells import FEWEST_RUNS, NO_LOG
from campaigns.findings.wording.drift import meanwhile
from campaigns.findings.wording.starved import kept_waiting
from campaigns.findings.wording.verdicts import comparative, cost_text, size_in_words, superlative
from campaigns.kit.numbers import counted, is_number
from campaigns.kit.units import is_share
from campaigns.stats.criteria import Criteria
from campaigns.stats.verdict import Word

MOST_NAMED = 3
OF_THOSE = "of those that pass, "
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

        where: what stands before it, as “at 40 hosts: ”. Of texts that say ever less it is the first that is short enough.
        """
        return first_short(f"{capitalised(where + text)}." for text in self._told(best))

    def _told(self, best: Best) -> Iterator[str]:
        most = superlative(self.levels)
        if best.unknown:
            first, count = best.unknown[0], len(best.unknown)
            why = why_unknown(self.cells[first], self.levels.unit)
            cannot = f"no setting is called the {most}: {self.factor}{self.name(first)} cannot be judged ({why})"
            if count > 1:
                yield f"{cannot}, nor can {counted(count - 1, 'other')}"
            yield cannot
            yield f"no setting is called the {most}: {count} of {count + len(best.cells)} cannot be judged ({why})"
        elif best.winner is not None:
            text = f"{self.factor}{self.name(best.winner)} is the {most}"
            failing = self._failing(best.failing)
            for costs, beside in ((2, failing), (1, failing), (0, failing), (0, "")):
                parts = ", ".join(filter(None, [*self._costs(best, best.winner, costs), beside]))
                yield f"{self._of_those(best, text)}{f'; {parts}' if parts else ''}"
            yield self._of_those(best, f"one of {len(best.cells)} settings is the {most}")
        elif best.alike or len(best.possibly) < len(best.cells):
            joined, said = "or", f"may be the {most}"
            if best.alike:
                margin = size_in_words(self.levels, self.levels.margin_pct)
                joined, said = "and", f"are equivalent within {margin}"
            for who in self._subjects(best, joined):
                text = self._of_those(best, f"{who} {said}")
                yield f"{text}{self._slower(best, self._failing(best.failing))}"
            yield f"{text}{self._slower(best)}"
            yield text
        else:
            text = f"{OF_THOSE if best.failing else ''}no setting is shown to be the {most}"
            if best.failing:
                yield f"{text}; {self._failing(best.failing)}"
            yield text

    def brief(self, best: Best) -> str:
        """Return in few words which of them may be the best: “20”, “15 or 20”, “one of 4”, “not judged”, “none shown”."""
        if best.unknown:
            return "not judged"
        if all_alike(best):
            return f"all equivalent within {size_in_words(self.levels, self.levels.margin_pct)}"
        if len(best.possibly) == len(best.cells):
            return "none shown"
        if len(best.possibly) > MOST_NAMED:
            return f"one of {len(best.possibly)}"
        return self._some(best.possibly, "or")

    def _subjects(self, best: Best, joined: str) -> Iterator[str]:
        """Return the settings that may be the best by their names, where they are few, and by their number."""
        count, of = len(best.possibly), len(best.cells)
        if count <= MOST_NAMED:
            yield f"{self.factor}{self._some(best.possibly, joined)}"
        elif self._is_range(best):
            yield f"{self.factor}{self.name(best.possibly[0])} to {self.name(best.possibly[-1])}"
        if count == of:
            yield "both settings" if of == 2 else f"all {of} settings"
        else:
            yield f"{count} of {of} settings"

    def _is_range(self, best: Best) -> bool:
        """Return whether those that may be the best are neighbouring numbers, and not all of them."""
        first, count = list(best.cells).index(best.possibly[0]), len(best.possibly)
        neighbours = list(best.cells)[first : first + count] == list(best.possibly)
        return neighbours and count < len(best.cells) and is_number(self.value(best.possibly[0]))

    def _of_those(self, best: Best, text: str) -> str:
        text += meanwhile(self.levels)
        return f"{OF_THOSE}{text}" if best.failing else text

    def _failing(self, cells: Sequence[int]) -> str:
        """Return which settings are not ranked since too much failed, or ran into its time limit."""
        if not cells:
            return ""
        if len(cells) > 1:
            return f"{len(cells)} fail too often"
        timed_out = self.cells[cells[0]].summary.n_censored
        return f"{self.name(cells[0])} {'timed out' if timed_out else 'fails too often'}"

    def _costs(self, best: Best, winner: int, most: int) -> list[str]:
        """Return how much the next and the last cost, of those that are shown to; no more than `most`."""
        costs = sorted(
            (cost, cell)
            for cell, cost in zip(best.cells, best.cost_pct, strict=True)
            if cell != winner and winner == best.seen
        )
        shown = [*dict.fromkeys((costs[0], costs[-1]))][:most] if costs else ()
        return [f"{self.name(cell)} {cost_text(self.levels, cost)}" for cost, cell in shown]

    def _slower(self, best: Best, failing: str = "") -> str:
        """Write which are shown to be worse, and which fail, after those that may be the best."""
        others = [cell for cell in best.cells if cell not in best.possibly]
        if not others:
            return f"; {failing}" if failing else ""
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
        worse = f"{which} {comparative(self.levels, Word.WORSE, many=many)}"
        return f"; {', '.join(filter(None, (worse, failing)))}"

    def _some(self, cells: Sequence[int], joined: str) -> str:
        names = [self.name(cell) for cell in cells]
        return f" {joined} ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def all_alike(best: Best) -> bool:
    """Return whether all settings that are ranked are shown to be equivalent, and none is unknown."""
    return best.alike and not best.unknown and len(best.possibly) == len(best.cells)


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
