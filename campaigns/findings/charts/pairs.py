"""Change per stratum with every pair, or one row for each comparison of levels: a forest. Pure.

A ring is a pair whose candidate ran first, a square one whose baseline did; the diamond with its
interval is the stratum, in the tone of its verdict. 0 is a dashed upright line.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from campaigns.findings.charts import sampling
from campaigns.findings.charts.base import Chart, Column, Numbers, Panel, Shown, quantity_of
from campaigns.findings.charts.parts import error_bars, extent, hover_note, zero_line
from campaigns.findings.charts.sampling import Quota
from campaigns.findings.values import LevelGroup, LevelRow, LevelsFinding, Pairs, WithinBlocks
from campaigns.findings.wording.verdicts import NO_VERDICT_YET, label_of
from campaigns.kit.charts.axes import nice_step, titled
from campaigns.kit.charts.figure import (
    Figure,
    KeyItem,
    Quantity,
    Trace,
    figure,
    is_finite,
    line,
    mark,
    markers,
    text,
)
from campaigns.kit.charts.labels import LevelLabels, inside, level_text
from campaigns.kit.numbers import change, change_span, counted, short
from campaigns.results.run_plots import Plot

ORDERS: tuple[tuple[bool | None, str, str, str], ...] = (
    (True, "circle-open", "series-1", "s1"),
    (False, "square-open", "series-2", "s2"),
    (None, "diamond-open", "series-6", "pairs"),
)
TOP, BOTTOM, ESTIMATE, SECOND = 0.32, -0.1, -0.25, -0.38
"""Heights in a row: pairs are between the first two, the estimate is below, the other model below that."""
LONGEST_TICK = 32
LONGEST_NARROW_TICK = 16
MOST_DESCRIBED = 12
HOW = (
    ("Each row", "is one comparison; left of 0 the metric went down, right of it up."),
    ("The thick bar", "is its 95 % interval by the model that decides; the thin one below it is by "
     "another model. Where they disagree, read the noise first."),
    ("Small diamonds", "are the changes within each block, where runs were interleaved."),
    ("Verdicts", "are corrected for the number of comparisons (Holm); intervals are each by itself."),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PairPoint:
    """The change of one pair in %. candidate_first: None where it is unknown."""

    change_pct: float
    candidate_first: bool | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class StratumRow:
    """One stratum with its verdict as shown; without a change the row has only the verdict.

    second: the interval by another model, drawn thin below the one that decides.
    """

    name: str
    pairs: Sequence[PairPoint]
    tone: str
    word: str
    change_pct: float | None = None
    interval: tuple[float, float] | None = None
    second: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class PairsChart:
    """Strata from the top to the bottom.

    Without a candidate each row is a contrast of its own, with a name, and its pairs are the
    blocks that hold both sides.
    """

    quantity: Quantity
    baseline: str
    candidate: str
    strata: Sequence[StratumRow]
    strata_factor: str = ""

    @property
    def quota(self) -> Quota:
        """Share the chart among its rows."""
        return sampling.quota_of([len(row.pairs) for row in self.strata])


def draw(chart: PairsChart) -> Figure:
    """Draw the figure."""
    rows = [(len(chart.strata) - index, row) for index, row in enumerate(chart.strata)]
    low, high = _extent(chart)
    names = [text(row.name, LONGEST_TICK) for _, row in rows]
    heights = {"tickvals": [y for y, _ in rows], "range": [0.4, len(rows) + 0.6], "showgrid": False}
    return figure(
        [
            zero_line((0, 0), (0, len(rows) + 1), name="no change"),
            *(_pairs(chart, rows, *order) for order in ORDERS),
            *_estimates(rows),
            _seconds(rows),
            _text(rows),
        ],
        {
            "xaxis": titled(_axis_title(chart), (low, high), ticksuffix=" %", zeroline=False),
            "yaxis": {**heights, "ticktext": names, "ticks": ""},
            "margin": {"t": 8, "l": 8, "r": 12, "b": 8},
        },
        narrow={
            "xaxis": titled(
                f"change, {_better_side(chart)}",
                (low, high),
                ticksuffix="",
                dtick=nice_step(high - low, 4),
            ),
            "yaxis": {
                **heights,
                "ticktext": [text(row.name, LONGEST_NARROW_TICK) for _, row in rows],
            },
        },
    )


def title(chart: PairsChart) -> str:
    """Return what is plotted."""
    if not chart.candidate:
        return "Comparisons, with every block" if _has_pairs(chart) else "Comparisons"
    by = f" by {chart.strata_factor}" if chart.strata_factor else ""
    return f"Change{by}, with every pair"


def describe(chart: PairsChart) -> str:
    """Describe the finding in numbers: the change of each stratum, with its interval and its verdict."""
    sides = f", {chart.candidate} vs. {chart.baseline}" if chart.candidate else ""
    better = f", {_better_side(chart)}" if _better_side(chart) else ""
    opening = f"{title(chart)}: {chart.quantity.label}{sides}{better}."
    if not chart.strata:
        return f"{opening} No pair yet."
    if len(chart.strata) <= MOST_DESCRIBED:
        return f"{opening} {' '.join(_reading(row) for row in chart.strata)}"
    texts: dict[str, int] = {}
    for row in chart.strata:
        texts[row.word] = texts.get(row.word, 0) + 1
    counts = ", ".join(f"{number} {word}" for word, number in texts.items())
    return f"{opening} Of {len(chart.strata)} rows: {counts}."


def note(chart: PairsChart) -> str:
    """Return how many pairs are drawn where not all of them are; else nothing."""
    pairs = sum(is_finite(pair.change_pct) for row in chart.strata for pair in row.pairs)
    drawn = sum(len(_shown(row, chart.quota)) for row in chart.strata)
    return sampling.note(drawn, pairs, "pair", "row", chart.quota)


def legend(chart: PairsChart) -> tuple[KeyItem, ...]:
    """List what is drawn, with its count."""
    firsts = [pair.candidate_first for row in chart.strata for pair in row.pairs]
    unknown = firsts.count(None)
    if not chart.candidate:
        return (
            KeyItem("diamond-open", "the change within one block", unknown, "series-6", "pairs"),
            KeyItem("diamond", "change with its 95 % interval, coloured by its verdict"),
            KeyItem("interval", "the same by another model", None, "ink-3", "second"),
        )
    return (
        KeyItem(
            "circle", f"one pair, {chart.candidate} ran first", firsts.count(True), "series-1", "s1"
        ),
        KeyItem(
            "square", f"one pair, {chart.baseline} ran first", firsts.count(False), "series-2", "s2"
        ),
        *(
            [KeyItem("diamond-open", "one pair, order unknown", unknown, "series-6", "pairs")]
            if unknown
            else []
        ),
        KeyItem("diamond", "geometric mean with its 95 % interval, coloured by its verdict"),
    )


def _reading(row: StratumRow) -> str:
    shown = "" if row.change_pct is None else change(row.change_pct)
    interval = ""
    if row.change_pct is not None and row.interval:
        interval = f" ({change_span(row.interval, row.change_pct)})"
    texts = (f"{shown}{interval}", row.word, counted(len(row.pairs), "pair"))
    return f"{short(row.name) or 'all'}: {', '.join(part for part in texts if part)}."


def _better_side(chart: PairsChart) -> str:
    lower = chart.quantity.lower_is_better
    return "" if lower is None else f"{'negative' if lower else 'positive'} is better"


def _axis_title(chart: PairsChart) -> str:
    side = f" ({_better_side(chart)})" if _better_side(chart) else ""
    sides = f", {text(chart.candidate)} vs. {text(chart.baseline)}" if chart.candidate else ""
    return f"change of {text(chart.quantity.label)}{sides}{side}"


def _has_pairs(chart: PairsChart) -> bool:
    return any(row.pairs for row in chart.strata)


def _extent(chart: PairsChart) -> tuple[float, float]:
    pairs = [pair.change_pct for row in chart.strata for pair in row.pairs]
    changes = [row.change_pct for row in chart.strata]
    return extent([*pairs, *changes], [row.interval for row in chart.strata], pad=0.05)


def _pairs(
    chart: PairsChart,
    rows: Sequence[tuple[int, StratumRow]],
    candidate_first: bool | None,
    symbol: str,
    token: str,
    group: str,
) -> Trace:
    firsts: dict[bool | None, str] = {
        True: f"{chart.candidate} first",
        False: f"{chart.baseline} first",
    }
    known = firsts.get(candidate_first, "order unknown")
    name = text(f"pair, {known}") if chart.candidate else "within a block"
    quota = chart.quota
    drawn = [
        (pair.change_pct, y + _height(index, len(row.pairs)), _pair_hover(row, pair, name))
        for y, row in rows
        for index, pair in _shown(row, quota)
        if pair.candidate_first is candidate_first
    ]
    return markers(
        [(x, y) for x, y, _ in drawn],
        mark(symbol, 7, f"@{token}", 1.5),
        name=name,
        notes=[hover for _, _, hover in drawn],
        meta=[group],
    )


def _shown(row: StratumRow, quota: Quota) -> list[tuple[int, PairPoint]]:
    """Return the pairs of a row that are drawn, each with its place among all of them."""
    known = [each for each in enumerate(row.pairs) if is_finite(each[1].change_pct)]
    chosen = quota.of(sorted(known, key=lambda each: each[1].change_pct))
    return sorted(chosen, key=lambda each: each[0])


def _pair_hover(row: StratumRow, pair: PairPoint, name: str) -> str:
    return f"<b>{text(row.name)}</b>, {name}<br>{change(pair.change_pct)}{hover_note(pair.note)}"


def _height(index: int, pairs: int) -> float:
    return TOP - (TOP - BOTTOM) * (index / (pairs - 1) if pairs > 1 else 0.5)


def _estimates(rows: Sequence[tuple[int, StratumRow]]) -> list[Trace]:
    """Draw one trace for each tone, since bars of one trace have one colour."""
    traces = []
    for tone in dict.fromkeys(row.tone for _, row in rows):
        drawn = [
            (y + ESTIMATE, row, row.change_pct, row.interval or (row.change_pct, row.change_pct))
            for y, row in rows
            if row.tone == tone and row.change_pct is not None and is_finite(row.change_pct)
        ]
        bounds = [(change, interval) for _, _, change, interval in drawn]
        traces.append(
            markers(
                [(change, y) for y, _, change, _ in drawn],
                mark("diamond", 11, f"@{tone}", 1.5, "@surface"),
                name=f"95 % interval, {tone}",
                error_x=error_bars(bounds, f"@{tone}/60", thickness=4, width=0),
                notes=[text(_reading(row), 200) for _, row, _, _ in drawn],
            )
        )
    return traces


def _seconds(rows: Sequence[tuple[int, StratumRow]]) -> Trace:
    """Draw the other readings as one broken line, just below the estimates."""
    ends = [
        point
        for y, row in rows
        if row.second is not None and all(map(is_finite, row.second))
        for point in ((row.second[0], y + SECOND), (row.second[1], y + SECOND), (None, None))
    ]
    return line(ends, {"color": "@ink-3", "width": 1.5}, name="by another model", meta=["second"])


def _text(rows: Sequence[tuple[int, StratumRow]]) -> Trace:
    """Write the verdict where a row has no change to draw: a refusal is a result."""
    refused = [(y, row) for y, row in rows if row.change_pct is None]
    trace = markers([(0, y) for y, _ in refused], {}, name="no value")
    del trace["marker"]
    colors = [f"@{row.tone}" for _, row in refused]
    return trace | {
        "mode": "text",
        "text": [text(row.word) for _, row in refused],
        "textposition": "middle left",
        "textfont": {"size": 12, "color": colors},
    }


def pairs_plot(finding: Pairs, labels: LevelLabels, *, withheld: bool = False) -> Plot:
    """Draw the change of each stratum, with every pair. withheld: verdicts are not shown until the stop rule is met."""
    rows = []
    for stratum in finding.strata:
        verdict = stratum.comparison.verdict
        display = NO_VERDICT_YET if withheld else label_of(finding, verdict.word)
        row = StratumRow(
            name=labels.values(stratum.levels, without=finding.factor) or stratum.name,
            pairs=[
                PairPoint(pair.change_pct, pair.candidate_first, f"block {pair.block}")
                for pair in stratum.pairs
                if pair.change_pct is not None
            ],
            tone=display.tone,
            word=display.word,
            change_pct=verdict.pct_change,
            interval=verdict.ci_pct,
        )
        rows.append(row)
    chart = PairsChart(
        quantity=quantity_of(finding),
        baseline=level_text(finding.baseline),
        candidate=level_text(finding.candidate),
        strata=rows,
        strata_factor=" and ".join(
            inside(factor.label) for factor in labels.factors if factor.name != finding.factor
        ),
    )
    return Plot(
        id="forest",
        title=title(chart),
        label=describe(chart),
        figure=draw(chart),
        key=legend(chart),
        height=f"{8 + 4 * max(2, len(rows))}rem",
        note=note(chart),
    )


def panel(shown: Shown) -> Panel | None:
    """Return the panel of every comparison of levels; None before they are judged."""
    finding = shown.findings.levels
    if not finding:
        return None
    within = _within_blocks(shown)
    rows = [
        _row(row, group, finding, shown.labels, within)
        for group in finding.groups
        for row in group.comparisons
    ]
    if not rows:
        return None
    chart = PairsChart(quantity_of(finding), "", "", rows)
    return Panel(
        plot=Plot(
            id="contrasts",
            title=title(chart),
            label=describe(chart),
            figure=draw(chart),
            key=legend(chart),
            height=f"{8 + 3 * max(2, len(rows))}rem",
            note=note(chart),
        ),
        how=HOW,
        numbers=Numbers(
            (
                Column("comparison"),
                Column("change", "%"),
                Column("95 % from", "%"),
                Column("95 % to", "%"),
                Column("other model from", "%"),
                Column("other model to", "%"),
                Column("verdict"),
            ),
            [
                (
                    row.name,
                    row.change_pct,
                    *(row.interval or (None, None)),
                    *(row.second or (None, None)),
                    row.word,
                )
                for row in rows
            ],
        ),
    )


def _within_blocks(shown: Shown) -> dict[tuple[int, int], list[PairPoint]]:
    """Return the changes of each comparison in its blocks, by the keys of its cells."""
    result = shown.findings.charts.read("within_blocks", WithinBlocks)
    return {
        (row.baseline, row.candidate): [
            PairPoint(change, None, f"block {block}")
            for block, change in zip(row.blocks, row.changes_pct, strict=True)
        ]
        for row in (result.comparisons if result else ())
    }


def _row(
    row: LevelRow,
    group: LevelGroup,
    finding: LevelsFinding,
    labels: LevelLabels,
    within: Mapping[tuple[int, int], Sequence[PairPoint]],
) -> StratumRow:
    values = dict(zip(group.cells, group.values, strict=True))
    sides = [labels.short(finding.factor, values[cell]) for cell in (row.candidate, row.baseline)]
    where = labels.values(group.levels)
    verdict, other = row.comparison.verdict, row.comparison.sensitivity
    display = label_of(finding, verdict.word)
    return StratumRow(
        name=f"{where}: {' vs '.join(sides)}" if where else " vs ".join(sides),
        pairs=within.get((row.baseline, row.candidate), ()),
        tone=display.tone,
        word=display.word,
        change_pct=verdict.pct_change,
        interval=verdict.ci_pct,
        second=other.ci_pct if other else None,
    )


CHARTS = (
    Chart(
        "contrasts",
        panel,
        lambda shown: shown.judged and shown.findings.levels,
        late="Change of each comparison",
    ),
)
