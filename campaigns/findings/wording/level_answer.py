"""The answer of a campaign of levels, and its further statements. Pure."""

from collections.abc import Sequence
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
)
from campaigns.findings.wording.at_loads import loads_text
from campaigns.findings.wording.cells import FEWEST_RUNS, centre_of, names_of, value_of
from campaigns.findings.wording.drift import meanwhile
from campaigns.findings.wording.verdicts import (
    Display,
    change_in_words,
    label_of,
    row_advice,
    superlative,
    with_interval,
)
from campaigns.kit.charts.labels import level_text
from campaigns.kit.numbers import (
    amount,
    bracketed,
    change,
    counted,
    in_times,
    number,
    plain_percent,
    ratio_of,
    share,
    times,
    without_sign,
)
from campaigns.stats.verdict import Word


def answer_of_levels(answer: Answer, levels: LevelsFinding) -> AnswerText:
    """Compose badges and statements, and sentence, tone and facts where a cell can be best.

    The sentence is empty where none can be.
    """
    writer = _Writer(answer, levels)
    groups = [(group, group.best) for group in levels.groups if group.best]
    sentence, facts = "", []
    if groups:
        sentence = writer.best(*groups[0])
        if writer.several:
            sentence = writer.overall()
            if not writer.undecided:
                sentence += writer.best_of_several(groups)
        facts = writer.facts(groups)
    return AnswerText(
        sentence=sentence,
        tone="info",
        badges=writer.badges(),
        facts=facts,
        statements=writer.statements(),
    )


GroupWithBest = tuple[LevelGroup, Best]


class _Writer:
    """Writes the sentences of the findings of levels."""

    def __init__(self, answer: Answer, levels: LevelsFinding) -> None:
        self.levels = levels
        self.superlative = superlative(levels)
        self.meanwhile = meanwhile(levels)
        self.factor = levels.factor.replace("_", " ")
        self.names = names_of(answer.cells)
        self.by_cell = {cell.cell: cell for cell in answer.cells}
        self.several = len(levels.groups) > 1

    @property
    def undecided(self) -> bool:
        """Return whether each of the cells that are compared across factors could be the best of all."""
        bests = [each.best for each in self.levels.overall]
        return len(bests) == 1 and len(bests[0].possibly) == len(bests[0].cells)

    def overall(self) -> str:
        """Return the best cell of all, where several factors are compared; empty with one."""
        overall = self.levels.overall
        if not overall:
            return ""
        if len(overall) > 1:
            parts = [self._best_cell(each) for each in overall[:MOST_FACTS]]
            more = f"; and {len(overall) - MOST_FACTS} more" if len(overall) > MOST_FACTS else ""
            works = " and ".join(overall[0].levels)
            return f"The {self.superlative} setting for each {works}{self.meanwhile}: {'; '.join(parts)}{more}. "
        best = overall[0].best
        name, value = self.names[best.seen], self._value(best.seen)
        count = len(best.cells)
        if self.undecided:
            of = f"{count} settings"
            if count < len(self.by_cell):
                of += " that can be ranked"
            return (
                f"None of the {of} is shown to be the {self.superlative}: each could be. "
                f"{self.superlative.capitalize()} measured: {name} ({value})."
            )
        among, others = f"all {count} settings", "setting"
        if count < len(self.by_cell):
            among = f"the {count} settings that can be ranked"
            others = "of these"
        tail = f", and no other {others} could be the {self.superlative}"
        if rivals := [cell for cell in best.possibly if cell != best.seen]:
            names = "; ".join(self.names[cell] for cell in rivals[:MOST_FACTS])
            more = f" and {len(rivals) - MOST_FACTS} more" if len(rivals) > MOST_FACTS else ""
            tail = f"; no clear difference from: {names}{more}"
        return f"{capitalised(name)} is the {self.superlative} of {among} ({value}){self.meanwhile}{tail}. "

    def _best_cell(self, overall: BestOverall) -> str:
        best = overall.best
        rivals = len(best.possibly) - 1
        others = f", {rivals} more could be best" if rivals else ""
        return f"{self.names[best.seen]} ({self._value(best.seen)}{others})"

    def best_of_several(self, groups: Sequence[GroupWithBest]) -> str:
        """Return the best setting of each group in one sentence; the rest becomes statements."""
        if len(groups) == 1:
            return f"{self.best(*groups[0]).removesuffix('.')}{self._open(groups)}."
        bests = {self._level(group, best.seen) for group, best in groups}
        if len(bests) == 1:
            return self._same_everywhere(groups, bests.pop())
        parts = [
            f"{self._where(group)}{self._level(group, best.seen)} ({self._value(best.seen)})"
            for group, best in groups[:MOST_FACTS]
        ]
        more = len(groups) - MOST_FACTS
        rest = f"; and {more} more" if more > 0 else ""
        shared = self._shared(groups)
        same = "" if shared else " is not the same everywhere"
        return (
            f"The {self.superlative} {self.factor} measured{same}{self.meanwhile}: "
            f"{'; '.join(parts)}{rest}{shared}{self._open(groups)}{self._holes(groups)}."
        )

    def _same_everywhere(self, groups: Sequence[GroupWithBest], level: str) -> str:
        unit = self.levels.unit
        values = sorted(self._centre(best.seen) for _, best in groups)
        span = " to ".join(dict.fromkeys(amount(each, unit) for each in (values[0], values[-1])))
        last = ", and the highest tested" if all(best.at_edge for _, best in groups) else ""
        whole = all(len(best.cells) == len(group.cells) for group, best in groups)
        among = "setting measured" if whole else "setting that can be ranked"
        every = "both" if len(groups) == 2 else f"all {len(groups)}"
        return (
            f"{capitalised(self.factor)} {level} is the {self.superlative} {among} in {every} "
            f"combinations of the other factors ({span}){self.meanwhile}{last}{self._open(groups)}."
        )

    def _open(self, groups: Sequence[GroupWithBest]) -> str:
        """Return in how many groups the best is not decided, and how many cannot be judged."""
        undecided = sum(len(best.possibly) > 1 for _, best in groups)
        text = ""
        if undecided and len(groups) > 1:  # of a single one, its own sentence says so
            text = f"; in {undecided} of them another setting could be best"
        unjudged = len(self.levels.groups) - len(groups)
        return text + (
            f"; {counted(unjudged, 'more combination')} cannot be judged" if unjudged else ""
        )

    def _shared(self, groups: Sequence[GroupWithBest]) -> str:
        """Return that one level could be the best in all groups; empty where the data exclude that.

        A group does not exclude a level that it does not rank: it was not measured there, or
        failed there, or has too few runs.
        """
        ranked = [
            {self._level(group, cell): cell in best.possibly for cell in best.cells}
            for group, best in groups
        ]
        levels = dict.fromkeys(level for each in ranked for level in each)
        left = [level for level in levels if all(each.get(level, True) for each in ranked)]
        if not left:
            return ""
        everywhere = [level for level in left if all(level in each for each in ranked)]
        if everywhere:
            named = " or ".join(everywhere[:MOST_FACTS])
            return f"; {named} could be the {self.superlative} everywhere"
        named, verb = " and ".join(left[:MOST_FACTS]), "is" if len(left) == 1 else "are"
        return f"; a difference between them is not shown, since {named} {verb} not ranked in all of them"

    def best(self, group: LevelGroup, best: Best) -> str:
        """Return the best setting, whether it is the highest one, and the cheapest that is nearly as good."""
        name, among = self._setting(group, best.seen), "setting measured"
        if self.levels.loads:  # a load is where a setting is the best, and no part of it
            name = f"{self._where(group)}{self.factor} {self._level(group, best.seen)}"
        if len(best.cells) < len(group.cells):
            among = f"of the {len(best.cells)} settings that can be ranked"
        text = f"{capitalised(name)} is the {self.superlative} {among} ({self._value(best.seen)}){self.meanwhile}"
        if rivals := [cell for cell in best.possibly if cell != best.seen]:
            others = " or ".join(self._level(group, cell) for cell in rivals)
            text += f"; no clear difference from {others}"
        elif best.at_edge:
            text += ", and the highest tested"
        knee = f" {self.knee(group)}" if self._has_knee(group) else ""
        return f"{text}{self._nearly_as_good(group, best)}{self._not_ranked(group)}.{knee}"

    def _nearly_as_good(self, group: LevelGroup, best: Best) -> str:
        delta = plain_percent(self.levels.delta_pct)
        rows = zip(best.cells, best.upper_pct, strict=True)
        cell = next((cell for cell, upper in rows if upper <= self.levels.delta_pct), None)
        if cell is None:
            return f"; no setting is demonstrably within {delta} of the best"
        if cell != best.seen:
            return (
                f"; {self._level(group, cell)} is within {delta} of the best with 95 % confidence"
            )
        if best.cells.index(cell) == 0:
            return ""
        others = "no lower setting" if group.numeric else "no setting listed before it"
        return f"; {others} is demonstrably within {delta}"

    def _not_ranked(self, group: LevelGroup) -> str:
        """Return the settings that have too few runs to be ranked."""
        if not group.few:
            return ""
        levels = ", ".join(self._level(group, cell) for cell in group.few)
        have = "has" if len(group.few) == 1 else "have"
        return f"; {levels} {have} fewer than {FEWEST_RUNS} runs, so no rank"

    def knee(self, group: LevelGroup) -> str:
        """Return where the curve bends, and how certain that is."""
        uncertainty = group.knee.uncertainty if group.knee else None
        if not self._has_knee(group) or uncertainty is None:
            return "Diminishing returns, without a distinct knee."
        likeliest = max(uncertainty.between, key=lambda each: each.share)
        often = f"between {number(likeliest.low)} and {number(likeliest.high)} "
        where = bracketed(*uncertainty.interval, group.values)
        most = ""
        if not where.startswith(often):
            most = f", most often {often}({share(likeliest.share, 0)})"
        return f"The knee lies {where}{most}."

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
        if cell == best.seen:
            return Fact(label, value, "best measured" if group else "best of all")
        most = without_sign(upper)
        if in_times(cost, upper):
            most = f"{times(ratio_of(upper))} times"
        if self.levels.lower_is_better:
            worse = "" if in_times(cost, upper) else f" {label_of(self.levels, Word.WORSE).word}"
            shown = change_in_words(self.levels, cost, (0.0, upper))
            return Fact(label, shown, f"{value}; up to {most}{worse} (95 %)")
        above = f"{without_sign(cost)} above it"
        if in_times(cost, upper):
            above = f"{times(ratio_of(cost))} times as high"
        return Fact(label, value, f"the best is {above}; up to {most} (95 %)")

    def statements(self) -> list[Statement]:
        """Return a sentence for each comparison, the knee and the edge."""
        result = []
        for group in self.levels.groups:
            where = self._lead(group)
            if self.several and group.best:
                result.append(Statement("info", self.best(group, group.best)))
            result += [self._step(group, row) for row in group.comparisons]
            if group.knee:
                text = self.knee(group) + self._cost_of_knee(group)
                result.append(Statement("info", f"{where}{text}"))
            if group.best and group.best.at_edge:
                level = self._level(group, group.best.seen)
                text = f"The best is the highest level tested, {level}: measure higher ones, too."
                result.append(Statement("warn", f"{where}{text}"))
        return result

    def _step(self, group: LevelGroup, row: LevelRow) -> Statement:
        verdict = row.comparison.verdict
        label = label_of(self.levels, verdict.word)
        pair = f"{self._level(group, row.candidate)} vs. {self._level(group, row.baseline)}"
        changed = ""
        if verdict.pct_change is not None:
            changed = f", {with_interval(self.levels, verdict.pct_change, verdict.ci_pct)}"
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
            f"{change(best.cost_pct[place], best.upper_pct[place : place + 1])} compared with "
            f"{self._level(group, best.seen)} (up to {change(best.upper_pct[place])} with 95 % confidence)."
        )

    def _holes(self, groups: Sequence[GroupWithBest]) -> str:
        """Return whether the groups have different levels, so that their best ones had different competitors."""
        held = {tuple(map(str, group.values)) for group, _ in groups}
        return "" if len(held) == 1 else "; not every level was measured everywhere"

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
            f"{name} {level_text(level)}"
            for name, level in group.levels.items()
            if name not in loads
        ]
        where = ", ".join([*([f"at {at}"] if at else []), *levels])
        return f"{where}: " if where else ""

    def _lead(self, group: LevelGroup) -> str:
        """Return where a group is, as the beginning of a sentence: “At 40 hosts: ”."""
        where = self._where(group)
        return capitalised(where) if self.levels.loads else where

    def _value(self, cell: int) -> str:
        return value_of(self.by_cell[cell], self.levels.unit)

    def _centre(self, cell: int) -> float:
        return centre_of(self.by_cell[cell]) or 0.0
