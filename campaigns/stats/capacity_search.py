"""The search for capacity: which load comes next, from the runs so far. Pure: the same history gives the same step.

It explores from a small load upwards, one run each, until a load fails, halves the bracket, and confirms with fresh blocks of a few
loads around the crossing. What explored has chosen the loads by its results, so only what confirms is judged. No step is above
`largest` or below `lowest`. After each run that failed, a *check of recovery* repeats a load that the target is known to carry.
Sentences are none of its business, nor is the verdict.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random

from campaigns.stats.capacity import DEFAULT_RESOLUTION, NEIGHBOURS, STEEPEST

QUADRUPLE_BELOW = 1 / 6
"""The load is quadrupled instead of doubled where every value is at most this share of its limit."""
NARROW, NARROW_BY_FAILURES = 1.5, 1.25
"""The ratio of the bracket at which exploring ends; the second where failures alone decide."""
MOST_EXPLORED = 9
"""Runs of exploring, from which on the bracket is not halved any more."""
SPREAD, SPREAD_STEEP = NEIGHBOURS, 1.25
"""The ratio of neighbouring loads that confirm, at most: the line between them may be claimed; and for a steep curve."""
BLOCKS_BY_FAILURES = 4
FEWEST_BLOCKS = 3
"""Blocks without which no interval is given."""
CHECKS = 3
"""Checks of recovery in a row; when the last one fails, the target has not recovered."""
RECOVERED_WITHIN, LEAST_WITHIN, MOST_WITHIN = 1.5, 1.2, 2.0
"""How many times slower than before a check of recovery may be; bounds of the prediction interval, once there are three."""
FAR_BELOW = 2 / 3
_T_995 = (9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169, 3.106, 3.055, 3.012, 2.977)
"""Quantiles .995 of Student's t from 2 degrees of freedom on."""

Setting = str
"""Which setting is searched: any name that is equal for equal settings."""


class Phase(StrEnum):
    """What a run of a search is for. CHECK: of recovery."""

    EXPLORE = "explore"
    CONFIRM = "confirm"
    CHECK = "check"


class Why(StrEnum):
    """The reason of a step."""

    FIRST = "first"
    DOUBLE = "double"
    QUADRUPLE = "quadruple"
    HALVE_DOWN = "halve_down"
    HALVE = "halve"
    CROSSING = "crossing"
    AGAIN = "again"
    CONFIRM = "confirm"
    CONFIRM_LARGEST = "confirm_largest"
    CONFIRM_LOWEST = "confirm_lowest"
    SHIFT = "shift"
    RECOVERY = "recovery"
    NOT_RECOVERED = "not_recovered"
    CONFIRMED = "confirmed"
    FEW_RUNS = "few_runs"


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a search may do.

    offered_rate: the load is a rate that is offered. by_failures: no condition on a value, failures alone decide. extra_blocks: of
    an extension.
    """

    first: float
    largest: float
    lowest: float = 1.0
    most_runs: int = 20
    blocks: int = 3
    resolution: float = DEFAULT_RESOLUTION
    seed: int = 1
    offered_rate: bool = False
    by_failures: bool = False
    extra_blocks: int = 0


@dataclass(frozen=True, slots=True)
class SearchRun:
    """A run of a search that is over.

    held: whether it kept every condition; None: it says nothing (void). strains: ln(value / limit) by condition, or ln(limit / value)
    where more is better, so that above 0 is broken; none of what has no value. pace: ln of a value of which more is slower, to see
    whether the target has recovered. block: the number among the blocks of its phase, from 0.
    """

    load: float
    phase: Phase
    block: int
    held: bool | None
    strains: Mapping[str, float] = field(default_factory=dict)
    pace: float | None = None
    failed: int = 0
    units: int = 0


@dataclass(frozen=True, slots=True)
class Bracket:
    """The largest load that held in every run so far below the smallest that failed; None: no such load yet."""

    held: float | None = None
    failed: float | None = None


@dataclass(frozen=True, slots=True)
class Confirming:
    """Loads that confirm, and the number of blocks. first_block: of the blocks that confirm, from 0."""

    loads: tuple[float, ...]
    blocks: int
    why: Why
    first_block: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """The next run of a search, or its end.

    phase: None where it ends or stops. load: of the run; after a failed recovery, the load that the target has not recovered from.
    checks: checks of recovery that have failed since the last overload. runs: made so far, without checks of recovery.
    loads: of the blocks that confirm.
    """

    why: Why
    bracket: Bracket
    runs: int
    phase: Phase | None = None
    setting: Setting = ""
    load: float = 0.0
    block: int = 0
    loads: tuple[float, ...] = ()
    blocks: int = 0
    checks: int = 0


def next_step(bounds: Bounds, histories: Mapping[Setting, Sequence[SearchRun]]) -> Step:
    """Return the next run of a search over one or more settings, whose runs stand in the order in which they were made.

    Each setting is explored by itself, in turn; what confirms is common: a block has every load of every setting, in an order
    that the seed draws.
    """
    for setting, history in histories.items():
        if (check := _recovery(history)) is not None:
            return _of(check, setting)
    steps = {setting: _explore(bounds, history) for setting, history in histories.items()}
    exploring = {setting: step for setting, step in steps.items() if isinstance(step, Step)}
    if exploring:
        setting = min(exploring, key=lambda each: len(_explored(histories[each])))
        return _of(exploring[setting], setting)
    return _confirm(
        bounds,
        histories,
        {setting: step for setting, step in steps.items() if isinstance(step, Confirming | None)},
    )


def bracket_of(history: Sequence[SearchRun]) -> Bracket:
    """Return the bracket of a setting, by all of its runs but checks of recovery."""
    runs = [run for run in history if run.phase != Phase.CHECK and run.held is not None]
    failed = min((run.load for run in runs if not run.held), default=None)
    held = max(
        (run.load for run in runs if run.held and (failed is None or run.load < failed)),
        default=None,
    )
    return Bracket(held, failed)


def made(history: Sequence[SearchRun]) -> int:
    """Return the number of runs that count: neither void ones nor checks of recovery."""
    return sum(run.phase != Phase.CHECK and run.held is not None for run in history)


def _of(step: Step, setting: Setting) -> Step:
    return Step(
        why=step.why,
        bracket=step.bracket,
        runs=step.runs,
        phase=step.phase,
        setting=setting,
        load=step.load,
        block=step.block,
        checks=step.checks,
    )


def _recovery(history: Sequence[SearchRun]) -> Step | None:
    """Return the check of recovery that is due after the last run, or that the target has not recovered."""
    checks, overload = 0, None
    for number in range(len(history) - 1, -1, -1):
        run = history[number]
        if run.phase != Phase.CHECK:
            if run.held is None:
                continue
            overload = None if run.held else run
            break
        if _recovered(run, history[:number]):
            return None
        checks += 1
    known = _known(history)
    if overload is None or known is None:
        return None
    made_so_far, bracket = made(history), bracket_of(history)
    if checks >= CHECKS:
        return Step(Why.NOT_RECOVERED, bracket, made_so_far, load=overload.load, checks=checks)
    return Step(
        Why.RECOVERY, bracket, made_so_far, phase=Phase.CHECK, load=known.load, checks=checks
    )


def _known(history: Sequence[SearchRun]) -> SearchRun | None:
    """Return the first run at the load that checks recovery: the first load, or the smallest that held."""
    held = [run for run in history if run.held and run.phase == Phase.EXPLORE]
    if not held:
        return None
    return held[0] if history and held[0] is _explored(history)[0] else min(held, key=_load)


def _recovered(check: SearchRun, earlier: Sequence[SearchRun]) -> bool:
    """Return whether a check of recovery kept its conditions and was not much slower than those before that did."""
    if not check.held:
        return False
    paces: list[float] = []
    for run in (*earlier, check):
        if run.load != check.load or not run.held or run.pace is None:
            continue
        if run.phase == Phase.CHECK and paces and run.pace - _mean(paces) > _allowed(paces):
            continue
        if run is check:
            return True
        paces.append(run.pace)
    return check.pace is None


def _mean(paces: Sequence[float]) -> float:
    return sum(paces) / len(paces)


def _allowed(paces: Sequence[float]) -> float:
    """Return how much slower, on logs, a further run may be: a factor, or from three on what 99 % would be."""
    if len(paces) < 3:
        return math.log(RECOVERED_WITHIN) + 1e-12
    mean = _mean(paces)
    sd = math.sqrt(sum((pace - mean) ** 2 for pace in paces) / (len(paces) - 1))
    width = _T_995[min(len(paces) - 3, len(_T_995) - 1)] * sd * math.sqrt(1 + 1 / len(paces))
    return min(max(width, math.log(LEAST_WITHIN)), math.log(MOST_WITHIN))


def _explored(history: Sequence[SearchRun]) -> list[SearchRun]:
    return [run for run in history if run.phase == Phase.EXPLORE and run.held is not None]


def _load(run: SearchRun) -> float:
    return run.load


def _explore(bounds: Bounds, history: Sequence[SearchRun]) -> Step | Confirming | None:
    """Return the next run that explores, or what confirms; None where too few runs are left to confirm anything."""
    runs = _explored(history)
    budget = bounds.most_runs - len(runs)
    if not runs:
        if budget < 1:
            return None
        return Step(
            Why.FIRST, Bracket(), 0, phase=Phase.EXPLORE, load=_within(bounds, bounds.first)
        )
    by_load = {run.load: run for run in runs}  # the last one of a load
    bracket = bracket_of(runs)
    low = by_load[bracket.held] if bracket.held is not None else None
    high = by_load[bracket.failed] if bracket.failed is not None else None
    chosen: tuple[float, Why] | None = None
    if low is not None and high is not None:
        chosen = _between(bounds, low, high, len(runs))
    elif low is not None:
        chosen = _up(bounds, low)
    elif high is not None:
        chosen = _down(bounds, high)
    # Going up leaves runs enough to confirm what held; a bracket that is wide is worth every run.
    reserve = FEWEST_BLOCKS * 2 if high is None else 0
    if chosen is not None and budget > reserve:
        load, why = chosen
        return Step(why, bracket, len(runs), phase=Phase.EXPLORE, load=load, block=len(runs))
    return _confirming(bounds, low, high, budget)


def _up(bounds: Bounds, low: SearchRun) -> tuple[float, Why] | None:
    """Return the load above one that held; None at the largest."""
    if low.load >= bounds.largest:
        return None
    easy = (
        bool(low.strains)
        and not low.failed
        and max(low.strains.values()) <= math.log(QUADRUPLE_BELOW)
    )
    factor, why = (4, Why.QUADRUPLE) if easy else (2, Why.DOUBLE)
    return max(low.load, _within(bounds, low.load * factor)), why


def _down(bounds: Bounds, high: SearchRun) -> tuple[float, Why] | None:
    """Return the load below the first one, which failed; None at the smallest."""
    if high.load <= bounds.lowest:
        return None
    return min(high.load, _within(bounds, high.load / 2)), Why.HALVE_DOWN


def _between(
    bounds: Bounds, low: SearchRun, high: SearchRun, runs: int
) -> tuple[float, Why] | None:
    """Return the load inside of a bracket; None where it is narrow enough, or as narrow as whole numbers allow."""
    narrow = NARROW_BY_FAILURES if _by_failures(bounds, low, high) else NARROW
    if high.load / low.load <= narrow or runs >= MOST_EXPLORED or high.load - low.load < 2:
        return None
    crossing = _crossing(low, high)
    width = math.log(high.load / low.load)
    at, why = 0.5, Why.HALVE
    if crossing is not None:
        at, why = min(0.8, max(0.2, crossing[0])), Why.CROSSING
    load = _within(bounds, low.load * math.exp(at * width))
    return min(max(load, low.load + 1), high.load - 1), why


def _crossing(low: SearchRun, high: SearchRun) -> tuple[float, float] | None:
    """Return where the line through two runs crosses the first limit, as a share of the way on logs, and its slope."""
    width = math.log(high.load / low.load)
    found = [
        (-low.strains[name] / rise, rise / width)
        for name in low.strains.keys() & high.strains.keys()
        if (rise := high.strains[name] - low.strains[name]) > 0 and high.strains[name] > 0
    ]
    return min(found) if found else None


def _by_failures(bounds: Bounds, low: SearchRun, high: SearchRun) -> bool:
    """Return whether failures end the bracket: no condition on a value, or none that is near its limit."""
    if bounds.by_failures or not low.strains:
        return True
    return not high.strains and max(low.strains.values()) < math.log(FAR_BELOW)


def _confirming(
    bounds: Bounds, low: SearchRun | None, high: SearchRun | None, budget: int
) -> Confirming | None:
    """Return the loads that confirm, so many blocks of them as the budget allows; None where it allows too few."""
    if low is not None and high is not None:
        return _around(bounds, low, high, budget)
    if low is not None:
        top = low.load
        near = [*_spaced(bounds, top, SPREAD)[:1], top]
        return _affordable(bounds, near, Why.CONFIRM_LARGEST, budget)
    if high is not None:
        bottom = high.load
        return _affordable(bounds, [bottom, bottom * SPREAD_STEEP], Why.CONFIRM_LOWEST, budget)
    return None


def _around(bounds: Bounds, low: SearchRun, high: SearchRun, budget: int) -> Confirming | None:
    """Return the loads that confirm around the crossing of a bracket; of failures alone, outside of it."""
    if _by_failures(bounds, low, high):
        room = math.sqrt(max(1.0, bounds.resolution / (high.load / low.load)))
        factor = min(SPREAD_STEEP, max(1.1, room))
        loads = [low.load / factor, high.load * factor]
        return _affordable(bounds, loads, Why.CONFIRM, budget, BLOCKS_BY_FAILURES)
    crossing = _crossing(low, high)
    at, slope = crossing if crossing is not None else (0.5, 0.0)
    centre = low.load * (high.load / low.load) ** min(1.0, max(0.0, at))
    spread = _spread(bounds, slope)
    return _affordable(bounds, _spaced(bounds, centre, spread), Why.CONFIRM, budget)


def _spaced(bounds: Bounds, centre: float, spread: float) -> list[float]:
    """Return three loads, of which neighbours lie within a ratio also after they are whole numbers."""
    middle = _within(bounds, centre)
    below, above = math.ceil(middle / spread - 1e-9), math.floor(middle * spread + 1e-9)
    return [min(float(below), middle - 1), middle, max(float(above), middle + 1)]


def _spread(bounds: Bounds, slope: float) -> float:
    return SPREAD_STEEP if bounds.offered_rate or slope > STEEPEST else SPREAD


def _affordable(
    bounds: Bounds, loads: Sequence[float], why: Why, budget: int, wanted: int = 0
) -> Confirming | None:
    """Return the blocks that fit into the budget: fewer blocks at first, then without the load in the middle."""
    kept = _distinct(bounds, loads)
    for each in (kept, kept[:: max(1, len(kept) - 1)]):
        blocks = min(max(bounds.blocks, wanted), budget // len(each))
        if blocks >= min(FEWEST_BLOCKS, bounds.blocks):
            return Confirming(tuple(each), blocks, why)
    return None


def _distinct(bounds: Bounds, loads: Sequence[float]) -> list[float]:
    """Return loads within the bounds, without doubles."""
    return sorted({_within(bounds, load) for load in loads})


def _within(bounds: Bounds, load: float) -> float:
    """Return a load as a whole number within the bounds."""
    return min(bounds.largest, max(bounds.lowest, float(round(load))))


def _confirm(
    bounds: Bounds,
    histories: Mapping[Setting, Sequence[SearchRun]],
    firsts: Mapping[Setting, Confirming | None],
) -> Step:
    """Return the next run that confirms, over all settings, or the end."""
    rounds = {setting: first for setting, first in firsts.items() if first is not None}
    begins = 0
    for number in (1, 2):
        if not rounds:
            break
        shifted = _shifted(bounds, histories, rounds) if number == 1 else {}
        extra = 0 if shifted else bounds.extra_blocks
        blocks = max(each.blocks for each in rounds.values())
        for block in range(blocks + extra):
            step = _of_block(bounds, histories, rounds, begins, block, extra)
            if step is not None:
                return step
        begins += blocks
        rounds = shifted
    short = any(first is None for first in firsts.values())
    last = next(iter(histories.values()), ())
    return Step(
        Why.FEW_RUNS if short else Why.CONFIRMED,
        bracket_of(last),
        sum(made(history) for history in histories.values()),
    )


def _of_block(
    bounds: Bounds,
    histories: Mapping[Setting, Sequence[SearchRun]],
    rounds: Mapping[Setting, Confirming],
    begins: int,
    block: int,
    extra: int,
) -> Step | None:
    """Return the next run of a block that confirms; None where all of its runs are made."""
    number = begins + block
    runs = [
        (setting, load)
        for setting, each in rounds.items()
        if block < each.blocks + extra
        for load in each.loads
    ]
    Random(f"{bounds.seed}/confirm/{number}").shuffle(runs)
    for setting, load in runs:
        history = histories[setting]
        if any(
            run.phase == Phase.CONFIRM and run.block == number and run.load == load
            for run in history
        ):
            continue
        mine = rounds[setting]
        return Step(
            mine.why,
            bracket_of(history),
            made(history),
            phase=Phase.CONFIRM,
            setting=setting,
            load=load,
            block=number,
            loads=mine.loads,
            blocks=begins + mine.blocks + extra,
        )
    return None


def _shifted(
    bounds: Bounds,
    histories: Mapping[Setting, Sequence[SearchRun]],
    rounds: Mapping[Setting, Confirming],
) -> dict[Setting, Confirming]:
    """Return the second round of settings whose loads all held, or all failed; none before the first round is over."""
    longest = max(each.blocks for each in rounds.values())
    for block in range(longest):
        if _of_block(bounds, histories, rounds, 0, block, 0) is not None:
            return {}
    shifted = {}
    for setting, first in rounds.items():
        history = histories[setting]
        states = [_holds(bounds, history, load, longest) for load in first.loads]
        if len(set(states)) != 1 or states[0] is None:
            continue
        spread = (first.loads[-1] / first.loads[0]) ** (1 / max(1, len(first.loads) - 1))
        factor = max(spread, SPREAD_STEEP) ** 2
        moved = [load * (factor if states[0] else 1 / factor) for load in first.loads]
        if len(moved) == 3:
            moved = _spaced(
                bounds, moved[1], min((SPREAD, SPREAD_STEEP), key=lambda ratio: abs(ratio - spread))
            )
        loads = _distinct(bounds, moved)
        if set(loads) <= set(first.loads):
            continue  # it is at the largest, or the smallest load already
        budget = bounds.most_runs - made(history)
        second = _affordable(bounds, loads, Why.SHIFT, budget)
        if second is not None:
            shifted[setting] = Confirming(second.loads, second.blocks, Why.SHIFT, longest)
    return shifted


def _holds(bounds: Bounds, history: Sequence[SearchRun], load: float, blocks: int) -> bool | None:
    """Return whether the typical run of a load that confirms held; None where no run says it."""
    runs = [
        run
        for run in history
        if run.phase == Phase.CONFIRM
        and run.load == load
        and run.block < blocks
        and run.held is not None
    ]
    if not runs:
        return None
    names = set[str]().union(*(run.strains for run in runs))
    whole = [run for run in runs if run.strains.keys() == names]
    if names and len(whole) == len(runs) and all(run.held or run.strains for run in runs):
        means = [sum(run.strains[name] for run in runs) / len(runs) for name in names]
        if max(means) > 0:
            return False
    return 2 * sum(bool(run.held) for run in runs) >= len(runs)
