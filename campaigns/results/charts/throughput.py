"""The chart of a run's throughput per second, during the run and afterwards. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from campaigns.kit.charts.axes import seconds_axis, value_axis
from campaigns.kit.charts.figure import (
    Figure,
    Quantity,
    Trace,
    figure,
    is_finite,
    line,
    sentence,
    text,
)
from campaigns.kit.numbers import amount, duration


@dataclass(frozen=True, slots=True)
class ThroughputChart:
    """`values[i]` belongs to [i, i + 1) x step_seconds since the clock started; None: not observed.

    ceiling: the highest possible value, where it is known. expected_seconds: the expected length of an open
    run, which fixes the axis.
    """

    quantity: Quantity
    step_seconds: float
    values: Sequence[float | None]
    ceiling: float | None = None
    ceiling_label: str = "ceiling"
    expected_seconds: float | None = None


def draw(chart: ThroughputChart) -> Figure:
    """Draw the figure; a second without a value is a gap, a second of 0 is 0."""
    quantity, factor = chart.quantity.readable()
    values = [factor * v if v is not None and is_finite(v) else None for v in chart.values]
    ceiling = factor * chart.ceiling if chart.ceiling is not None else None
    lasted = len(values) * chart.step_seconds
    end = max(lasted, chart.expected_seconds or 0.0) or 1.0
    top = max((value for value in (*values, ceiling) if value is not None), default=0.0)
    return figure(
        [
            *(
                line(
                    points,
                    {"color": "@series-1", "width": 2, "shape": "hv"},
                    name=text(quantity.label),
                    fill="tozeroy",
                    fillcolor="@series-1/14",
                    hovertemplate=f"%{{x:.1f}} s<br>%{{y:,.4~r}} {text(quantity.unit)}<extra></extra>",
                )
                for points in _stretches(values, chart.step_seconds)
            ),
            *_ceiling(ceiling, chart.ceiling_label, end),
        ],
        {
            "xaxis": seconds_axis(0, end, "time since the clock started"),
            "yaxis": value_axis(quantity, 0, 1.2 * top or 1.0),
            "margin": {"t": 8, "l": 8, "r": 8, "b": 8},
        },
    )


def title(chart: ThroughputChart) -> str:
    """Return what is plotted."""
    return sentence(f"{chart.quantity.label} over the run")


def describe(chart: ThroughputChart) -> str:
    """Return the chart in words: mean, highest value, and ceiling."""
    unit = chart.quantity.unit
    seen = [value for value in chart.values if value is not None and is_finite(value)]
    if not seen:
        return f"{title(chart)}. No value yet."
    lasted = duration(len(chart.values) * chart.step_seconds)
    parts = [
        f"{title(chart)}, {lasted}: mean {amount(sum(seen) / len(seen), unit)}",
        f"highest {amount(max(seen), unit)}",
    ]
    if chart.ceiling is not None:
        parts.append(f"{chart.ceiling_label} {amount(chart.ceiling, unit)}")
    return f"{', '.join(parts)}."


def _stretches(values: Sequence[float | None], step: float) -> list[list[tuple[float, float]]]:
    """Split the values at gaps, which a fill would bridge; the last step of each part has a width, too."""
    stretches: list[list[tuple[float, float]]] = []
    for index, value in enumerate(values):
        if value is None:
            continue
        if not index or values[index - 1] is None:
            stretches.append([])
        else:
            stretches[-1].pop()
        stretches[-1] += [(index * step, value), ((index + 1) * step, value)]
    return stretches


def _ceiling(ceiling: float | None, label: str, end: float) -> list[Trace]:
    if ceiling is None:
        return []
    drawn = line([(0, ceiling), (end, ceiling)], {"color": "@ink-3", "dash": "dash", "width": 1})
    return [
        drawn
        | {
            "mode": "lines+text",
            "name": text(label),
            "text": ["", text(label)],
            "textposition": "top left",
            "textfont": {"color": "@ink-2"},
        }
    ]
