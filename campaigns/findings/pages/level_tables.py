"""Tables of a campaign of levels: its steps, and the cost of each setting."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from campaigns.findings.charts import strips
from campaigns.kit import numbers
from campaigns.kit.numbers import MISSING, amount, p_value, percent, share, without_sign
from campaigns.results.phrases import BADGES, Levels, confirmation_text, level_text, session_remarks

MODELS = {
    "blocks": "cell and block: the noise within a block",
    "pooled": "noise pooled over all levels (no blocks)",
    "welch": "each level with its own noise (Welch)",
    "split_plot": "split plot: changes of what is hard to change have the noise between whole plots, the "
    "others that within them",
    "paired": "each pair of levels by its own blocks, since noise differs",
}


BETWEEN = "sessions as the sample: the noise between them"
GROUP = "levels-"
MOST_OPEN = 2
"""Groups of levels that are shown open."""


@dataclass(frozen=True, slots=True)
class StepLine:
    """One comparison of two levels."""

    baseline: str
    candidate: str
    change: str
    interval: str
    forest: strips.Forest | None
    tone: str
    p_holm: str
    p_ranks: str
    alone: str
    display: Mapping[str, str]
    advice: str
    confirmation: str
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CostLine:
    """The cost of a setting against the best. upper: its upper bound, with 95 % confidence."""

    level: str
    mean: str
    cost: str
    upper: str
    best: bool
    possibly: bool


@dataclass(frozen=True, slots=True)
class GroupTable:
    """The levels of one combination of the other factors. counts: how many verdicts of each kind.

    late: it has no lines; the page requests them when the group is unfolded.
    """

    id: str
    title: str
    counts: str
    steps: tuple[StepLine, ...]
    costs: tuple[CostLine, ...]
    recommended: tuple[tuple[str, str], ...]
    knee: tuple[tuple[str, str], ...]
    late: bool = False


@dataclass(frozen=True, slots=True)
class LevelTables:
    """All groups. numeric: neighbouring levels are compared, else each with the first."""

    factor: str
    model: str
    noise: tuple[tuple[str, str], ...]
    groups: tuple[GroupTable, ...]
    scale: str
    numeric: bool

    @property
    def folded(self) -> bool:
        """Return whether there are so many groups that each is folded."""
        return len(self.groups) > MOST_OPEN


@dataclass(frozen=True, slots=True)
class ExcludedSide:
    """One comparison, without or with the excluded runs."""

    change: str
    interval: str
    display: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ExcludedLine:
    """One comparison, without and with them."""

    name: str
    sides: tuple[ExcludedSide, ExcludedSide]


@dataclass(frozen=True, slots=True)
class ExcludedTable:
    """The effect of excluded runs. runs: their positions."""

    runs: str
    lines: tuple[ExcludedLine, ...]


def excluded_table(finding: Mapping[str, Any], labels: Levels) -> ExcludedTable:
    """Return every comparison without and with the excluded runs."""
    return ExcludedTable(
        runs=", ".join(str(position) for position in finding["positions"]),
        lines=tuple(
            ExcludedLine(_pair(row["name"], labels), (_side(row["without"]), _side(row["with"])))
            for row in finding["rows"]
        ),
    )


def _pair(name: Mapping[str, Any], labels: Levels) -> str:
    where = labels.sentence(name["levels"])
    pair = f"{level_text(name['candidate'])} vs. {level_text(name['baseline'])}"
    return f"{where}: {pair}" if where else pair


def _side(shown: Mapping[str, Any]) -> ExcludedSide:
    return ExcludedSide(
        change=percent(shown["pct_change"]),
        interval=numbers.span_pct(shown["ci_pct"]) if shown["ci_pct"] else MISSING,
        display=shown["display"],
    )


def level_tables(
    finding: Mapping[str, Any],
    cells: Mapping[str, Any],
    labels: Levels,
    only: Collection[str] | None = None,
) -> LevelTables:
    """Return the tables of the finding `levels`, with means from the summaries of the cells.

    only: the ids of the groups whose lines are wanted, where groups are folded; None for all.
    """
    rows = [row for group in finding["groups"] for row in group["comparisons"]]
    verdicts = [row["comparison"]["verdict"] for row in rows]
    drawn = [verdict["pct_change"] for verdict in verdicts]
    drawn += [bound for verdict in verdicts for bound in verdict["ci_pct"] or ()]
    known = [value for value in drawn if value is not None]
    scale = strips.scale_of(known, zero=True)
    summaries = {cell["cell"]: cell["summary"] for cell in cells["cells"]}
    factors = {factor.name: factor.label for factor in labels.factors}
    return LevelTables(
        factor=factors.get(finding["factor"], finding["factor"]),
        model=BETWEEN if finding.get("between") else MODELS.get(finding["model"], finding["model"]),
        noise=tuple(_noise(finding["noise"], finding.get("plots"))),
        groups=tuple(
            _late(name, group, labels)
            if only is not None and name not in only and len(finding["groups"]) > MOST_OPEN
            else _group(name, group, finding, summaries, scale, labels)
            for name, group in named_groups(finding)
        ),
        scale=f"{percent(scale.low, 0)} to {percent(scale.high, 0)}" if known else "",
        numeric=all(group["numeric"] for group in finding["groups"]),
    )


def named_groups(finding: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return each group with the id that addresses name it by."""
    return [(f"{GROUP}{n}", group) for n, group in enumerate(finding["groups"], start=1)]


def _late(name: str, group: Mapping[str, Any], labels: Levels) -> GroupTable:
    title = labels.sentence(group["levels"])
    return GroupTable(name, title, _counted(group), (), (), (), (), late=True)


def _group(
    name: str,
    group: Mapping[str, Any],
    finding: Mapping[str, Any],
    summaries: Mapping[int, Any],
    scale: strips.Scale,
    labels: Levels,
) -> GroupTable:
    names = {
        cell: labels.short(finding["factor"], value)
        for cell, value in zip(group["cells"], group["values"], strict=True)
    }
    return GroupTable(
        id=name,
        title=labels.sentence(group["levels"]),
        counts=_counted(group),
        steps=tuple(_step(row, names, scale) for row in group["comparisons"]),
        costs=tuple(_costs(group["best"], names, summaries, finding["unit"])),
        recommended=tuple(_recommended(group["best"], names)),
        knee=tuple(_knee(group["knee"], group["values"])),
    )


def _counted(group: Mapping[str, Any]) -> str:
    counts = Counter(row["display"]["word"] for row in group["comparisons"])
    return ", ".join(f"{number} {word}" for word, number in counts.items())


def _step(row: Mapping[str, Any], names: Mapping[int, str], scale: strips.Scale) -> StepLine:
    comparison, verdict = row["comparison"], row["comparison"]["verdict"]
    shown = verdict["pct_change"] is not None
    other = comparison["sensitivity"]
    return StepLine(
        baseline=names[row["baseline"]],
        candidate=names[row["candidate"]],
        change=percent(verdict["pct_change"]),
        interval=numbers.span_pct(verdict["ci_pct"]) if verdict["ci_pct"] else MISSING,
        forest=strips.forest(verdict["pct_change"], verdict["ci_pct"], scale) if shown else None,
        tone=row["display"]["tone"],
        p_holm=p_value(verdict["p_adjusted"]),
        p_ranks=p_value(comparison["ranks"]["p"] if comparison["ranks"] else None),
        alone=numbers.span_pct(other["ci_pct"]) if other else MISSING,
        display=row["display"],
        advice=row["advice"],
        confirmation=confirmation_text(row["standing"]),
        remarks=(
            *session_remarks(row["standing"]),
            *(BADGES.get(badge, badge) for badge in verdict["badges"]),
        ),
    )


def _costs(
    best: Mapping[str, Any] | None,
    names: Mapping[int, str],
    summaries: Mapping[int, Any],
    unit: str,
) -> list[CostLine]:
    if not best:
        return []
    return [
        CostLine(
            level=names[cell],
            mean=amount(summaries[cell]["gmean"] or summaries[cell]["mean"], unit),
            cost="best measured" if cell == best["seen"] else percent(cost),
            upper=percent(upper),
            best=cell == best["seen"],
            possibly=cell in best["possibly"],
        )
        for cell, cost, upper in zip(
            best["cells"], best["cost_pct"], best["upper_pct"], strict=True
        )
    ]


def _recommended(best: Mapping[str, Any] | None, names: Mapping[int, str]) -> list[tuple[str, str]]:
    """Return the cheapest setting within a share of the best, for several shares."""
    if not best:
        return []
    return [
        (f"{100 * each['share']:g} %", names.get(each["cell"], "none")) for each in best["within"]
    ]


def _knee(knee: Mapping[str, Any] | None, levels: Sequence[float]) -> list[tuple[str, str]]:
    """Return the knee by each method, with its uncertainty."""
    if not knee:
        return []
    methods, doubt = knee["methods"], knee["uncertainty"]
    is_one = knee["strength"] != "smooth"
    texts = [
        ("evidence", _evidence(knee)),
        ("break of a power law", _level(knee["at"])),
        ("L-method", _level(methods["l_method"])),
        ("slope ratio", _level(methods["slope_ratio"])),
        ("Kneedle, linear axis", _level(methods["kneed_linear"])),
        ("Kneedle, log axis", _level(methods["kneed_log"])),
        *([("two of three agree on", _level(methods["consensus"]))] if is_one else []),
        ("exponent below, above", f"{knee['below']:.2f}, {knee['above']:.2f}"),
    ]
    if doubt:
        low, high = doubt["interval"]
        texts.insert(2, ("interval of the break", numbers.bracketed(low, high, levels)))
        shares = ", ".join(
            f"{_level(each['low'])} to {_level(each['high'])}: {share(each['share'], 0)}"
            for each in doubt["between"]
            if each["share"] > 0
        )
        texts.insert(3, ("share of resamples", shares))
    return texts


def _evidence(knee: Mapping[str, Any]) -> str:
    texts = {
        "strong": "strong",
        "moderate": "moderate",
        "smooth": "none: a smooth curve fits as well",
    }
    better = "better" if knee["delta_aicc"] >= 0 else "worse"
    return f"{texts[knee['strength']]} (AICc {better} by {abs(knee['delta_aicc']):.1f})"


def _level(value: float | None) -> str:
    return "none found" if value is None else numbers.number(value)


def _noise(noise: Mapping[str, Any], plots: Mapping[str, Any] | None) -> Sequence[tuple[str, str]]:
    if not noise:
        return []
    if plots:
        return [
            (
                "noise under one setting",
                f"{without_sign(plots['within_pct'])} (df {plots['sub_df']})",
            ),
            (
                "between settings of what is hard to change",
                f"{without_sign(plots['between_pct'])} (df {plots['whole_df']}, {plots['blocks']} blocks)",
            ),
        ]
    texts = [("noise", f"{without_sign(noise['sd_pct'])} (df {noise['df']})")]
    if "block_sd_pct" in noise:
        texts.append(("between blocks", f"{without_sign(noise['block_sd_pct'])}"))
    if noise.get("efficiency"):
        texts.append(
            ("without blocks it would have taken", f"{noise['efficiency']:.1f} times the runs")
        )
    return texts
