"""Targets that carry a load of 400: does what is claimed of their capacity hold, and of a ratio?"""

import math
from collections.abc import Callable

import numpy as np

from bench.selfcheck.tally import Figure, Promise, count
from bench.selfcheck.worlds import Array
from campaigns.stats.capacity import (
    Capacity,
    ShareCondition,
    ShareRun,
    ValueCondition,
    ValueRun,
)
from campaigns.stats.capacity_by_conditions import capacity_of
from campaigns.stats.capacity_ratio import ratio_by_lines, ratio_of
from campaigns.stats.capacity_search import Bounds, Phase, SearchRun, Why, next_step
from campaigns.stats.capacity_sessions import between_sessions
from campaigns.stats.criteria import Criteria

CAPACITIES, SEARCHES = "Capacity", "Search"
TRUE, LIMIT = 400.0, 180.0
LOADS, RATIO = 5, 2.0
BLOCK_SD, SESSION_SD, DRIFT = 0.03, 0.03, 0.01
FAILED, SCALE, CLUMPING = 0.05, 0.1, 0.002
"""The limit of the share that fails, how soon it rises (on logs of the load), and its correlation within runs."""
FIRST, LARGEST, MOST = 25, 2000, 18
NEAR = 0.10

Curve = Callable[[Array], Array]
"""The typical value by load; LIMIT at TRUE."""


def closed(load: Array) -> Array:
    """Return what a server takes that works off one after another, and is quick when it is idle."""
    return np.asarray(LIMIT * (load + 20) / (TRUE + 20))


def coherency(load: Array) -> Array:
    """Return what one takes whose parts wait for one another: the slope on logs approaches 2."""
    s, k = 0.05, 0.0003
    own, at = (1 + s * (n - 1) + k * n * (n - 1) for n in (load, TRUE))
    return np.asarray(LIMIT * own / at)


def bend(load: Array) -> Array:
    """Return a curve that is flat below the capacity and rises above it."""
    return np.asarray(LIMIT * ((1 + (load / TRUE) ** 4) / 2) ** 0.25)


def open_loop(load: Array) -> Array:
    """Return what takes a rate that is offered: the queue has no bound beyond 500."""
    full = TRUE * 1.25
    waiting = LIMIT * (1 - TRUE / full) / np.maximum(1 - load / full, 1e-3)
    return np.asarray(np.minimum(waiting, 50 * LIMIT))


CURVES: dict[str, Curve] = {
    "closed loop": closed,
    "coherency": coherency,
    "on the bend": bend,
    "offered rate": open_loop,
}
WORLDS = ("drift", "noise above", "holes")
RATIOS = (2.0, 1.35)
"""Of neighbouring loads: the line is claimed within the second one only."""
CAP = 1.2
"""Times the limit: no value is larger, as where a client gives up."""
SLOW, SLOWER = 0.3, 1.5
"""Of two states: the share of runs (or blocks) in the slow one, and how many times as long it takes."""


def s_shape(load: Array, rng: np.random.Generator) -> Array:
    """Return logs of a curve that is flat, rises to 2.7 times within a tenth of the load, and is flat again."""
    x, at = np.log(load / TRUE), rng.uniform(-0.3, 0.3)
    return np.asarray(0.6 * x + 0.5 * (np.tanh((x - at) / 0.1) - math.tanh(-at / 0.1)))


def kink(load: Array, rng: np.random.Generator) -> Array:
    """Return logs of a curve that turns from flat to steep, or back, within a fifth of the capacity."""
    x = np.log(load / TRUE)
    if rng.random() < 0.5:
        return np.asarray(np.where(x > -0.2, 2 * x, -0.4 + 0.2 * (x + 0.2)))
    return np.asarray(np.where(x < 0.2, 2 * x, 0.4 + 0.2 * (x - 0.2)))


def loop(load: Array, _rng: np.random.Generator) -> Array:
    """Return logs of the closed loop."""
    return np.log(closed(load) / LIMIT)


SHAPES: dict[str, Callable[[Array, np.random.Generator], Array]] = {
    "S-shape": s_shape,
    "kink": kink,
    "cap by time-out": loop,
    "two states of a run": loop,
    "two states of a block": loop,
}


def capacities(name: str, sd: float, n: int, reps: int, rng: np.random.Generator) -> list[Figure]:
    """Campaigns of five loads, two to four of them above what is carried."""
    found = [
        capacity_of([_condition(name, _values(CURVES[name], sd, n, rng))]) for _ in range(reps)
    ]
    return _figures(name, f"sd {100 * sd:g} %", n, found)


def shapes(name: str, ratio: float, n: int, reps: int, rng: np.random.Generator) -> list[Figure]:
    """Campaigns of five loads of curves that no model knows, by what their bracket or their line claims."""
    found = []
    for _ in range(reps):
        place = rng.uniform(1, LOADS - 2)
        loads = np.asarray(TRUE * ratio ** (np.arange(LOADS) - place))
        logs, effects = SHAPES[name](loads, rng), rng.normal(0, BLOCK_SD, n)
        if name == "two states of a block":
            effects += math.log(SLOWER) * ((rng.random(n) < SLOW) - SLOW)
        runs = []
        for block in range(n):
            for load, log in zip(loads, logs, strict=True):
                value = log + effects[block] + rng.normal(0, 0.06)
                if name == "two states of a run":
                    value += math.log(SLOWER) * ((rng.random() < SLOW) - SLOW)
                if name == "cap by time-out":
                    value = min(value, math.log(CAP))
                runs.append(ValueRun(block, float(load), LIMIT * math.exp(value)))
        found.append(capacity_of([_condition(name, runs)]))
    # A state that lasts for a block is that of all runs of three blocks in a third of campaigns: nothing in them shows the other one.
    nominal = None if name == "two states of a block" else CLAIMED
    return _claims(f"{name}, loads in steps of {ratio:g}", n, found, nominal)


def _claims(name: str, n: int, found: list[Capacity], nominal: float | None) -> list[Figure]:
    """Count how often a claim holds: of all campaigns, of those with both bounds, and of those by the line."""
    held = [_holds(each.low, each.high) for each in found]
    both = [bool(each.low and each.high) for each in found]
    line = [each.by_line for each in found]
    column = "sd 6 %"
    figures = [
        count(CAPACITIES, f"{name}: claim", column, n, held, nominal, Promise.AT_LEAST),
        count(
            CAPACITIES,
            f"{name}: claim of those that have both bounds",
            column,
            n,
            [each for each, has in zip(held, both, strict=True) if has],
            nominal,
            Promise.AT_LEAST,
            f"{100 * float(np.mean(both)):.0f} % have",
        ),
    ]
    if sum(line) >= FEWEST_LINES:
        figures.append(
            count(
                CAPACITIES,
                f"{name}: claim of those by the line",
                column,
                n,
                [each for each, has in zip(held, line, strict=True) if has],
                nominal,
                Promise.AT_LEAST,
                f"{100 * float(np.mean(line)):.0f} % are",
            )
        )
    return figures


FEWEST_LINES = 20
"""Claims by the line, of which a share is told."""
CLAIMED = 0.94
"""The share of campaigns in which what is claimed holds, of curves and noise that no model knows."""


def worlds(name: str, n: int, reps: int, rng: np.random.Generator) -> list[Figure]:
    """Noise that the model does not know, on the closed loop."""
    found = []
    for _ in range(reps):
        runs = _values(closed, 0.06, n, rng)
        if name == "drift":
            steps = DRIFT * (np.arange(len(runs)) - (len(runs) - 1) / 2)
            order = np.concatenate([rng.permutation(LOADS) + LOADS * block for block in range(n)])
            runs = [_times(run, steps[np.flatnonzero(order == i)[0]]) for i, run in enumerate(runs)]
        elif name == "noise above":
            runs = [_times(run, rng.normal(0, 0.1 if run.load > TRUE else 0)) for run in runs]
        elif name == "holes":
            lost = set(rng.choice(len(runs), len(runs) // 8, replace=False))
            runs = [run for i, run in enumerate(runs) if i not in lost]
        found.append(capacity_of([_condition(name, runs)]))
    return _figures(f"closed loop, {name}", "sd 6 %", n, found)


def failing(n: int, reps: int, rng: np.random.Generator) -> list[Figure]:
    """Runs in which a share of the hosts fails, the more the larger the load."""
    found, size = [], 1 / CLUMPING - 1
    for _ in range(reps):
        runs = []
        for load in _loads(rng):
            units = round(load)
            for block in range(n):
                strain = (math.log(load / TRUE) + rng.normal(0, 0.05)) / SCALE
                share = 1 / (1 + math.exp(-strain) * (1 - FAILED) / FAILED)
                own = rng.beta(max(share * size, 1e-9), max((1 - share) * size, 1e-9))
                runs.append(ShareRun(block, float(units), int(rng.binomial(units, own)), units))
        found.append(capacity_of([ShareCondition("failed", FAILED, runs)]))
    return _figures("failures", "sd 6 %", n, found)


def two_conditions(n: int, reps: int, rng: np.random.Generator) -> list[Figure]:
    """Two bounds that end at the same load: low errs by the one, high by either."""
    found = []
    for _ in range(reps):
        one = _values(closed, 0.06, n, rng)
        other = [_times(run, rng.normal(0, 0.06)) for run in one]
        mean = [ValueRun(each.block, each.load, each.value / 3) for each in other]
        found.append(
            capacity_of([_condition("p95", one), ValueCondition("mean", LIMIT / 3, True, mean)])
        )
    return _figures("two conditions at once", "sd 6 %", n, found)


def lasting(number: int, reps: int, rng: np.random.Generator) -> list[Figure]:
    """Sessions of three blocks, each with a capacity of its own: the one that lasts is their mean."""
    covered = []
    for _ in range(reps):
        sessions, loads = [], _loads(rng)
        for session in range(number):
            shift, effects = rng.normal(0, SESSION_SD), rng.normal(0, BLOCK_SD, 3)
            sessions.append(
                [
                    ValueRun(
                        10 * session + block,
                        float(load),
                        float(value * math.exp(rng.normal(0, 0.03) + effects[block] + shift)),
                    )
                    for block in range(3)
                    for load, value in zip(loads, closed(loads), strict=True)
                ]
            )
        whole = [_condition("closed loop", [run for runs in sessions for run in runs])]
        each = [capacity_of([_condition("closed loop", runs)]) for runs in sessions]
        made = capacity_of(whole)
        result = between_sessions(made, whole, each) or made
        covered.append(_holds(result.low, result.high))
    name = "sessions differ by 3 %: " + ("one session" if number == 1 else "between sessions")
    return [count(CAPACITIES, name, "sd 3 %", number, covered, 0.95, Promise.AT_LEAST)]


def ratios(true: float, sd: float, n: int, reps: int, rng: np.random.Generator) -> list[Figure]:
    """Two settings in the same blocks, of which the second carries so many times as much."""
    covered, bounds, differ, widths = [], [], [], []
    for _ in range(reps):
        effects, loads = rng.normal(0, 0.05, n), _loads(rng)
        sides = []
        for times in (1.0, true):
            runs = [
                ValueRun(b, float(load), float(value * math.exp(rng.normal(0, sd) + effects[b])))
                for b in range(n)
                for load, value in zip(loads, closed(loads / times), strict=True)
            ]
            sides.append([ValueCondition("p95", LIMIT, True, runs)])
        result = ratio_by_lines(sides[0][0], sides[1][0], Criteria(margin=0.05, delta=0.1))
        told = ratio_of(*sides)
        bounds.append(_holds(told.low, told.high, true))
        differ.append(told.word in {"better", "worse"})
        if result is None:
            continue
        covered.append(_holds(result.low, result.high, true))
        if result.low and result.high:
            widths.append(math.log(result.high / result.low) / 2)
    column = f"sd {100 * sd:g} %"
    note = f"±{100 * math.expm1(float(np.median(widths))):.1f} %" if widths else ""
    figures = [
        count(
            CAPACITIES,
            f"ratio of {true:g}: by the line",
            column,
            n,
            covered,
            0.95,
            Promise.AT_LEAST,
            note,
        ),
        count(CAPACITIES, f"ratio of {true:g}: as told", column, n, bounds, 0.95, Promise.AT_LEAST),
    ]
    if true == 1:
        figures.append(
            count(
                CAPACITIES, "“more” or “fewer” of equals", column, n, differ, 0.05, Promise.AT_MOST
            )
        )
    return figures


def searches(name: str, reps: int, rng: np.random.Generator) -> list[Figure]:
    """Searches from 25 on: what they find, and what that takes."""
    near, covered, few, safe, errors, runs = [], [], [], [], [], []
    offered = name == "offered rate"
    for _ in range(reps):
        bounds = Bounds(
            FIRST, LARGEST, seed=int(rng.integers(1 << 30)), offered_rate=offered, most_runs=20
        )
        history = _searched(bounds, CURVES[name], 0.06, rng)
        confirmed = [run for run in history if run.phase == Phase.CONFIRM]
        values = [
            ValueRun(run.block, run.load, LIMIT * math.exp(run.strains["p95"])) for run in confirmed
        ]
        result = capacity_of([ValueCondition("p95", LIMIT, True, values, offered_rate=offered)])
        middle = (
            result.estimate
            or result.about
            or (math.sqrt(result.low * result.high) if result.low and result.high else math.nan)
        )
        errors.append(math.log(middle / TRUE))
        near.append(abs(errors[-1]) <= math.log1p(NEAR))
        covered.append(_holds(result.low, result.high))
        runs.append(sum(run.phase != Phase.CHECK for run in history))
        few.append(runs[-1] <= MOST)
        safe.append(all(run.load <= 2.1 * TRUE for run in history))
    known = np.array(errors)[np.isfinite(errors)]
    error = f"rms {100 * float(np.sqrt(np.mean(known**2))):.1f} %" if known.size else ""
    made = f"{np.mean(runs):.1f} runs"
    column, n = "sd 6 %", "3"
    return [
        count(SEARCHES, f"{name}: interval", column, n, covered, 0.95, Promise.AT_LEAST),
        count(SEARCHES, f"{name}: within 10 %", column, n, near, 0.95, Promise.AT_LEAST, error),
        count(SEARCHES, f"{name}: at most 18 runs", column, n, few, 0.95, Promise.AT_LEAST, made),
        count(SEARCHES, f"{name}: no load above 2.1 times the capacity", column, n, safe),
    ]


def _searched(bounds: Bounds, curve: Curve, sd: float, rng: np.random.Generator) -> list[SearchRun]:
    history: list[SearchRun] = []
    effects: dict[tuple[Phase, int], float] = {}
    while True:
        step = next_step(bounds, {"": history})
        if step.phase is None:
            if step.why == Why.NOT_RECOVERED:
                raise RuntimeError("These targets always recover.")
            return history
        effect = effects.setdefault((step.phase, step.block), float(rng.normal(0, BLOCK_SD)))
        value = float(curve(np.array([step.load]))[0])
        strain = math.log(value / LIMIT) + rng.normal(0, sd) + effect
        history.append(
            SearchRun(step.load, step.phase, step.block, strain <= 0, {"p95": strain}, strain)
        )


def _loads(rng: np.random.Generator) -> Array:
    """Return five loads of which the second to the fourth lie around what is carried."""
    place = rng.uniform(1, LOADS - 2)
    return np.asarray(TRUE * RATIO ** (np.arange(LOADS) - place))


def _values(curve: Curve, sd: float, n: int, rng: np.random.Generator) -> list[ValueRun]:
    loads, effects = _loads(rng), rng.normal(0, BLOCK_SD, n)
    return [
        ValueRun(block, float(load), float(value * math.exp(rng.normal(0, sd) + effects[block])))
        for block in range(n)
        for load, value in zip(loads, curve(loads), strict=True)
    ]


def _times(run: ValueRun, log: float) -> ValueRun:
    return ValueRun(run.block, run.load, run.value * math.exp(log))


def _condition(name: str, runs: list[ValueRun]) -> ValueCondition:
    return ValueCondition("p95", LIMIT, True, runs, offered_rate=name == "offered rate")


def _holds(low: float | None, high: float | None, true: float = TRUE) -> bool:
    """Return whether the truth lies inside; an open end has everything on its side."""
    return (low is None or low <= true) and (high is None or true <= high)


def _figures(name: str, column: str, n: int, found: list[Capacity]) -> list[Figure]:
    covered = [_holds(each.low, each.high) for each in found]
    widths = [math.log(each.high / each.low) for each in found if each.low and each.high]
    note = f"width {math.exp(float(np.median(widths))):.2f}" if widths else ""
    return [
        count(CAPACITIES, f"{name}: interval", column, n, covered, 0.95, Promise.AT_LEAST, note),
        count(
            CAPACITIES,
            f"{name}: both bounds",
            column,
            n,
            [bool(each.low and each.high) for each in found],
        ),
    ]
