"""The answer of a campaign of levels, and its further statements."""

from collections.abc import Mapping, Sequence
from typing import Any

from campaigns.findings.compute.verdict_labels import superlative
from campaigns.kinds.base import Metric
from campaigns.kit.charts.labels import short_labels
from campaigns.kit.numbers import amount, bracketed, counted, number, percent, share, span_pct

Finding = Mapping[str, Any]
MOST_FACTS, FEWEST_RUNS = 4, 3


def names_of(cells: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    """Return the levels of each cell as “concurrency 20, engine asyncio”; long levels are shortened."""
    levels: dict[str, list[str]] = {}
    for cell in cells:
        for factor, level in cell["levels"].items():
            levels.setdefault(factor, []).append(str(level))
    short = {factor: short_labels(texts) for factor, texts in levels.items()}
    return {
        cell["cell"]: ", ".join(
            f"{factor} {short[factor][str(level)]}" for factor, level in cell["levels"].items()
        )
        for cell in cells
    }


def answer_of_levels(metric: Metric, cells: Finding, levels: Finding) -> dict[str, Any]:
    """Compose badges and statements, and sentence, tone and facts where a cell can be best."""
    value = _Answer(metric, cells, levels)
    result: dict[str, Any] = {"badges": value.badges(), "statements": value.statements()}
    groups = [group for group in levels["groups"] if group["best"]]
    if groups:
        sentence = value.best(groups[0])
        if value.several:
            sentence = value.overall()
            if not value.undecided:
                sentence += value.best_of_several(groups)
        result |= {"sentence": sentence, "tone": "info", "facts": value.facts(groups)}
    return result


class _Answer:
    """Writes the sentences of the findings of levels."""

    def __init__(self, metric: Metric, cells: Finding, levels: Finding) -> None:
        self.metric, self.levels = metric, levels
        self.superlative = superlative(metric)
        self.factor = str(levels["factor"]).replace("_", " ")
        self.names = names_of(cells["cells"])
        self.by_cell = {cell["cell"]: cell for cell in cells["cells"]}
        self.several = len(levels["groups"]) > 1

    @property
    def undecided(self) -> bool:
        """Return whether each of the cells that are compared across factors may be the best of all."""
        bests = [match["best"] for match in self.levels["overall"]]
        return len(bests) == 1 and len(bests[0]["possibly"]) == len(bests[0]["cells"])

    def overall(self) -> str:
        """Return the best cell of all, where several factors are compared; empty with one."""
        result = self.levels["overall"]
        if not result:
            return ""
        if len(result) > 1:
            parts = [self._best_cell(each) for each in result[:MOST_FACTS]]
            more = f"; and {len(result) - MOST_FACTS} more" if len(result) > MOST_FACTS else ""
            works = " and ".join(result[0]["levels"])
            return f"The {self.superlative} setting for each {works}: {'; '.join(parts)}{more}. "
        best = result[0]["best"]
        name = self.names[best["seen"]]
        count = len(best["cells"])
        whole = count == len(self.by_cell)
        among = f"all {count} settings" if whole else f"the {count} settings that can be ranked"
        if self.undecided:
            of = among.removeprefix("all ").removeprefix("the ")
            return (
                f"None of the {of} is shown to be the {self.superlative}: each may be. "
                f"{self.superlative.capitalize()} measured: {name} ({self._value(best['seen'])})."
            )
        rivals = [cell for cell in best["possibly"] if cell != best["seen"]]
        tail = ", and no other setting is shown to be as good" if not rivals else ""
        if rivals:
            others = "; ".join(self.names[cell] for cell in rivals[:MOST_FACTS])
            more = f" and {len(rivals) - MOST_FACTS} more" if len(rivals) > MOST_FACTS else ""
            tail = f"; may be as good: {others}{more}"
        return (
            f"{name[:1].upper()}{name[1:]} is the {self.superlative} of {among} "
            f"({self._value(best['seen'])}){tail}. "
        )

    def _best_cell(self, finding: Finding) -> str:
        best = finding["best"]
        name, rivals = self.names[best["seen"]], len(best["possibly"]) - 1
        others = f", {rivals} more may be as good" if rivals else ""
        return f"{name} ({self._value(best['seen'])}{others})"

    def best_of_several(self, groups: Sequence[Finding]) -> str:
        """Return the best setting of each group in one sentence; the rest becomes statements."""
        levels = {self._level(group, group["best"]["seen"]) for group in groups}
        values = sorted(self._centre(group["best"]["seen"]) for group in groups)
        undecided = sum(len(group["best"]["possibly"]) > 1 for group in groups)
        tail = f"; in {undecided} of them others may be as good" if undecided else ""
        unjudged = len(self.levels["groups"]) - len(groups)
        tail += f"; {counted(unjudged, 'combination')} more cannot be judged" if unjudged else ""
        if len(groups) == 1:
            return f"{self.best(groups[0]).removesuffix('.')}{tail}."
        if len(levels) == 1:
            span = " to ".join(
                dict.fromkeys(amount(v, self.metric.unit) for v in (values[0], values[-1]))
            )
            edge = all(group["best"]["at_edge"] for group in groups)
            last = ", and the last one" if edge else ""
            whole = all(len(each["best"]["cells"]) == len(each["cells"]) for each in groups)
            among = "setting measured" if whole else "setting that can be ranked"
            every = "both" if len(groups) == 2 else f"all {len(groups)}"
            return (
                f"{self.factor[:1].upper()}{self.factor[1:]} {levels.pop()} is the {self.superlative} "
                f"{among} in {every} combinations of the other factors "
                f"({span}){last}{tail}."
            )
        parts = [
            f"{self._where(group).removesuffix(': ')}: {self._level(group, group['best']['seen'])} "
            f"({self._value(group['best']['seen'])})"
            for group in groups[:MOST_FACTS]
        ]
        more = len(groups) - MOST_FACTS
        rest = f"; and {more} more" if more > 0 else ""
        shared = self._shared(groups)
        same = "" if shared else " is not the same everywhere"
        return (
            f"The {self.superlative} {self.factor} measured{same}: "
            f"{'; '.join(parts)}{rest}{shared}{tail}{self._holes(groups)}."
        )

    def _shared(self, groups: Sequence[Finding]) -> str:
        """Return that one level may be the best in all groups; empty where the data exclude that.

        A group does not exclude a level that it does not rank: it was not measured there, or
        failed there, or has too few runs.
        """
        ranked = [
            {
                self._level(group, cell): cell in group["best"]["possibly"]
                for cell in group["best"]["cells"]
            }
            for group in groups
        ]
        levels = dict.fromkeys(level for each in ranked for level in each)
        left = [level for level in levels if all(each.get(level, True) for each in ranked)]
        if not left:
            return ""
        everywhere = [level for level in left if all(level in each for each in ranked)]
        if everywhere:
            return (
                f"; {' or '.join(everywhere[:MOST_FACTS])} may be the {self.superlative} everywhere"
            )
        return f"; a difference between them is not shown, since {' and '.join(left[:MOST_FACTS])} is not ranked in all of them"

    def best(self, group: Finding) -> str:
        """Return the best setting, whether it is the last one, and the cheapest that is nearly as good."""
        best, seen = group["best"], group["best"]["seen"]
        value = self._value(seen)
        name = self._setting(group, seen)
        among = "setting measured"
        if len(best["cells"]) < len(group["cells"]):
            among = f"of the {len(best['cells'])} settings that can be ranked"
        text = f"{name[:1].upper()}{name[1:]} is the {self.superlative} {among} ({value})"
        rivals = [cell for cell in best["possibly"] if cell != seen]
        if rivals:
            others = ", ".join(self._level(group, cell) for cell in rivals)
            text += f"; {others} may be as good"
        elif best["at_edge"]:
            text += ", and the last one"
        near = self._nearly_as_good(group) + self._not_ranked(group)
        knee = f" {self.knee(group)}" if self._has_knee(group) else ""
        return f"{text}{near}.{knee}"

    def _not_ranked(self, group: Finding) -> str:
        """Return the settings that have too few runs to be ranked."""
        if not group["few"]:
            return ""
        levels = ", ".join(self._level(group, cell) for cell in group["few"])
        have = "has" if len(group["few"]) == 1 else "have"
        return f"; {levels} {have} fewer than {FEWEST_RUNS} runs, so no rank"

    def knee(self, group: Finding) -> str:
        """Return where the curve bends, and how certain that is."""
        knee = group["knee"]
        if not self._has_knee(group):
            return "Diminishing returns, without a distinct knee."
        low, high = knee["uncertainty"]["interval"]
        shares = max(knee["uncertainty"]["between"], key=lambda each: each["share"])
        often = f"between {number(shares['low'])} and {number(shares['high'])} "
        where = bracketed(low, high, group["values"])
        most = (
            "" if where.startswith(often) else f", most often {often}({share(shares['share'], 0)})"
        )
        return f"The knee lies {where}{most}."

    def badges(self) -> list[dict[str, Any]]:
        """Return how many comparisons have which verdict."""
        rows = [row for group in self.levels["groups"] for row in group["comparisons"]]
        by_word: dict[str, list[Finding]] = {}
        for row in rows:
            by_word.setdefault(row["comparison"]["verdict"]["word"], []).append(row)
        noun = "step" if all(group["numeric"] for group in self.levels["groups"]) else "comparison"
        return [
            {
                **members[0]["display"],
                "word": f"{members[0]['display']['word']}: {len(members)} of {counted(len(rows), noun)}",
            }
            for members in by_word.values()
        ]

    def facts(self, groups: Sequence[Finding]) -> list[dict[str, str]]:
        """Return the best value, and the cost of the cheaper settings."""
        result = []
        overall = self.levels["overall"]
        shown = overall or groups
        for group in shown[:MOST_FACTS]:
            best = group["best"]
            rows = sorted(
                zip(best["cells"], best["cost_pct"], best["upper_pct"], strict=True),
                key=lambda row: row[1],
            )
            for cell, cost, upper in rows[: MOST_FACTS if len(shown) == 1 else 1]:
                value, note = amount(self._centre(cell), self.metric.unit), "best measured"
                if overall:
                    note = "best of all"
                if cell != best["seen"]:
                    value, note = self._cost(value, cost, upper)
                label = self.names[cell] if overall else self._setting(group, cell)
                result.append({"label": label, "value": value, "note": note})
        return result[:MOST_FACTS]

    def _cost(self, value: str, cost: float, upper: float) -> tuple[str, str]:
        """Return the cost of a setting; for a rate the value alone, since “+80 %” reads as a gain there."""
        if self.metric.lower_is_better:
            return percent(cost), f"{value}; at most {percent(upper)}"
        return value, f"the best is {percent(cost)} above it; at most {percent(upper)}"

    def statements(self) -> list[dict[str, str]]:
        """Yield a sentence for each comparison, the knee and the edge."""
        texts: list[dict[str, str]] = []
        for group in self.levels["groups"]:
            if self.several and group["best"]:
                texts.append({"tone": "info", "text": self.best(group)})
            texts += [self._step(group, row) for row in group["comparisons"]]
            if group["knee"]:
                text = self.knee(group) + self._cost_of_knee(group)
                texts.append({"tone": "info", "text": self._where(group) + text})
            if group["best"] and group["best"]["at_edge"]:
                text = (
                    f"The best is the last level measured, {self._level(group, group['best']['seen'])}"
                    ": the curve may go on, measure higher."
                )
                texts.append({"tone": "warn", "text": self._where(group) + text})
        return texts

    def _step(self, group: Finding, row: Finding) -> dict[str, str]:
        verdict = row["comparison"]["verdict"]
        pair = f"{self._level(group, row['candidate'])} vs. {self._level(group, row['baseline'])}"
        if verdict["pct_change"] is None:
            text = f"{pair}: {row['display']['word']}."
        else:
            interval = span_pct(verdict["ci_pct"])
            change = f"{percent(verdict['pct_change'])} ({interval} %)"
            text = f"{pair}: {row['display']['word']}, {change}."
        if row["advice"]:
            text += f" {row['advice']}"
        return {"tone": row["display"]["tone"], "text": self._where(group) + text}

    def _nearly_as_good(self, group: Finding) -> str:
        best, delta = group["best"], f"{self.levels['delta_pct']:g}"
        cell = self._within(best, self.levels["delta_pct"])
        if cell is None:
            return f"; no setting is shown to be within {delta} % of the best"
        if cell == best["seen"]:
            cheaper = best["cells"].index(cell) > 0
            return f"; none below it is shown to be within {delta} % of it" if cheaper else ""
        return f"; {self._level(group, cell)} is within {delta} % of the best with 95 % confidence"

    def _within(self, best: Finding, pct: float) -> int | None:
        """Return the first setting that demonstrably costs no more than the given share."""
        rows = zip(best["cells"], best["upper_pct"], strict=True)
        return next((cell for cell, upper in rows if upper <= pct), None)

    def _has_knee(self, group: Finding) -> bool:
        knee = group["knee"]
        return bool(knee and knee["strength"] != "smooth" and knee["uncertainty"])

    def _cost_of_knee(self, group: Finding) -> str:
        """Return the cost of the level at the knee, since a knee is no recommendation."""
        best, at = group["best"], group["knee"]["methods"]["consensus"]
        if not best or at is None or not self._has_knee(group):
            return ""
        place = next((i for i, v in enumerate(group["values"]) if v == at), None)
        cell = None if place is None else group["cells"][place]
        if cell not in best["cells"] or cell == best["seen"]:
            return ""
        cost, upper = (best[name][best["cells"].index(cell)] for name in ("cost_pct", "upper_pct"))
        return (
            f" To stay at {number(at)}, where two of three methods put it, costs {percent(cost)} "
            f"against {self._level(group, best['seen'])} (at most {percent(upper)})."
        )

    def _holes(self, groups: Sequence[Finding]) -> str:
        """Return whether the groups have different levels, so that their best ones had different competitors."""
        held = {tuple(map(str, group["values"])) for group in groups}
        return "" if len(held) == 1 else "; not every level was measured everywhere"

    def _setting(self, group: Finding, cell: int) -> str:
        return self.names[cell] if self.several else f"{self.factor} {self._level(group, cell)}"

    def _level(self, group: Finding, cell: int) -> str:
        value = group["values"][group["cells"].index(cell)]
        return number(value) if isinstance(value, float) else str(value)

    def _where(self, group: Finding) -> str:
        if not self.several:
            return ""
        levels = ", ".join(f"{name} {level}" for name, level in group["levels"].items())
        return f"{levels}: " if levels else ""

    def _value(self, cell: int) -> str:
        """Return the mean of a cell, and of how many runs where some failed."""
        summary = self.by_cell[cell]["summary"]
        tried = summary["n_ok"] + summary["n_failed"]
        of = f" in {summary['n_ok']} of {tried} runs" if summary["n_failed"] else ""
        return f"{amount(self._centre(cell), self.metric.unit)}{of}"

    def _centre(self, cell: int) -> float:
        summary = self.by_cell[cell]["summary"]
        centre = summary["mean"] if summary["gmean"] is None else summary["gmean"]
        return float(centre or 0.0)
