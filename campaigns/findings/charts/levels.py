"""A metric against the levels of a factor, with its runs. Pure.

Rings are runs, a little left of their level; the diamond is the geometric mean; the thin interval
with caps trusts only the cell's own runs. What is no value has a shape of its own, never a gap.
A cell of many runs is a box of quartiles with some of its runs as rings.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from campaigns.findings.charts import sampling
from campaigns.findings.charts.cells import SPOILED, STATES, LevelCell, LevelsChart
from campaigns.findings.charts.level_traces import (
    boxes,
    failed,
    intervals,
    joined,
    means,
    observed,
    readings,
    series_group,
    special,
)
from campaigns.findings.charts.parts import MARGIN, Shape, across, band, log_scales
from campaigns.findings.charts.places import Place, level_axis, log_level_axis, place_cells
from campaigns.kit.charts.axes import (
    has_clock,
    narrow_ticks,
    short_title,
    titled,
    value_axis,
)
from campaigns.kit.charts.figure import (
    SYMBOLS,
    Figure,
    KeyItem,
    figure,
    is_finite,
    sentence,
    series_token,
    text,
)
from campaigns.kit.numbers import amount, bracketed, counted, number

INTERVAL_ROOM = 1.6
"""An interval may stretch the axis to so many times the largest value; a longer one is cut off."""
MOST_DESCRIBED = 12
HALF_WIDTH = 0.03
"""Half the width of the band of a numeric level, as a share of the level."""
HALF_CATEGORY = 0.4


@dataclass(frozen=True, slots=True)
class _Extent:
    """The axis of values. low: the smallest value above 0, None where one is not; for the log axis."""

    bottom: float
    top: float
    rail: float
    low: float | None
    clock: bool


def draw(chart: LevelsChart) -> Figure:
    """Draw the figure; `scales` has `log` only where every value is above 0."""
    chart = chart.readable()
    return _drawn(chart, place_cells(chart))


def multiples(chart: LevelsChart) -> list[tuple[str, Figure]]:
    """Draw a small figure for each facet, by its name; all of them share axes and colours."""
    chart = chart.readable()
    places = place_cells(chart)
    return [
        (facet, _drawn(chart, [place for place in places if place.cell.facet == facet]))
        for facet in chart.facets
    ]


def _drawn(chart: LevelsChart, places: Sequence[Place]) -> Figure:
    extent = _extent(chart)
    factor = text(chart.factor) + (f" ({text(chart.factor_unit)})" if chart.factor_unit else "")
    levels = level_axis(chart, factor)
    ends = levels["range"]
    if chart.on_logs:
        levels |= log_level_axis(chart) or {}
        ends = [10**end for end in levels["range"]]
    others = [] if chart.on_logs else filter(None, [log_level_axis(chart)])
    values = value_axis(chart.quantity, extent.bottom, extent.top, with_clock=extent.clock)
    return figure(
        [
            *joined(chart, places),
            *readings(places),
            *intervals(places),
            *means(chart, places),
            *observed(chart, places),
            *boxes(chart, places),
            *special(chart, places),
            *failed(chart, places, extent.rail, ends),
        ],
        {
            "xaxis": levels,
            "yaxis": values,
            "margin": MARGIN,
            "shapes": [
                *knee_band(chart),
                *recommended_band(chart, places),
                *carried_bands(chart, ends),
            ],
        },
        scales=_scales(chart, extent),
        narrow={
            "yaxis": titled(short_title(chart.quantity, with_clock=extent.clock)),
            **({"xaxis": narrow_ticks(levels, *others)} if chart.is_numeric else {}),
        },
    )


def title(chart: LevelsChart) -> str:
    """Return what is plotted."""
    names = (chart.factor, chart.series_factor, chart.facet_factor)
    factors = " and ".join(name for name in names if name)
    return sentence(f"{chart.quantity.label} by {factors}" if factors else chart.quantity.label)


def note(chart: LevelsChart) -> str:
    """Return how many runs are drawn where not all of them are; else nothing."""
    quota = chart.quota
    runs = sum(chart.count(state) for state in STATES)
    drawn = sum(quota.drawn(cell.count(state)) for cell in chart.cells for state in STATES)
    return sampling.note(drawn, runs, "run", "cell", quota)


def describe(chart: LevelsChart) -> str:
    """Describe the finding in numbers: the mean of each level, the best if known, and runs without a value."""
    with_mean = [cell for cell in chart.cells if is_finite(cell.mean)]
    unit = chart.quantity.unit
    parts = [f"{title(chart)}."]
    if 0 < len(with_mean) <= MOST_DESCRIBED:
        parts.append(", ".join(_reading(cell, unit) for cell in with_mean) + ".")
    elif with_mean:
        means = [cell.mean or 0.0 for cell in with_mean]
        span = f"{amount(min(means), unit)} to {amount(max(means), unit)}"
        parts.append(f"{len(with_mean)} cells, with means of {span}.")
    if not with_mean:
        parts.append("No value yet.")
    elif chart.best:
        parts.append(f"Best at {chart.best}.")
    if chart.knee and chart.is_numeric:
        levels = [cell.level for cell in chart.cells if not isinstance(cell.level, str)]
        parts.append(f"The knee lies {bracketed(*chart.knee, levels)}.")
    if chart.recommended and chart.recommended.level is not None:
        share = number(chart.recommended.share_pct)
        parts.append(f"{chart.recommended.level} is within {share} % of the best.")
    failed = chart.failed_as("failed", f"without a value: {SPOILED}")
    notes = (("failed", failed), ("censored", "timed out"), ("bound", "only a bound"))
    parts += [
        f"{counted(chart.count(state), 'run')} {labels}."
        for state, labels in (*notes, ("excluded", "excluded"))
        if chart.count(state)
    ]
    return " ".join(parts)


def legend(chart: LevelsChart) -> tuple[KeyItem, ...]:
    """List what is drawn, and what could be but is not, with its count."""
    series = chart.series
    if len(series) > 1:
        runs = [
            KeyItem(
                SYMBOLS[index % len(SYMBOLS)],
                f"{chart.series_factor} {name}: one run, and filled the geometric mean".strip(),
                sum(cell.observed for cell in chart.cells if cell.series == name),
                series_token(index),
                series_group(index),
            )
            for index, name in enumerate(series)
        ]
    else:
        one = "one run, offset left for legibility"
        runs = [
            KeyItem("circle", one, chart.count("ok"), "series-1", "runs"),
            KeyItem("diamond", "geometric mean", None, "ink", "mean"),
        ]
    spread = "middle half of the runs and their median; whiskers from 5 % to 95 %"
    box = [KeyItem("box", spread, None, "ink-2", "box")] if chart.is_crowded else []
    bound = "bound-down" if chart.quantity.lower_is_better else "bound-up"
    knee = [KeyItem("band", "knee, 95 %", None, "warn", "knee")] if knee_band(chart) else []
    has_reading = any(cell.reading for cell in chart.cells)
    compared = KeyItem("bar", "for comparing levels, 95 %", None, "series-1", "reading")
    failures = chart.count("failed")
    failed = chart.failed_as("failed", f"no value: {SPOILED}")
    failed = "failed, no value" if failed == "failed" else failed
    timeouts = chart.count("censored")
    return (
        *runs,
        *box,
        *([compared] if has_reading else []),
        *knee,
        *_advice(chart),
        *_conditions(chart),
        KeyItem("interval", "95 % interval, this cell only", None, "ink-3", "interval"),
        KeyItem("failed", failed, failures, "fail", "failed"),
        KeyItem("censored", "timed out, true value above", timeouts, "warn", "censored"),
        KeyItem(bound, "load generator saturated", chart.count("bound"), "series-4", "bound"),
        KeyItem("excluded", "excluded", chart.count("excluded"), "ink-3", "excluded"),
    )


def _advice(chart: LevelsChart) -> list[KeyItem]:
    if chart.recommended is None:
        return []
    share = number(chart.recommended.share_pct)
    line = KeyItem("line", f"the best and {share} % worse", None, "equal", "limit")
    if chart.recommended.level is None:
        return [line]
    which = "lowest setting" if chart.is_numeric else "first setting"
    within = f"{which} demonstrably within {share} % of the best"
    return [
        KeyItem("band", within, None, "equal", "recommended"),
        line,
    ]


def _conditions(chart: LevelsChart) -> list[KeyItem]:
    carried = KeyItem("band", "carried, 95 %", None, "series-1", "carried")
    limit = KeyItem("dotted", "limit of the condition", None, "ink", "condition")
    return [
        *([carried] if chart.carried else []),
        *([limit] if chart.limit is not None else []),
    ]


def _reading(cell: LevelCell, unit: str) -> str:
    return f"{cell.name}: {amount(cell.mean or 0.0, unit)}"


def _extent(chart: LevelsChart) -> _Extent:
    drawn = [
        cell.values[ordered[end]]
        for cell in chart.cells
        for state in STATES
        if state != "failed" and (ordered := cell.ordered(state))
        for end in (0, -1)
    ]
    values = [
        value for value in (*drawn, *(cell.mean for cell in chart.cells)) if value is not None
    ]
    values = [value for value in values if is_finite(value)]
    bounds = [bound for cell in chart.cells for bound in cell.interval or () if is_finite(bound)]
    smallest, largest = min(values, default=0.0), max(values, default=0.0)
    top = max(largest, min(max(bounds, default=0.0), INTERVAL_ROOM * largest)) * 1.06
    top = top if top > 0 else (1.0 if smallest >= 0 else 0.0)
    rail = top + 0.04 * (top - min(smallest, 0.0))
    if chart.count("failed"):
        top = rail + 0.04 * (top - min(smallest, 0.0))
    lowest = min((smallest, *(bound for bound in bounds if bound > smallest / INTERVAL_ROOM)))
    return _Extent(
        bottom=0.0 if smallest >= 0 else 1.06 * smallest,
        top=top,
        rail=rail,
        low=lowest if smallest > 0 else None,
        clock=has_clock(chart.quantity.unit, top),
    )


def _scales(chart: LevelsChart, extent: _Extent) -> dict[str, Any]:
    scales = log_scales(extent.low, extent.top, clock=extent.clock)
    if scales and not chart.on_logs and (levels := log_level_axis(chart)):
        scales["log"]["xaxis"] = levels
    return scales


def knee_band(chart: LevelsChart) -> list[Shape]:
    """Shade where the curve bends."""
    if chart.knee is None or not chart.is_numeric:
        return []
    return [band(*chart.knee, "@warn/14", "knee")]


def recommended_band(chart: LevelsChart, places: Sequence[Place]) -> list[Shape]:
    """Shade the recommended level, and dot a line at what is as good as the best."""
    if chart.recommended is None:
        return []
    dotted = _dotted(chart.recommended.limit, "@equal", "limit")
    at = next((p.level for p in places if p.cell.level == chart.recommended.level), None)
    if at is None:
        return [dotted]
    half = HALF_WIDTH * abs(at) if chart.is_numeric else HALF_CATEGORY
    return [band(at - half, at + half, "@equal/16", "recommended"), dotted]


def carried_bands(chart: LevelsChart, ends: Sequence[float]) -> list[Shape]:
    """Shade what each series carries, up to the ends of the axis where a bound is open, and dot a line at the limit."""
    if not chart.is_load or not chart.is_numeric:
        return []
    shapes = [
        band(
            ends[0] if each.low is None else each.low,
            ends[1] if each.high is None else each.high,
            f"@{series_token(chart.series.index(each.series))}/14",
            "carried",
        )
        for each in chart.carried
        if each.series in chart.series and (each.low is not None or each.high is not None)
    ]
    if chart.limit is not None:
        shapes.append(_dotted(chart.limit, "@ink", "condition"))
    return shapes


def _dotted(value: float, color: str, name: str) -> Shape:
    return across(value, {"color": color, "width": 1, "dash": "dot"}, layer="below", name=name)
