"""The answer of a campaign of levels, and its further statements. Pure."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from campaigns.findings.values import (
    Answer,
    Best,
    BestOverall,
    LevelGroup,
    LevelRow,
    LevelsFinding,
)
from campaigns.findings.wording.answer_text import (
    MOST_FACTS,
    AnswerText,
    Fact,
    Statement,
    capitalised,
    first_short,
)
from campaigns.findings.wording.at_loads import loads_text
from campaigns.findings.wording.best_set import OF_THOSE, Ranked, all_alike
from campaigns.findings.wording.cells import centre_of, in_prose, names_of
from campaigns.findings.wording.drift import meanwhile
from campaigns.findings.wording.two_sides import certainty_of_two, verdict_of_two
from campaigns.findings.wording.verdicts import (
    Display,
    change_in_words,
    comparative,
    label_of,
    row_advice,
    size_in_words,
    smaller_side,
    superlative,
    with_interval,
)
from campaigns.kit.charts.labels import level_text, words_of
from campaigns.kit.numbers import (
    amount,
    bracketed,
    change,
    counted,
    in_times,
    number,
    points,
    ratio_of,
    share,
    times,
    with_times,
    without_sign,
)
from campaigns.kit.units import is_share
from campaigns.stats.verdict import Word

SHOWN = (Word.BETTER, Word.WORSE, Word.EQUIVALENT)
MOST_EXCEPTED = 2
"""Steps that are not shown, and named."""


def answer_of_levels(answer: Answer, levels: LevelsFinding) -> AnswerText:
    """Compose badges and statements, and sentence, tone and facts where a cell can be best.

    The sentence is empty where none can be.
    """
    writer = _Writer(answer, levels)
    groups = [(group, group.best) for group in levels.groups if group.best]
    return AnswerText(
        sentence=writer.headline(),
        tone="info",
        certainty=first_short(writer.certainty()),
        badges=writer.badges(),
        facts=writer.facts(groups) if groups else [],
        statements=writer.statements(),
    )


GroupWithBest = tuple[LevelGroup, Best]


class _Writer:
    """Writes the sentences of the findings of levels."""

    def __init__(self, answer: Answer, levels: LevelsFinding) -> None:
        self.levels = levels
        self.meanwhile = meanwhile(levels)
        self.factor = words_of(levels.factor)
        self.names = names_of(answer.cells)
        self.by_cell = {cell.cell: cell for cell in answer.cells}
        self.several = len(levels.groups) > 1

    def headline(self) -> str:
        """Return which setting is the best, or which may be; empty where none can be ranked."""
        groups = [(group, group.best) for group in self.levels.groups if group.best]
        if overall := self.levels.overall:
            return self._of_all(overall)
        if not groups:
            return ""
        return self.best(*groups[0]) if not self.several else self._of_several(groups)

    def _of_all(self, overall: Sequence[BestOverall]) -> str:
        """Return the best cell over all factors, for each work where there are several."""
        if len(overall) == 1:
            return self._cells().sentence(overall[0].best)
        works = " and ".join(map(words_of, overall[0].levels))
        cells = self._cells(overall[0].levels)
        parts = [
            (", ".join(map(level_text, each.levels.values())), cells.brief(each.best))
            for each in overall
        ]
        passing = OF_THOSE if any(each.best.failing for each in overall) else ""
        text = f"{passing}the {superlative(self.levels)} setting for each {works}{self.meanwhile}"
        differs = f"which setting is the {superlative(self.levels)} is told for {len(parts)} kinds of work below"
        return first_short(_listed(text, [f"{where}: {who}" for where, who in parts], differs))

    def _of_several(self, groups: Sequence[GroupWithBest]) -> str:
        """Return the best level where the other factors are held fixed, in each of several combinations."""
        most, count = superlative(self.levels), len(self.levels.groups)
        passing = OF_THOSE if any(best.failing for _, best in groups) else ""
        winners = {
            None if best.winner is None else self._level(group, best.winner)
            for group, best in groups
        }
        at = "loads" if self.levels.loads else "combinations of the other factors"
        everywhere = f"in {'both' if count == 2 else f'all {count}'} {at}{self.meanwhile}."
        if len(winners) == 1 and None not in winners and len(groups) == count:
            text = f"{self.factor} {winners.pop()} is the {most} {everywhere}"
            return capitalised(f"{passing}{text}")
        if all(all_alike(best) for _, best in groups) and len(groups) == count:
            within = size_in_words(self.levels, self.levels.margin_pct)
            text = f"all levels of {self.factor} are equivalent within {within} {everywhere}"
            return capitalised(f"{passing}{text}")
        if all(_shows_none(best) for _, best in groups) and len(groups) == count:
            return f"No setting is shown to be the {most} in any of {count} combinations."
        parts = [
            f"{self._levels_of(group).brief(best)} ({self._where(group).removesuffix(': ')})"
            for group, best in groups
        ]
        unjudged = count - len(groups)
        rest = f"; {counted(unjudged, 'combination')} cannot be judged" if unjudged else ""
        text = f"{passing}the {most} {self.factor}{self.meanwhile}"
        differs = f"which level of {self.factor} is the {most} differs between {count} combinations of the other factors"
        return first_short(_listed(text, parts, differs, rest))

    def best(self, group: LevelGroup, best: Best) -> str:
        """Return which level of one group is the best, or which may be; of two levels how they compare."""
        if self._are_two(group, best):
            return self._of_two(group, group.comparisons[0])
        return self._levels_of(group).sentence(best, self._where(group))

    def _are_two(self, group: LevelGroup, best: Best) -> bool:
        """Return whether the answer is how two levels compare, since there are no others."""
        two = len(group.cells) == 2 and len(group.comparisons) == 1
        return two and not best.failing and not best.unknown

    def _of_two(self, group: LevelGroup, row: LevelRow) -> str:
        sides = (
            f"{self.factor} {self._level(group, row.candidate)}",
            self._level(group, row.baseline),
        )
        at = self._where(group).removesuffix(": ")
        where = f" {'' if at.startswith('at ') else 'at '}{at}" if at else ""
        means = self._centre(row.baseline), self._centre(row.candidate)
        briefly = " at one combination of the others" if where else ""
        verdict = row.comparison.verdict
        texts = verdict_of_two(self.levels, verdict, sides, where, briefly, means)
        return first_short(map(capitalised, texts))

    def certainty(self) -> Iterator[str]:
        """Return which steps are shown, of how many runs, and what would decide, as texts that say ever less."""
        rows = [(group, row) for group in self.levels.groups for row in group.comparisons]
        measured = self._measured()
        if len(rows) == 1:
            (_, row) = rows[0]
            advice = row_advice(self.levels, row, meanwhile=False)
            verdict = row.comparison.verdict
            advice = "" if verdict.word == Word.NO_DIFFERENCE_SHOWN else advice
            yield from certainty_of_two(self.levels, verdict, measured, advice)
            return
        advice = self._what_would_decide([row for _, row in rows])
        for text in self._steps(rows):
            yield from (f"{text}; {measured}. {advice}".strip(), f"{text}; {measured}.")
        yield f"{measured}."

    def _steps(self, rows: Sequence[tuple[LevelGroup, LevelRow]]) -> Iterator[str]:
        """Write which comparisons are shown: “each step is shown but 10 → 15”."""
        noun = "step" if all(group.numeric for group, _ in rows) else "comparison"
        bests = [group.best for group in self.levels.groups if group.best]
        if len(bests) == 1 and bests[0].failing:  # no step to one that fails is judged
            if bests[0].winner is not None:
                yield f"Each other one that passes {comparative(self.levels, Word.WORSE)} (95 %)"
            return
        words = [row.comparison.verdict.word for _, row in rows]
        if not rows:
            words, noun = [pair.word for pair in self.levels.pairs], "comparison"
        shown = sum(word in SHOWN for word in words)
        if not words:
            return
        if shown == len(words):
            yield f"Each {noun} is shown" if shown > 1 else f"The {noun} is shown"
        elif rows and not self.several and shown and len(words) - shown <= MOST_EXCEPTED:
            other = [
                f"{self._level(group, row.baseline)} → {self._level(group, row.candidate)}"
                for group, row in rows
                if row.comparison.verdict.word not in SHOWN
            ]
            yield f"Each {noun} is shown but {' and '.join(other)}"
        yield f"{shown} of {counted(len(words), noun)} {'is' if len(words) == 1 else 'are'} shown"

    def _what_would_decide(self, rows: Sequence[LevelRow]) -> str:
        """Return the advice on the comparison that takes most, where no setting is shown to be the best."""
        bests = [each.best for each in self.levels.overall]
        bests = bests or [group.best for group in self.levels.groups if group.best]
        undecided = [row for row in rows if row.comparison.verdict.word == Word.NOT_ENOUGH_DATA]
        if not undecided or all(best.winner is not None for best in bests):
            return ""
        most = max(undecided, key=lambda row: row.comparison.verdict.more or 0)
        return row_advice(self.levels, most, meanwhile=False)

    def _measured(self) -> str:
        """Write what was measured: “18 runs, level after level”."""
        runs = counted(sum(cell.summary.n_ok for cell in self.by_cell.values()), "run")
        if self.levels.drift:
            return f"{runs}, level after level"
        if self.levels.between:
            return f"{runs}, between {counted(self.levels.sessions, 'session')}"
        if self.levels.sessions > 1:
            return f"{runs}, {counted(self.levels.sessions, 'session')}"
        return f"{runs}, one session"

    def _levels_of(self, group: LevelGroup) -> Ranked:
        values = dict(zip(group.cells, group.values, strict=True))
        return Ranked(
            self.levels,
            self.by_cell,
            lambda cell: self._level(group, cell),
            f"{self.factor} ",
            lambda cell: values[cell] if group.numeric else None,
        )

    def _cells(self, without: Collection[str] = ()) -> Ranked:
        names = in_prose([*self.by_cell.values()], without)
        return Ranked(self.levels, self.by_cell, names.__getitem__, "", lambda cell: None)

    def nearly_as_good(self, group: LevelGroup, best: Best) -> str:
        """Return the first setting that is shown to be nearly as good as the best, whichever that is."""
        if best.unknown:
            return ""
        delta = size_in_words(self.levels, self.levels.delta_pct)
        cell = best.recommended(self.levels.delta_pct)
        if cell is None:
            return f"no setting is shown to be within {delta} of the best."
        if cell == best.winner:
            return ""
        return f"{self.factor} {self._level(group, cell)} is within {delta} of the best with 95 % confidence."

    def knee(self, group: LevelGroup) -> str:
        """Return where the curve bends, and how certain that is."""
        uncertainty = group.knee.uncertainty if group.knee else None
        if not self._has_knee(group) or uncertainty is None:
            return "diminishing returns, without a distinct knee."
        likeliest = max(uncertainty.between, key=lambda each: each.share)
        often = f"between {number(likeliest.low)} and {number(likeliest.high)} "
        where = bracketed(*uncertainty.interval, group.values)
        most = ""
        if not where.startswith(often):
            most = f", most often {often}({share(likeliest.share, 0)})"
        return f"the knee lies {where}{most}."

    def badges(self) -> list[Display]:
        """Return how many comparisons have which verdict."""
        words: dict[Word, int] = {}
        rows = [row for group in self.levels.groups for row in group.comparisons]
        for row in rows:
            word = row.comparison.verdict.word
            words[word] = words.get(word, 0) + 1
        noun = "step" if all(group.numeric for group in self.levels.groups) else "comparison"
        labels = [(label_of(self.levels, word), count) for word, count in words.items()]
        return [
            replace(label, word=f"{label.word}: {count} of {counted(len(rows), noun)}")
            for label, count in labels
        ]

    def facts(self, groups: Sequence[GroupWithBest]) -> list[Fact]:
        """Return the best value, and the cost of the cheaper settings."""
        shown: list[tuple[LevelGroup | None, Best]] = [
            (None, each.best) for each in self.levels.overall
        ]
        shown = shown or [*groups]
        return [
            self._fact(group, best, *row)
            for group, best in shown[:MOST_FACTS]
            for row in sorted(
                zip(best.cells, best.cost_pct, best.upper_pct, strict=True),
                key=lambda row: row[1],
            )[: MOST_FACTS if len(shown) == 1 else 1]
        ][:MOST_FACTS]

    def _fact(
        self, group: LevelGroup | None, best: Best, cell: int, cost: float, upper: float
    ) -> Fact:
        """Return the value of the best, and the cost of another cell.

        Of a rate it is the value alone, since “+80 %” reads as a gain there.
        """
        label = self._setting(group, cell) if group else self.names[cell]
        value = amount(self._centre(cell), self.levels.unit)
        if cell == best.winner:
            return Fact(label, value, f"the {superlative(self.levels)}")
        if cell == best.seen:
            return Fact(label, value, f"may be the {superlative(self.levels)}")
        if is_share(self.levels.unit):
            shown = points(cost if self.levels.lower_is_better else -cost)
            return Fact(label, shown, f"{value}; up to {points(upper).lstrip('+')} (95 %)")
        most = without_sign(upper)
        if in_times(upper):
            most = with_times(times(ratio_of(upper)))
        if self.levels.lower_is_better:
            worse = "" if in_times(upper) else f" {label_of(self.levels, Word.WORSE).word}"
            shown = change_in_words(self.levels, cost)
            return Fact(label, shown, f"{value}; {_up_to(most)}{worse} (95 %)")
        above = f"{without_sign(cost)} above it"
        if in_times(cost):
            above = f"{times(ratio_of(cost))} times as high"
        seen = self._setting(group, best.seen) if group else self.names[best.seen]
        return Fact(label, value, f"{seen} is {above}; the best {_up_to(most)} (95 %)")

    def statements(self) -> list[Statement]:
        """Return a sentence for each comparison, the knee and the edge."""
        result = []
        for group in self.levels.groups:
            where = self._lead(group)
            if self.several and group.best and not self._are_two(group, group.best):
                result.append(Statement("info", self.best(group, group.best)))
            if group.best and (text := self.nearly_as_good(group, group.best)):
                result.append(Statement("info", capitalised(f"{where}{text}")))
            result += [self._step(group, row) for row in group.comparisons]
            if group.knee:
                text = self.knee(group) + self._cost_of_knee(group)
                result.append(Statement("info", capitalised(f"{where}{text}")))
        return result + self._edges()

    def _edges(self) -> list[Statement]:
        """Return that the best may lie above the highest level; once if it is the same level in each of several groups."""
        levels = {
            self._lead(group): self._level(group, group.best.seen)
            for group in self.levels.groups
            if group.best and group.best.at_edge and group.best.winner == group.best.seen
        }
        what = f"the {superlative(self.levels)} may lie above"
        if len(levels) > 1 and len(set(levels.values())) == 1:
            (level,) = set(levels.values())
            where = f"in {len(levels)} of {len(self.levels.groups)} tables"
            text = f"{what} {level}, the highest level tested, {where}: measure higher ones, too."
            return [Statement("warn", capitalised(text))]
        return [
            Statement(
                "warn",
                capitalised(
                    f"{where}{what} {level}, the highest level tested: measure higher ones, too."
                ),
            )
            for where, level in levels.items()
        ]

    def _step(self, group: LevelGroup, row: LevelRow) -> Statement:
        verdict = row.comparison.verdict
        label = label_of(self.levels, verdict.word)
        pair = f"{self._level(group, row.candidate)} vs. {self._level(group, row.baseline)}"
        changed = ""
        if verdict.pct_change is not None:
            changed = f", {with_interval(self.levels, verdict.pct_change, verdict.ci_pct)}"
            means = (centre_of(self.by_cell[cell]) for cell in (row.baseline, row.candidate))
            changed += smaller_side(self.levels, verdict.word, *means)
        text = f"{pair}: {label.word}{changed}. {row_advice(self.levels, row)}".strip()
        return Statement(label.tone, f"{self._lead(group)}{text}")

    def _has_knee(self, group: LevelGroup) -> bool:
        knee = group.knee
        return bool(knee and knee.strength != "smooth" and knee.uncertainty)

    def _cost_of_knee(self, group: LevelGroup) -> str:
        """Return the cost of the level at the knee, since a knee is no recommendation."""
        best, at = group.best, group.knee.methods.consensus if group.knee else None
        if not best or at is None or not self._has_knee(group) or at not in group.values:
            return ""
        cell = group.cells[list(group.values).index(at)]
        if cell not in best.cells or cell == best.seen:
            return ""
        place = best.cells.index(cell)
        return (
            f" Staying at {number(at)}, where two of three methods put it, costs "
            f"{change(best.cost_pct[place])} compared with "
            f"{self._level(group, best.seen)} (up to {change(best.upper_pct[place])} with 95 % confidence)."
        )

    def _setting(self, group: LevelGroup, cell: int) -> str:
        return self.names[cell] if self.several else f"{self.factor} {self._level(group, cell)}"

    def _level(self, group: LevelGroup, cell: int) -> str:
        value = group.values[group.cells.index(cell)]
        return level_text(value)

    def _where(self, group: LevelGroup) -> str:
        if not self.several:
            return ""
        loads = self.levels.loads
        at = loads_text(group.levels, loads)
        levels = [
            f"{words_of(name)} {level_text(level)}"
            for name, level in group.levels.items()
            if name not in loads
        ]
        where = ", ".join([*([f"at {at}"] if at else []), *levels])
        return f"{where}: " if where else ""

    def _lead(self, group: LevelGroup) -> str:
        """Return where a group is, as the beginning of a sentence: “At 40 hosts: ”."""
        return capitalised(self._where(group))

    def _centre(self, cell: int) -> float:
        return centre_of(self.by_cell[cell]) or 0.0


def _shows_none(best: Best) -> bool:
    """Return whether nothing is known of the best one but that none is shown to be it."""
    return len(best.possibly) == len(best.cells) and not best.alike and not best.unknown


def _up_to(most: str) -> str:
    """Write an upper bound, which may be none: “up to 4.3 times”, “over a billion times”."""
    return most if most.startswith("over") else f"up to {most}"


def _listed(text: str, parts: Sequence[str], otherwise: str, rest: str = "") -> Iterator[str]:
    """Return the first of several texts, and how many more there are: of ever fewer, then what is said instead."""
    for most in range(min(MOST_FACTS, len(parts)), 0, -1):
        more = len(parts) - most
        and_more = f"; and {more} more" if more else ""
        yield capitalised(f"{text}: {'; '.join(parts[:most])}{and_more}{rest}.")
    yield capitalised(f"{otherwise}.")
