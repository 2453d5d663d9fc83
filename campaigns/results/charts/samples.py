"""The chart of a run's samples: the share of files that took no longer than a time. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from campaigns.kit.charts.axes import (
    clock_ticks,
    has_clock,
    log_clock_ticks,
    log_range,
    log_ticks,
    titled,
    value_title,
)
from campaigns.kit.charts.figure import (
    DASHES,
    Axis,
    Figure,
    Quantity,
    Trace,
    figure,
    is_finite,
    line,
    markers,
    sentence,
    series_token,
    text,
)
from campaigns.kit.histogram import needs
from campaigns.kit.numbers import amount, number, plain

MOST_POINTS = 400
SHARES = (0.5, 0.95, 0.99)


@dataclass(frozen=True, slots=True)
class Curve:
    """Samples of one quantity of a run, such as first byte or total, in any order."""

    name: str
    values: Sequence[float]

    @property
    def ordered(self) -> list[float]:
        """The samples that are numbers, ascending."""
        return sorted(value for value in self.values if is_finite(value))


@dataclass(frozen=True, slots=True)
class SamplesChart:
    """Curves of one run. Failed samples have no time and are in none of them."""

    quantity: Quantity
    curves: Sequence[Curve]
    failed: int = 0
    unit_of_work: str = "files"


def draw(chart: SamplesChart) -> Figure:
    """Draw cumulative curves, with diamonds at the percentiles for which there are enough samples."""
    quantity, factor = chart.quantity.readable()
    curves = [
        (text(curve.name), [factor * value for value in curve.ordered]) for curve in chart.curves
    ]
    drawn = [value for _, ordered in curves for value in ordered]
    low, high = min(drawn, default=0.0), max(drawn, default=1.0) or 1.0
    clock = has_clock(quantity.unit, high)
    data: list[Trace] = []
    for index, (name, ordered) in enumerate(curves):
        data += _curve(index, name, ordered, quantity.unit)
    ticks = clock_ticks(0, 1.03 * high) if clock else {}
    span = min(0.0, low), 1.03 * high
    values = titled(value_title(quantity, with_clock=clock), span, **ticks)
    scales: dict[str, Axis] = {}
    if low > 0:
        start, end = log_range(low, high)
        ticks = (log_clock_ticks if clock else log_ticks)(10**start, 10**end)
        scales = {"linear": {}, "log": {"xaxis": {"type": "log", "range": [start, end], **ticks}}}
    return figure(
        data,
        {
            "showlegend": len(curves) > 1,
            "xaxis": values,
            "yaxis": titled(
                f"share of {text(chart.unit_of_work)} done by then", (0, 102), ticksuffix=" %"
            ),
            "margin": {"t": 24 if len(curves) > 1 else 8, "l": 8, "r": 12, "b": 8},
        },
        scales=scales,
    )


def title(chart: SamplesChart) -> str:
    """Return what is plotted."""
    return sentence(f"{chart.quantity.label} of all {chart.unit_of_work}")


def describe(chart: SamplesChart) -> str:
    """Return the chart in words: percentiles, the slowest sample, and failures."""
    parts = [f"{title(chart)}."]
    for curve in chart.curves:
        ordered = curve.ordered
        named = f"{curve.name}, " if curve.name else ""
        if not ordered:
            parts.append(f"{named}no value.")
            continue
        texts = [
            f"p{plain(100 * share)} {needs(len(ordered), share) or amount(percentile(ordered, share), chart.quantity.unit)}"
            for share in SHARES
        ]
        parts.append(
            f"{sentence(named)}{number(len(ordered))} {chart.unit_of_work}: {', '.join(texts)},"
            f" highest {amount(ordered[-1], chart.quantity.unit)}."
        )
    if chart.failed:
        parts.append(f"{number(chart.failed)} failed and are not in the curve.")
    return " ".join(parts)


def percentile(ordered: Sequence[float], share: float) -> float:
    """Return the value that at least `share` of the ascending values do not exceed."""
    return ordered[max(0, math.ceil(share * len(ordered) - 1e-9) - 1)]


def _curve(index: int, name: str, ordered: Sequence[float], unit: str) -> list[Trace]:
    """Reduce a curve to at most MOST_POINTS steps, including its extremes."""
    n, token = len(ordered), series_token(index)
    ranks = sorted({*range(0, n, max(1, -(-n // MOST_POINTS))), *range(max(0, n - 10), n)})
    pen = {"color": f"@{token}", "width": 2, "shape": "hv", "dash": DASHES[index % len(DASHES)]}
    message = f"{name}: " if name else ""
    shown = [share for share in SHARES if not needs(n, share)]
    marker = {"symbol": "diamond", "size": 8, "color": f"@{token}"}
    at = [percentile(ordered, share) for share in shown]
    return [
        line(
            [(ordered[rank], 100 * (rank + 1) / n) for rank in ranks],
            pen,
            name=name,
            hovertemplate=f"{message}%{{y:.1f}} % within %{{x:,.4~r}}<extra></extra>",
        ),
        markers(
            [(value, 100 * share) for value, share in zip(at, shown, strict=True)],
            marker,
            name=name,
            showlegend=False,
            notes=[
                f"{message}p{plain(100 * share)} {amount(value, unit)}"
                for value, share in zip(at, shown, strict=True)
            ],
        ),
    ]
