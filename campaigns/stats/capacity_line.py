"""The capacity by a bound of a metric: where the line of ln value over ln load crosses the limit. Pure. CAPACITY 2.2."""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from campaigns.stats import student
from campaigns.stats.capacity import STEEPEST, ConditionCapacity, Held, LoadState, ValueCondition
from campaigns.stats.capacity_fit import (
    EQUAL,
    Edge,
    Line,
    Log,
    LogRun,
    first_beyond,
    line_of,
    noisy_loads,
    own_level,
    pooling_of,
)
from campaigns.stats.capacity_levels import by_levels, is_load
from campaigns.stats.interval import Interval
from campaigns.stats.logs import LARGEST, ratio_of
from campaigns.stats.multiplicity import holm

WINDOW = 4
"""Loads of the final fit, half of them on each side of the crossing: noise grows near saturation."""


def value_capacity(
    condition: ValueCondition, alpha_low: float, alpha_high: float
) -> ConditionCapacity:
    """Return the capacity by this condition alone; low at one alpha, high at the other."""
    if is_invalid(condition):
        return ConditionCapacity(condition.name, None, None, None, (), reason="invalid_values")
    return _Capacity(condition, alpha_low, alpha_high).result()


def is_invalid(condition: ValueCondition) -> bool:
    """Return whether a value or the limit has no log."""
    if not 0 < condition.limit < LARGEST:
        return True
    return any(run.value <= 0 for run in condition.runs if math.isfinite(run.value))


def log_runs(condition: ValueCondition) -> list[LogRun]:
    """Return the runs that make the line: those below the first load without a number. A run without value was lost."""
    sign, end = _sign(condition), min(_without_number(condition), default=math.inf)
    return [
        (run.block, math.log(_whole(run.load)), sign * math.log(run.value))
        for run in condition.runs
        if is_load(run.load) and 0 < run.value < LARGEST and run.load < end
    ]


def log_limit(condition: ValueCondition) -> Log:
    """Return the limit as the line has it, where less is better."""
    return _sign(condition) * math.log(condition.limit)


def bend_of(line: Line, crossing: Log, j: int) -> tuple[Log, Log]:
    """Return how much earlier and later a curve that bends one way may cross the limit between loads j and j + 1.

    Such a curve lies between the chord and the lines through the two loads before and the two after.
    """
    limit = line.z[j] + line.slope(j) * (crossing - line.x[j])
    first, last = float(line.x[j]), float(line.x[j + 1])
    places = []
    if j > 0:
        places.append(_reaches(line, j - 1, j, limit, last))
    if j + 2 < line.x.size:
        places.append(_reaches(line, j + 2, j + 1, limit, first))
    if not places:
        return 0.0, 0.0
    places = [min(max(place, first), last) for place in places]
    return max(0.0, crossing - max(places)), max(0.0, min(places) - crossing)


def _reaches(line: Line, outer: int, inner: int, limit: Log, otherwise: Log) -> Log:
    """Return where the line through two loads has the limit; `otherwise` where it does not rise."""
    slope = (line.raw[inner] - line.raw[outer]) / (line.x[inner] - line.x[outer])
    if slope <= 0:
        return otherwise
    return float(line.x[inner] + (limit - line.raw[inner]) / slope)


def _sign(condition: ValueCondition) -> int:
    return 1 if condition.lower_is_better else -1


def _without_number(condition: ValueCondition) -> set[float]:
    bounds = {run.load for run in condition.bounds} if condition.lower_is_better else set()
    return {load for load in {*condition.without_number, *bounds} if is_load(load)}


@dataclass(frozen=True, slots=True)
class _Capacity:
    condition: ValueCondition
    alpha_low: float
    alpha_high: float

    def result(self) -> ConditionCapacity:
        runs, limit = log_runs(self.condition), log_limit(self.condition)
        whole = line_of(runs) if runs else "loads"
        if isinstance(whole, str):
            states = [
                LoadState(load, Held.UNDECIDED, count) for load, count in _counts(runs).items()
            ]
            result = ConditionCapacity(
                self.condition.name,
                *(None, None, None),
                loads=states,
                reason=whole,
                about=_about(runs, limit),
            )
        else:
            result = self._of_line(whole, runs, limit)
        return self._ended(result)

    def _of_line(self, whole: Line, runs: Sequence[LogRun], limit: Log) -> ConditionCapacity:
        line, noisy = _window(whole, runs, limit), noisy_loads(runs)
        states = self._states(whole, line, limit, runs, noisy)
        crossed = line.crossing(limit)
        slope = line.slope(crossed[1]) if crossed else None
        levels_only = self.condition.offered_rate or (slope or 0.0) > STEEPEST
        allowance = (0.0, 0.0)
        if levels_only:
            low, high = _row(states), _first(states, Held.FAILED)
        else:
            low, high = self._ends(line, states, limit)
            if crossed:
                allowance = bend_of(line, *crossed)
                low, high = _widened(low, high, allowance, states)
        estimate = ratio_of(crossed[0]) if crossed and not levels_only else None
        low, high = _around(low, estimate, high)
        safe = self._safe(whole, line, limit, states, levels_only=levels_only)
        reversed_pairs = _reversed(whole, self.alpha_low, states)
        if reversed_pairs:  # pooled loads would hold, or fail, by what others show
            shown = self._states(whole.unpooled(), line.unpooled(), limit, runs, noisy)
        else:
            shown = states
        return ConditionCapacity(
            self.condition.name,
            low=low,
            estimate=estimate,
            high=high,
            loads=shown,
            slope=slope,
            levels_only=levels_only,
            allowance=allowance,
            noise=line.sd,
            block_sd=line.block_sd,
            window=[_load(x, states) for x in line.x],
            not_monotone=reversed_pairs,
            about=ratio_of(crossed[0]) if crossed else None,
            safe_load=_stricter(low, safe),
            own_noise=[_load(x, states) for x in sorted(noisy)],
        )

    def _states(
        self,
        whole: Line,
        line: Line,
        limit: Log,
        runs: Sequence[LogRun],
        noisy: Collection[Log],
    ) -> list[LoadState]:
        """Return the state of each load: on the line, by the window where it is in it; a noisy one by its own runs.

        The noise of noisy loads stays in that of the others: they would be decided too soon where a slow state shows in a few runs only.
        """
        inside = {float(x) for x in line.x}
        result = []
        for (load, count), x in zip(_counts(runs).items(), whole.x.tolist(), strict=True):
            if x in noisy:
                logs = [y for _, at, y in runs if at == x]
                lower, level, upper = own_level(logs, self.alpha_low)
                strict = own_level(logs, self.alpha_high)[0]
            else:
                used, at = (line if x in inside else whole), np.array([x])
                upper = float(used.upper(self.alpha_low)(at)[0])
                lower = float(used.lower(self.alpha_low)(at)[0])
                strict = float(used.lower(self.alpha_high)(at)[0])
                level = float((used.weights(at) @ used.raw)[0])
            state = Held.UNDECIDED
            if upper <= limit + EQUAL:
                state = Held.HELD
            elif strict > limit + EQUAL:
                state = Held.FAILED
            values = sorted(ratio_of(_sign(self.condition) * each) for each in (lower, upper))
            value = ratio_of(_sign(self.condition) * level)
            band = Interval(values[0], values[1]) if math.isfinite(upper) else None
            result.append(LoadState(load, state, count, value, band))
        return result

    def _ends(
        self, line: Line, states: Sequence[LoadState], limit: Log
    ) -> tuple[float | None, float | None]:
        """Return where the band leaves the limit; beyond the window by what loads there show."""
        first, last = _load(line.x[0], states), _load(line.x[-1], states)
        upper = first_beyond(line, line.upper(self.alpha_low), limit)
        lower = first_beyond(line, line.lower(self.alpha_high), limit)
        low: float | None = last if upper is None else ratio_of(upper)
        if upper is not None and upper <= line.x[0]:
            low = None if _is_above(line, line.upper(self.alpha_low), limit) else first
            low = _row([each for each in states if each.load < first]) if low is None else low
        high = ratio_of(lower) if lower is not None else None
        if lower is not None and lower <= line.x[0]:
            high = first
        elif lower is None:
            high = _first([each for each in states if each.load > last], Held.FAILED)
        return low, high

    def _safe(
        self,
        whole: Line,
        line: Line,
        limit: Log,
        states: Sequence[LoadState],
        *,
        levels_only: bool,
    ) -> float | None:
        """Return the load that one further run keeps; of the loads below the window where it lies there."""
        edge = line.further_run(self.alpha_low)
        if levels_only or _is_above(line, edge, limit):
            kept = whole.further_run(self.alpha_low)(whole.x) <= limit + EQUAL
            row = kept.size if kept.all() else int(np.argmin(kept))
            return _load(whole.x[row - 1], states) if row else None
        beyond = first_beyond(line, edge, limit)
        return _load(line.x[-1], states) if beyond is None else ratio_of(beyond)

    def _ended(self, result: ConditionCapacity) -> ConditionCapacity:
        """Add the loads from the first without a number on: they can only be shown to fail."""
        without = _without_number(self.condition)
        if not without:
            return result
        end, condition = min(without), self.condition
        shares = by_levels(condition.shares, condition.share_limit, self.alpha_low, self.alpha_high)
        loads = {each.load for each in shares} | {run.load for run in condition.runs} | without
        by_share = {each.load: each for each in shares}
        beyond = [
            self._end_state(load, by_share.get(load))
            for load in sorted(loads)
            if is_load(load) and load >= end
        ]
        high = result.high
        if high is None:
            high = _first(beyond, Held.FAILED)
        return replace(result, high=high, loads=[*result.loads, *beyond])

    def _end_state(self, load: float, share: LoadState | None) -> LoadState:
        state = share or LoadState(load, Held.NOT_MEASURED, 0)
        if state.state in (Held.HELD, Held.NOT_CONTRADICTED):
            # It has no number, so that too little failed shows nothing.
            state = replace(state, state=Held.UNDECIDED)
        if state.state != Held.FAILED and load in {run.load for run in self.condition.bounds}:
            return self._by_bounds(load, state)
        return state

    def _by_bounds(self, load: float, state: LoadState) -> LoadState:
        """Take lower bounds for the values: the level lies above theirs."""
        runs = [
            (run.block, math.log(load), math.log(run.value))
            for run in (*self.condition.runs, *self.condition.bounds)
            if run.load == load and 0 < run.value < LARGEST
        ]
        line = line_of(runs) if runs else ""
        fails = isinstance(line, Line) and _is_above(
            line, line.lower(self.alpha_high), log_limit(self.condition)
        )
        return replace(
            state, state=Held.FAILED if fails else Held.UNDECIDED, runs=max(state.runs, len(runs))
        )


def _window(whole: Line, runs: Sequence[LogRun], limit: Log) -> Line:
    """Fit the loads next to the crossing again; all of them where they are few, or the part would give no bound."""
    if whole.x.size <= WINDOW:
        return whole
    above = np.flatnonzero(whole.z > limit + EQUAL)
    left = int(above[0]) - 1 if above.size else whole.x.size - 1
    start = min(max(0, left - WINDOW // 2 + 1), whole.x.size - WINDOW)
    near = {float(x) for x in whole.x[start : start + WINDOW]}
    line = line_of([run for run in runs if run[1] in near])
    return whole if isinstance(line, str) else line


def _reversed(line: Line, alpha: float, states: Sequence[LoadState]) -> list[tuple[float, float]]:
    """Return pairs of loads of which the smaller is worse for certain (one-sided t, Holm)."""
    count = line.x.size
    pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
    p_values = []
    for i, j in pairs:
        v = line.covariance
        error = line.sd * math.sqrt(max(0.0, v[i, i] + v[j, j] - 2 * v[i, j]))
        gap = float(line.raw[i] - line.raw[j])
        if error == 0:
            p_values.append(0.0 if gap > EQUAL else 1.0)
        else:
            p_values.append(student.upper_tail(gap / error, line.df))
    return [
        (states[i].load, states[j].load)
        for (i, j), p in zip(pairs, holm(p_values), strict=True)
        if p < alpha
    ]


def _counts(runs: Iterable[LogRun]) -> dict[float, int]:
    """Return the number of runs by load, ascending."""
    every = [x for _, x, _ in runs]
    return {_whole(math.exp(x)): every.count(x) for x in sorted(set(every))}


def _whole(load: float) -> float:
    """Return a load as it was written: its log and back has lost the last digits."""
    return float(f"{load:.12g}")


def _load(x: float, states: Sequence[LoadState]) -> float:
    return min((each.load for each in states), key=lambda load: abs(math.log(load) - x))


def _row(states: Sequence[LoadState]) -> float | None:
    """Return the last of the unbroken row of loads that hold."""
    last = None
    for each in states:
        if each.state != Held.HELD:
            break
        last = each.load
    return last


def _first(states: Sequence[LoadState], state: Held) -> float | None:
    return next((each.load for each in states if each.state == state), None)


def _is_above(line: Line, edge: Edge, limit: Log) -> bool:
    return bool(edge(line.x[:1])[0] > limit + EQUAL)


def _widened(
    low: float | None,
    high: float | None,
    allowance: tuple[Log, Log],
    states: Sequence[LoadState],
) -> tuple[float | None, float | None]:
    """Widen both ends by the bend, never beyond a load that is itself shown to hold or to fail."""
    early, late = allowance
    if low is not None and early:
        holds = _row([each for each in states if each.load <= low]) or 0.0
        low = max(low * math.exp(-early), holds)
    if high is not None and late:
        fails = min(
            (each.load for each in states if each.state == Held.FAILED and each.load >= high),
            default=None,
        )
        wide = high * math.exp(late)
        is_open = fails is None and wide > states[-1].load
        high = None if is_open else min(wide, fails or wide)
    return low, high


def _around(
    low: float | None, estimate: float | None, high: float | None
) -> tuple[float | None, float | None]:
    """Keep the estimate between its bounds where only rounding takes it out."""
    if estimate is not None and low is not None:
        low = min(low, estimate)
    if estimate is not None and high is not None:
        high = max(high, estimate)
    return low, high


def _stricter(low: float | None, safe: float | None) -> float | None:
    """Return the safe load, which the bend that lowers the bound lowers as well."""
    return None if low is None or safe is None else min(low, safe)


def _about(runs: Sequence[LogRun], limit: Log) -> float | None:
    """Return where the plain means of too few blocks cross the limit."""
    loads = sorted({x for _, x, _ in runs})
    if len(loads) < 2:
        return None
    own = [[y for _, at, y in runs if at == x] for x in loads]
    means = np.array([np.mean(each) for each in own])
    rising = pooling_of(means, np.array([len(each) for each in own], dtype=float)) @ means
    above = np.flatnonzero(rising > limit + EQUAL)
    if not above.size or above[0] == 0:
        return None
    j = int(above[0]) - 1
    share = (limit - rising[j]) / (rising[j + 1] - rising[j])
    return ratio_of(float(loads[j] + share * (loads[j + 1] - loads[j])))
