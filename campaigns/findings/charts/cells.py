"""The input of the figure of levels. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from campaigns.findings.charts.sampling import Quota, quota_of
from campaigns.findings.values import DRAWN_STATES
from campaigns.kit.charts.axes import is_wide
from campaigns.kit.charts.figure import Quantity, is_finite
from campaigns.kit.numbers import plain, short

STATES = DRAWN_STATES


@dataclass(frozen=True, slots=True)
class RunPoint:
    """One run. Its state says what the value is.

    `ok`: an observation. `censored`: the limit at which it timed out. `bound`: measured by a
    saturated generator. `excluded`: by a person. `failed`: none; it is drawn on the rail.
    page: what a click on the point opens: the position of the run in the campaign of this page, or an
    address of a page elsewhere; 0 where there is none.
    note: for the hover, or what writes it, since few of many runs are drawn.
    drawn: the state that is drawn; a time out without its limit is a failure, no value is nothing.
    """

    value: float | None
    state: str = "ok"
    name: str = ""
    note: str | Callable[[], str] = ""
    page: int | str = 0
    drawn: str = field(init=False)

    def __post_init__(self) -> None:
        """Raise ValueError for a state without a symbol."""
        if self.state not in STATES:
            raise ValueError(f"“{self.state}” is no state of a run; there are {', '.join(STATES)}.")
        object.__setattr__(self, "drawn", drawn_as(self.state, self.value))


def drawn_as(state: str, value: float | None) -> str:
    """Return the state that is drawn for a run of this state and value; nothing for a run that is not drawn."""
    if state == "failed" or is_finite(value):
        return state
    return "failed" if state == "censored" else ""


Details = tuple[str, str | Callable[[], str], int | str]
"""Name, note and page of a run."""


SPOILED = "too much failed"


@dataclass(frozen=True, slots=True)
class Runs(Sequence[RunPoint]):
    """Runs as columns: of thousands only those that are drawn become points, with their details by index."""

    values: Sequence[float | None]
    states: Sequence[str]
    details: Callable[[int], Details] = lambda _: ("", "", 0)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: Any) -> Any:
        return RunPoint(self.values[index], self.states[index], *self.details(index))

    def __iter__(self) -> Iterator[RunPoint]:
        return map(self.__getitem__, range(len(self)))


@dataclass(frozen=True)
class LevelCell:
    """The runs at one level, of one level of the second factor (`series`) where there is one.

    facet: level of the factor that has a small chart for each of its levels.
    mean: geometric where there is one. interval: of the cell's own runs. reading: bounds for
    comparing levels, with the noise of all of them. spoiled: its runs that ended well and are drawn as failed, since too
    much of the cell failed for a value.
    """

    level: float | str
    runs: Sequence[RunPoint]
    series: str = ""
    facet: str = ""
    mean: float | None = None
    interval: tuple[float, float] | None = None
    reading: tuple[float, float] | None = None
    spoiled: int = 0

    @property
    def label(self) -> str:
        """Return the level as text."""
        return plain(self.level) if isinstance(self.level, float) else str(self.level)

    @property
    def name(self) -> str:
        """Return the name of the cell: its facet and its series, where there are any, and its level."""
        return ", ".join(short(part) for part in (self.facet, self.series, self.label) if part)

    @property
    def observed(self) -> int:
        """Count the accepted runs."""
        return self.count("ok")

    def count(self, state: str) -> int:
        """Count the runs that are drawn as of this state."""
        return len(self.ordered(state))

    def ordered(self, state: str) -> Sequence[int]:
        """Return the places in the cell of the runs that are drawn as of this state, by their value."""
        return self._ordered.get(state, ())

    @cached_property
    def values(self) -> Sequence[float | None]:
        """Return the value of each run."""
        return self.runs.values if isinstance(self.runs, Runs) else [run.value for run in self.runs]

    @cached_property
    def _ordered(self) -> dict[str, list[int]]:
        runs, values, places = self.runs, self.values, dict[str, list[int]]()
        drawn = (
            map(drawn_as, runs.states, values)
            if isinstance(runs, Runs)
            else (run.drawn for run in runs)
        )
        for index, state in enumerate(drawn):
            places.setdefault(state, []).append(index)
        for each in places.values():
            each.sort(key=lambda index: values[index] or 0.0)
        return places


@dataclass(frozen=True, slots=True)
class Recommended:
    """The first level demonstrably within a share of the best; None where no level is.

    limit: the best mean and so much worse, in the unit of the metric.
    """

    level: float | str | None
    limit: float
    share_pct: float


@dataclass(frozen=True, slots=True)
class CarriedBand:
    """What one series carries, on an axis of loads; an end is None where there is none (low) or it is open (high)."""

    series: str
    low: float | None
    high: float | None


@dataclass(frozen=True)
class LevelsChart:
    """Cells in the order in which categories are to stand; numbers sort themselves.

    knee: where the curve bends, with 95 % confidence, on an axis of numbers. best: the name of the
    best cell; empty where none is ranked. is_load: the levels are how much is asked at once.
    limit: of the metric, that a load has to keep, with what each series carries.
    is_still: nothing is said of single marks, since the figure is only looked at.
    """

    factor: str
    quantity: Quantity
    cells: Sequence[LevelCell]
    factor_unit: str = ""
    series_factor: str = ""
    facet_factor: str = ""
    knee: tuple[float, float] | None = None
    recommended: Recommended | None = None
    best: str = ""
    is_load: bool = False
    limit: float | None = None
    carried: Sequence[CarriedBand] = ()
    is_still: bool = False

    @cached_property
    def series(self) -> list[str]:
        """Return the levels of the second factor in their order; one empty name without it."""
        return list(dict.fromkeys(cell.series for cell in self.cells))

    def failed_as(self, failed: str, spoiled: str) -> str:
        """Return the words for the runs that are drawn as failed, by whether some ended well."""
        spoilt = sum(cell.spoiled for cell in self.cells)
        if not spoilt:
            return failed
        return spoiled if spoilt == self.count("failed") else f"{failed}, or {spoiled}"

    @cached_property
    def facets(self) -> list[str]:
        """Return the levels that have a small chart each, in their order; one empty name without."""
        return list(dict.fromkeys(cell.facet for cell in self.cells))

    def only(self, facet: str) -> "LevelsChart":
        """Return what one small chart holds."""
        return replace(self, cells=[cell for cell in self.cells if cell.facet == facet])

    @cached_property
    def is_numeric(self) -> bool:
        """Return whether the levels stand on an axis of numbers."""
        return bool(self.cells) and all(
            isinstance(cell.level, int | float)
            and not isinstance(cell.level, bool)
            and is_finite(cell.level)
            for cell in self.cells
        )

    @cached_property
    def on_logs(self) -> bool:
        """Return whether the levels stand on a logarithmic axis: loads whose largest is many times the smallest."""
        if not self.is_load or not self.is_numeric:
            return False
        levels = [float(cell.level) for cell in self.cells]
        return is_wide(min(levels), max(levels))

    def count(self, state: str) -> int:
        """Count the runs that are drawn as of this state."""
        return self._counts[state]

    @cached_property
    def _counts(self) -> Mapping[str, int]:
        return {state: sum(cell.count(state) for cell in self.cells) for state in STATES}

    @cached_property
    def quota(self) -> Quota:
        """Share the chart among its cells."""
        return quota_of([len(cell.runs) for cell in self.cells])

    @cached_property
    def is_crowded(self) -> bool:
        """Return whether a cell is drawn as a box."""
        crowded_from = self.quota.crowded_from
        return any(cell.observed >= crowded_from for cell in self.cells)

    def readable(self) -> "LevelsChart":
        """Return the chart in the unit that is shown."""
        quantity, factor = self.quantity.readable()
        if factor == 1:
            return self
        return replace(
            self,
            quantity=quantity,
            cells=[_scaled(cell, factor) for cell in self.cells],
            limit=None if self.limit is None else factor * self.limit,
            recommended=self.recommended
            and replace(self.recommended, limit=factor * self.recommended.limit),
        )


def _scaled(cell: LevelCell, factor: float) -> LevelCell:
    values = [None if value is None else factor * value for value in cell.values]
    return replace(
        cell,
        runs=replace(cell.runs, values=values)
        if isinstance(cell.runs, Runs)
        else [replace(run, value=value) for run, value in zip(cell.runs, values, strict=True)],
        mean=None if cell.mean is None else factor * cell.mean,
        interval=cell.interval and (factor * cell.interval[0], factor * cell.interval[1]),
        reading=cell.reading and (factor * cell.reading[0], factor * cell.reading[1]),
    )
