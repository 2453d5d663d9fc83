"""Each pair as a line from its baseline to its candidate, and its change in the order of time. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from campaigns.findings.charts import sampling
from campaigns.findings.charts.base import Chart, Column, Numbers, Panel, Shown, quantity_of
from campaigns.findings.charts.parts import MARGIN, log_scales, zero_line
from campaigns.kit.charts.axes import has_clock, titled, value_axis
from campaigns.kit.charts.figure import (
    DASHES,
    SYMBOLS,
    Figure,
    KeyItem,
    Quantity,
    Trace,
    figure,
    grouped,
    line,
    mark,
    markers,
    series_token,
    text,
)
from campaigns.kit.charts.labels import level_text
from campaigns.kit.numbers import amount, change, counted, short
from campaigns.results.run_plots import Plot

LONGEST_TICK = 24
MOST_DESCRIBED = 8
EDGE = 0.35
"""Room left and right of the two columns."""
SLOPES_HOW = (
    ("Each line", "is one pair, two runs back to back. Lines that go the same way agree."),
    ("Each small chart", "has an axis of its own: rows may do other work."),
)
DIFFERENCES_HOW = (
    ("Each mark", "is the change of one pair, in the order in which pairs were made."),
    ("A slope", "means that the change itself depends on time; then one number does not tell it."),
    ("The line", "of a colour is the change that all its pairs make together."),
)


@dataclass(frozen=True, slots=True)
class SlopePair:
    """One pair. positions: of its two runs, the baseline's first, which a click opens.

    change_pct: None where none is computed, as too many others failed.
    """

    baseline: float
    candidate: float
    block: int
    change_pct: float | None
    candidate_first: bool
    positions: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class SlopeStratum:
    """The pairs of one stratum, and the change that they make together."""

    name: str
    pairs: Sequence[SlopePair]
    change_pct: float | None = None


@dataclass(frozen=True, slots=True)
class SlopesChart:
    """Strata in their order; they may do other work, so each has an axis of its own."""

    quantity: Quantity
    baseline: str
    candidate: str
    strata: Sequence[SlopeStratum]

    def drawn(self) -> "SlopesChart":
        """Leave out pairs where they are too many for a line each, evenly by their change."""
        quota = sampling.quota_of([len(stratum.pairs) for stratum in self.strata])
        return replace(
            self, strata=[replace(each, pairs=_chosen(each, quota)) for each in self.strata]
        )


def slopes(chart: SlopesChart) -> list[tuple[str, Figure]]:
    """Draw a small figure for each stratum, by its name."""
    quantity, factor = chart.quantity.readable()
    return [
        (each.name, _slope(replace(chart, quantity=quantity), each, factor))
        for each in chart.drawn().strata
    ]


def differences(chart: SlopesChart) -> Figure:
    """Draw the change of each pair against its block."""
    chart = chart.drawn()
    traces: list[Trace] = []
    blocks = [pair.block for stratum in chart.strata for pair in stratum.pairs]
    low, high = min(blocks, default=0) - 0.6, max(blocks, default=1) + 0.6
    for index, stratum in enumerate(chart.strata):
        color = f"@{series_token(index)}"
        changed = [pair for pair in stratum.pairs if pair.change_pct is not None]
        if stratum.change_pct is not None:
            pen = {"color": f"{color}/60", "width": 1, "dash": DASHES[index % len(DASHES)]}
            ends = [(low, stratum.change_pct), (high, stratum.change_pct)]
            traces.append(line(ends, pen, meta=[f"s{index + 1}"]))
        traces.append(
            markers(
                [(pair.block, pair.change_pct) for pair in changed],
                mark(SYMBOLS[index % len(SYMBOLS)], 8, "@surface", 1.8, color),
                name=text(stratum.name),
                notes=[_hover(chart, stratum, pair) for pair in changed],
                pages=[pair.positions[1] for pair in changed],
                meta=[f"s{index + 1}"],
            )
        )
    return figure(
        [zero_line((low, 0), (high, 0), name="no change"), *traces],
        {
            "xaxis": titled("block, in the order of time", (low, high)),
            "yaxis": titled("change of the pair", ticksuffix=" %"),
            "margin": MARGIN,
        },
    )


def describe(chart: SlopesChart) -> str:
    """Describe how many pairs went down and up in each stratum."""
    texts = [f"Each pair of {chart.baseline} and {chart.candidate}, {chart.quantity.label}."]
    for stratum in chart.strata[:MOST_DESCRIBED]:
        down = sum(pair.candidate < pair.baseline for pair in stratum.pairs)
        up = sum(pair.candidate > pair.baseline for pair in stratum.pairs)
        texts.append(
            f"{short(stratum.name) or 'all'}: {down} of {counted(len(stratum.pairs), 'pair')} "
            f"lower with {chart.candidate}, {up} higher."
        )
    if len(chart.strata) > MOST_DESCRIBED:
        texts.append(f"And {len(chart.strata) - MOST_DESCRIBED} more.")
    return " ".join(texts)


def note(chart: SlopesChart) -> str:
    """Return how many pairs are drawn where not all of them are; else nothing."""
    sizes, drawn = (
        [len(stratum.pairs) for stratum in each.strata] for each in (chart, chart.drawn())
    )
    return sampling.note(sum(drawn), sum(sizes), "pair", "row", sampling.quota_of(sizes))


def slopes_legend(chart: SlopesChart) -> tuple[KeyItem, ...]:
    """List what the lines mean, with their counts."""
    pairs = [pair for stratum in chart.strata for pair in stratum.pairs]
    better = sum(_is_better(chart, pair) is True for pair in pairs)
    worse = sum(_is_better(chart, pair) is False for pair in pairs)
    return (
        KeyItem("line", f"pair in which {chart.candidate} is better", better, "better", "better"),
        KeyItem(
            "line", f"pair in which {chart.candidate} is worse (dashed)", worse, "worse", "worse"
        ),
        KeyItem("line", "pair without a change", len(pairs) - better - worse, "ink-3", "same"),
    )


def differences_legend(chart: SlopesChart) -> tuple[KeyItem, ...]:
    """List the strata."""
    return tuple(
        KeyItem(
            SYMBOLS[index % len(SYMBOLS)],
            f"{stratum.name or 'one pair'}; the line is its change",
            len(stratum.pairs),
            series_token(index),
            f"s{index + 1}",
        )
        for index, stratum in enumerate(chart.strata)
    )


def _chosen(stratum: SlopeStratum, quota: sampling.Quota) -> list[SlopePair]:
    ordered = sorted(stratum.pairs, key=lambda pair: pair.change_pct or 0.0)
    return sorted(quota.of(ordered), key=lambda pair: pair.block)


def _slope(chart: SlopesChart, stratum: SlopeStratum, factor: float) -> Figure:
    values = [factor * v for pair in stratum.pairs for v in (pair.baseline, pair.candidate)]
    largest, smallest = max(values, default=1.0), min(values, default=0.0)
    top, bottom = 1.06 * largest if largest > 0 else 1.0, min(0.0, 1.06 * smallest)
    clock = has_clock(chart.quantity.unit, top)
    names = [text(name, LONGEST_TICK) for name in (chart.baseline, chart.candidate)]
    layout: dict[str, Any] = {
        "xaxis": {"tickvals": [0, 1], "ticktext": names, "range": [-EDGE, 1 + EDGE]},
        "yaxis": value_axis(chart.quantity, bottom, top, with_clock=clock),
        "margin": MARGIN,
    }
    return figure(
        [
            *(
                trace
                for better, group, pen in (
                    (True, "better", {"color": "@better/60", "width": 1.5}),
                    (False, "worse", {"color": "@worse/80", "width": 1.5, "dash": "dash"}),
                    (None, "same", {"color": "@ink-3", "width": 1.5}),
                )
                for trace in grouped(
                    [
                        _lines(chart, stratum, better, pen, factor),
                        _ends(chart, stratum, better, factor),
                    ],
                    group,
                )
            ),
        ],
        layout,
        scales=log_scales(smallest, top, clock=clock),
    )


def _lines(
    chart: SlopesChart,
    stratum: SlopeStratum,
    better: bool | None,
    pen: dict[str, Any],
    factor: float,
) -> Trace:
    points: list[tuple[float | None, float | None]] = []
    for pair in stratum.pairs:
        if _is_better(chart, pair) is better:
            points += [(0, factor * pair.baseline), (1, factor * pair.candidate), (None, None)]
    return line(points, pen)


def _ends(chart: SlopesChart, stratum: SlopeStratum, better: bool | None, factor: float) -> Trace:
    ends = [
        (side, factor * value, pair)
        for pair in stratum.pairs
        if _is_better(chart, pair) is better
        for side, value in enumerate((pair.baseline, pair.candidate))
    ]
    return markers(
        [(side, value) for side, value, _ in ends],
        mark("circle", 7, "@surface", 1.6, "@series-1"),
        name="run",
        notes=[_hover(chart, stratum, pair) for _, _, pair in ends],
        pages=[pair.positions[side] for side, _, pair in ends],
    )


def _is_better(chart: SlopesChart, pair: SlopePair) -> bool | None:
    """Return None where nothing changed, or where it is unknown which way is better."""
    if pair.baseline == pair.candidate or chart.quantity.lower_is_better is None:
        return None
    return (pair.candidate < pair.baseline) == chart.quantity.lower_is_better


def _hover(chart: SlopesChart, stratum: SlopeStratum, pair: SlopePair) -> str:
    first = chart.candidate if pair.candidate_first else chart.baseline
    unit = chart.quantity.unit
    of = f", {text(stratum.name)}" if stratum.name else ""
    values = f"{amount(pair.baseline, unit)} to {amount(pair.candidate, unit)}"
    changed = "" if pair.change_pct is None else f", {change(pair.change_pct)}"
    return f"<b>block {pair.block}</b>{of}<br>{values}{changed}<br>{text(first)} ran first"


def slopes_panel(shown: Shown) -> Panel | None:
    """Return the panel of pairs as lines, a small chart for each stratum; None without pairs."""
    chart = _chart(shown)
    if chart is None:
        return None
    drawn = slopes(chart)
    whole = Plot(
        id="slopes",
        title=f"Each pair: {chart.baseline} to {chart.candidate}",
        label=describe(chart),
        figure=drawn[0][1],
        key=slopes_legend(chart),
        height="20rem",
        note=note(chart),
    )
    return Panel(
        plot=whole,
        how=SLOPES_HOW,
        numbers=_pair_numbers(chart),
        multiples=tuple(
            Plot(
                id=f"slopes-{index}",
                title=name or "all pairs",
                label=f"{name or 'all pairs'}: {whole.title}",
                figure=figure,
                height="18rem",
            )
            for index, (name, figure) in enumerate(drawn, start=1)
        )
        if len(drawn) > 1
        else (),
    )


def differences_panel(shown: Shown) -> Panel | None:
    """Return the panel of the change of each pair in the order of time; None without pairs."""
    chart = _chart(shown)
    if chart is None or all(p.change_pct is None for s in chart.strata for p in s.pairs):
        return None
    return Panel(
        plot=Plot(
            id="differences",
            title="The change of each pair, in the order of time",
            label=describe(chart),
            figure=differences(chart),
            key=differences_legend(chart),
            height="20rem",
            note=note(chart),
        ),
        how=DIFFERENCES_HOW,
        numbers=_pair_numbers(chart),
    )


def _chart(shown: Shown) -> SlopesChart | None:
    finding = shown.findings.pairs
    if not finding:
        return None
    strata = [
        SlopeStratum(
            name=shown.labels.values(stratum.levels, without=finding.factor),
            pairs=[
                SlopePair(
                    baseline=pair.baseline,
                    candidate=pair.candidate,
                    block=pair.block,
                    change_pct=pair.change_pct,
                    candidate_first=pair.candidate_first,
                    positions=(pair.baseline_run, pair.candidate_run),
                )
                for pair in stratum.pairs
                if pair.baseline is not None and pair.candidate is not None
            ],
            change_pct=stratum.comparison.verdict.pct_change,
        )
        for stratum in finding.strata
    ]
    strata = [stratum for stratum in strata if stratum.pairs]
    if not strata:
        return None
    sides = level_text(finding.baseline), level_text(finding.candidate)
    return SlopesChart(quantity_of(finding), *sides, strata)


def _pair_numbers(chart: SlopesChart) -> Numbers:
    unit = chart.quantity.unit
    return Numbers(
        (
            Column("stratum"),
            Column("block"),
            Column(chart.baseline, unit),
            Column(chart.candidate, unit),
            Column("change", "%"),
            Column("ran first"),
        ),
        [
            (
                stratum.name or "all pairs",
                pair.block,
                pair.baseline,
                pair.candidate,
                pair.change_pct,
                chart.candidate if pair.candidate_first else chart.baseline,
            )
            for stratum in chart.strata
            for pair in stratum.pairs
        ],
    )


CHARTS = (
    Chart("slopes", slopes_panel, lambda shown: shown.primary and shown.findings.pairs),
    Chart("differences", differences_panel, lambda shown: shown.primary and shown.findings.pairs),
)
