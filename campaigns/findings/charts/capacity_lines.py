"""The lines of the chart of load: points, runs, shares and what is carried, of each setting. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from campaigns.findings import values as stored
from campaigns.findings.charts.base import Shown, run_note
from campaigns.findings.wording.capacity import CapacityWords
from campaigns.findings.wording.loads import setting_name
from campaigns.kit.charts.axes import (
    is_wide,
    log_range,
)
from campaigns.kit.charts.figure import (
    Quantity,
    is_finite,
)
from campaigns.kit.charts.labels import LevelLabels, inside
from campaigns.kit.mappings import Levels
from campaigns.kit.numbers import amount
from campaigns.stats.capacity import Capacity, Held, LoadState

FAR_LIMIT = 4.0
"""A limit above so many times the largest value is named in a note and not drawn."""
WITH_VALUE = ("ok", "bound", "explored")
"""States of runs that are drawn at their value."""


@dataclass(frozen=True, slots=True)
class LoadPoint:
    """The typical run at one load. value: None where too much failed for one. band: 95 %, with the noise of blocks. state: the decision on the load."""

    load: float
    value: float | None
    band: tuple[float, float] | None
    state: Held
    runs: int


@dataclass(frozen=True, slots=True)
class SharePoint:
    """The share of the work that failed at one load; state: the decision on the load, None where no limit judges the share."""

    load: float
    share: float
    interval: tuple[float, float] | None = None
    state: Held | None = None


@dataclass(frozen=True, slots=True)
class RunPoint:
    """One run; value: None where it failed. explored: it only chose the loads."""

    load: float
    value: float | None
    name: str = ""
    note: str = ""
    position: int = 0
    explored: bool = False


@dataclass(frozen=True, slots=True)
class Carried:
    """The capacity of a setting in one chart; ends are None where there is none (low) or it is open (high)."""

    low: float | None
    estimate: float | None
    high: float | None
    text: str


@dataclass(frozen=True, slots=True)
class CapacityLine:
    """One setting. carried: None while nothing is judged."""

    name: str
    points: Sequence[LoadPoint]
    shares: Sequence[SharePoint]
    runs: Sequence[RunPoint]
    carried: Carried | None = None


@dataclass(frozen=True, slots=True)
class CapacityChart:
    """A condition by load. factor: label of the load. limit: of the quantity, None where only the failed share has one.

    share_limit: of the failed share, of 1.
    """

    factor: str
    quantity: Quantity
    lines: Sequence[CapacityLine]
    limit: float | None = None
    share_limit: float | None = None

    @property
    def loads(self) -> list[float]:
        """Return all loads, ascending."""
        loads = [
            *(each.load for one in self.lines for each in one.points),
            *(each.load for one in self.lines for each in one.shares),
            *(each.load for one in self.lines for each in one.runs),
        ]
        return sorted({load for load in loads if is_finite(load)})

    @property
    def is_empty(self) -> bool:
        """Return whether no load has anything to draw: a run, a value, or work that failed."""
        points = [each for one in self.lines for each in one.points]
        return not (
            any(one.runs for one in self.lines)
            or any(each.value is not None or each.state == Held.FAILED for each in points)
            or any(each.share for one in self.lines for each in one.shares)
        )

    @property
    def is_log(self) -> bool:
        """Return whether the loads stand on a logarithmic axis."""
        loads = self.loads
        return bool(loads) and is_wide(loads[0], loads[-1])

    @property
    def ends(self) -> tuple[float, float]:
        """Return the ends of the axis of loads: all of them, and finite bounds of what is carried."""
        loads = self.loads or [1.0]
        bounds = [
            bound
            for one in self.lines
            if one.carried
            for bound in (one.carried.low, one.carried.high)
            if bound is not None and is_finite(bound) and bound > 0
        ]
        low, high = min(*loads, *bounds, loads[0]), max(*loads, *bounds, loads[-1])
        if self.is_log:
            start, end = log_range(low, high, 0.08)
            return 10**start, 10**end
        pad = 0.08 * (high - low) or 0.4 * abs(high) or 1.0
        return low - pad, high + pad

    @property
    def values(self) -> list[float]:
        """Return all values that are drawn."""
        values = [
            *(each.value for one in self.lines for each in one.points),
            *(each.value for one in self.lines for each in one.runs),
        ]
        return [value for value in values if value is not None and is_finite(value)]

    @property
    def limit_is_far(self) -> bool:
        """Return whether the limit lies so high that the values would lie on the ground."""
        top = max(self.values, default=0.0)
        return self.limit is not None and top > 0 and self.limit > FAR_LIMIT * top

    def shifted(self, load: float, share_of_axis: float) -> float:
        """Return the place so much of the axis to the right of a load."""
        low, high = self.ends
        if self.is_log:
            return float(load * (high / low) ** share_of_axis)
        return load + share_of_axis * (high - low)

    def readable(self) -> "CapacityChart":
        """Return the chart in the unit that is shown."""
        quantity, factor = self.quantity.readable()
        if factor == 1:
            return self
        return replace(
            self,
            quantity=quantity,
            limit=None if self.limit is None else factor * self.limit,
            lines=[_scaled(one, factor) for one in self.lines],
        )


def _scaled(one: CapacityLine, factor: float) -> CapacityLine:
    def times(value: float | None) -> float | None:
        return None if value is None else factor * value

    return replace(
        one,
        points=[
            replace(
                each,
                value=times(each.value),
                band=each.band and (factor * each.band[0], factor * each.band[1]),
            )
            for each in one.points
        ],
        runs=[replace(each, value=times(each.value)) for each in one.runs],
    )


def chart_of(
    shown: Shown,
    finding: stored.CapacityFinding,
    settings: Sequence[stored.CapacityOfSetting],
    term: stored.ConditionTerms | None,
) -> CapacityChart:
    """Return the input of the figure: the condition, or without one the metric that is judged."""
    failures = next((each for each in finding.conditions if not each.metric), None)
    metric = term.metric if term else shown.primary_metric
    cells = shown.findings.cells_of(metric)
    by_key = {cell.cell: cell for cell in cells.cells} if cells else {}
    loads = {cell.cell: cell.levels.get(finding.load) for cell in by_key.values()}
    quantity, words = shown.quantity(metric), CapacityWords(finding)
    if term and term.as_share:
        quantity = Quantity(f"share beyond {amount(_bound(term), term.unit)}", "share", True)
    return CapacityChart(
        factor=inside(finding.load_label),
        quantity=quantity,
        limit=_limit(term, finding),
        share_limit=failures.failed_share if failures else None,
        lines=[
            CapacityLine(
                name=name_of(setting.levels, shown.labels),
                points=_points(setting, term, by_key),
                shares=_share_points(setting, failures, by_key),
                runs=[]
                if term and term.as_share
                else _run_points(shown, setting, by_key, loads, set(finding.explored)),
                carried=None if shown.is_open else _carried(setting.capacity, words),
            )
            for setting in settings
        ],
    )


def _bound(term: stored.ConditionTerms) -> float | None:
    return term.at_most if term.at_most is not None else term.at_least


def _limit(term: stored.ConditionTerms | None, finding: stored.CapacityFinding) -> float | None:
    if term is None:
        return None
    if not term.as_share:
        return _bound(term)
    return term.failed_share


def name_of(levels: Levels, labels: LevelLabels) -> str:
    """Return the name of a setting as the answer writes it, with long levels shortened."""
    short = {
        name: labels.short(name, level) if isinstance(level, str) else level
        for name, level in levels.items()
    }
    return setting_name(short)


def _carried(capacity: Capacity, words: CapacityWords) -> Carried:
    judged = capacity.word.has_bounds
    return Carried(
        low=capacity.low if judged else None,
        estimate=capacity.estimate if judged else None,
        high=capacity.high if judged else None,
        text=words.short(capacity),
    )


def _points(
    setting: stored.CapacityOfSetting,
    term: stored.ConditionTerms | None,
    cells: Mapping[int, stored.Cell],
) -> list[LoadPoint]:
    if term is None:
        return [
            LoadPoint(
                each.load,
                summary.gmean if summary.gmean is not None else summary.mean,
                None,
                each.held,
                each.runs,
            )
            for each in setting.cells
            if each.cell in cells
            for summary in [cells[each.cell].summary]
        ]
    decisions = _decisions(setting)
    return [
        LoadPoint(
            state.load,
            state.share if term.as_share else state.value,
            _pair(state.share_interval if term.as_share else state.band),
            decisions.get(state.load, state.state),
            state.runs,
        )
        for state in _states(setting, term)
    ]


def _decisions(setting: stored.CapacityOfSetting) -> dict[float, Held]:
    """Return the decision on each load: of all conditions, whichever is drawn."""
    return {each.load: each.held for each in setting.cells}


def _states(
    setting: stored.CapacityOfSetting, term: stored.ConditionTerms | None
) -> Sequence[LoadState]:
    wanted = [each for each in setting.capacity.conditions if term and each.name == term.name]
    return wanted[0].loads if wanted else ()


def _pair(interval: Sequence[float] | None) -> tuple[float, float] | None:
    return (interval[0], interval[1]) if interval else None


def _share_points(
    setting: stored.CapacityOfSetting,
    failures: stored.ConditionTerms | None,
    cells: Mapping[int, stored.Cell],
) -> list[SharePoint]:
    """Return the failed shares as they were judged, else those of the runs."""
    decisions = _decisions(setting)
    judged = [
        SharePoint(
            state.load,
            state.share,
            _pair(state.share_interval),
            decisions.get(state.load, state.state),
        )
        for state in _states(setting, failures)
        if state.share is not None
    ]
    if judged:
        return judged
    shares = []
    for each in setting.cells:
        runs = cells[each.cell].runs if each.cell in cells else ()
        units = sum(run.units for run in runs)
        if units:
            failed = sum(run.units_failed for run in runs)
            shares.append(SharePoint(each.load, min(1.0, failed / units)))
    return shares


def _run_points(
    shown: Shown,
    setting: stored.CapacityOfSetting,
    cells: Mapping[int, stored.Cell],
    loads: Mapping[int, Any],
    explored: set[int],
) -> list[RunPoint]:
    mine = [
        cell
        for cell in cells.values()
        if all(cell.levels.get(name) == level for name, level in setting.levels.items())
    ]
    return [
        RunPoint(
            load=float(load),
            value=run.value if run.state in WITH_VALUE else None,
            name=f"run {run.position}",
            note=run_note(run, shown.labels.block),
            position=run.position,
            explored=run.position in explored,
        )
        for cell in mine
        for load in [loads[cell.cell]]
        if isinstance(load, int | float)
        for run in cell.runs
        if run.state in (*WITH_VALUE, "failed", "censored")
    ]
