"""Check a campaign's runs, each check with its number. Pure. STATISTICS 8, 11.

A check that fails changes the badge of a verdict, never its number; one that says that the data cannot
show what the verdict claims takes its word back.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
import scipy

from campaigns.stats import student
from campaigns.stats.criteria import Criteria
from campaigns.stats.density import density_of
from campaigns.stats.little import check_little
from campaigns.stats.log_means import NO_NOISE
from campaigns.stats.logs import pct_of
from campaigns.stats.pooled import levene
from campaigns.stats.units import Number, Position
from campaigns.stats.verdict import Contrast, interval_of, p_value

DRIFT_P, NOISE_P = 0.05, 0.01
FEWEST_FOR_DRIFT, FEWEST_BLOCKS = 8, 5
FEWEST_FOR_AUTOCORRELATION = 10
SECONDS_OFF = 1.0
COLD_SHARE, COLD_P = 0.5, 0.05


class Outcome(StrEnum):
    """The outcome of a check."""

    PASS = "pass"  # noqa: S105 - no password
    WARN = "warn"
    FAIL = "fail"
    NOT_POSSIBLE = "not_possible"


@dataclass(frozen=True, slots=True)
class Check:
    """One check. value: the number that decides, None where there is none; figures: more of them."""

    name: str
    outcome: Outcome
    value: Number | None = None
    figures: dict[str, Number] = field(default_factory=dict)
    positions: tuple[Position, ...] = ()


def _check(name: str, value: float, *, warn: bool, **figures: float) -> Check:
    return Check(name, Outcome.WARN if warn else Outcome.PASS, value, figures)


def interleaving(levels: Sequence[object]) -> Check:
    """Return how well levels alternate in the order of the runs: 0 is one block per level, 1 the most.

    At 0 level and time are confounded, and no test of drift sees it.
    """
    kinds = len(set(levels))
    switches = sum(a != b for a, b in itertools.pairwise(levels))
    most = _most_switches(levels)
    if kinds < 2 or most == kinds - 1:
        return Check("interleaving", Outcome.NOT_POSSIBLE)
    index = (switches - (kinds - 1)) / (most - (kinds - 1))
    return _check("interleaving", index, warn=index <= 0, switches=switches, most=most)


def drift(residuals: Sequence[float], hours: Sequence[float] | None = None) -> Check:
    """Return whether residuals (of logs) move with the order of the runs (Mann-Kendall), n >= 8.

    hours: the instants, for the slope in % an hour; without them it is that of one run, and there is no figure `hours`,
    which is how long it took from the first to the last.
    """
    return _trend("drift", residuals, hours, FEWEST_FOR_DRIFT)


def drift_within(
    logs: Sequence[float], levels: Sequence[object], times: Sequence[float]
) -> Contrast | None:
    """Estimate the drift of runs made level by level: per unit of time, from what moves within levels.

    The slope of what logs and times differ from the means of their level, over all levels; the trend
    over the whole order is no drift, since the level is in it. None with fewer than 8 runs, where no
    level takes time, and where the values of each level are all equal.
    """
    log, time = np.array(logs, dtype=float), np.array(times, dtype=float)
    _, level = np.unique([str(each) for each in levels], return_inverse=True)
    count = np.bincount(level)
    log = log - (np.bincount(level, log) / count)[level]
    time = time - (np.bincount(level, time) / count)[level]
    spread, df = float(time @ time), log.size - count.size - 1
    if log.size < FEWEST_FOR_DRIFT or df < 1 or spread < NO_NOISE or np.abs(log).max() < NO_NOISE:
        return None
    slope = float(time @ log) / spread
    rest = log - slope * time
    error = math.sqrt(float(rest @ rest) / df / spread)
    return Contrast(slope, error if error >= NO_NOISE else 0.0, df, int(log.size))


def drift_within_levels(drift: Contrast | None, hours: float | None = None) -> Check:
    """Return whether runs drift within levels; between them the order confounds drift and level.

    hours: how long the longest level took, where the drift is that of an hour; None: it is that of a run.
    missed_pct: the largest drift, up or down, that the 95 % interval of the slope does not exclude.
    """
    if drift is None:
        return Check("drift_within", Outcome.NOT_POSSIBLE)
    p = p_value(drift)
    figures = {"slope_pct": pct_of(drift.estimate), "missed_pct": missed_pct(drift)}
    if hours is not None:
        figures["hours"] = hours
    return _check("drift_within", p, warn=p < DRIFT_P, **figures)


def missed_pct(drift: Contrast) -> float:
    """Return the largest drift in %, up or down, that the 95 % interval of the slope does not exclude."""
    return pct_of(max(abs(bound) for bound in interval_of(drift, DRIFT_P)))


def is_confounded(drift: Contrast, apart: float, criteria: Criteria) -> bool:
    """Return whether a drift that is shown may make up a difference between levels measured so far apart."""
    if p_value(drift) >= DRIFT_P:
        return False
    most = max(abs(bound) for bound in interval_of(drift, criteria.alpha))
    return most * abs(apart) >= math.log1p(criteria.margin)


def block_drift(effects: Sequence[float], hours: Sequence[float] | None = None) -> Check:
    """Return whether the effects of blocks move with their mid instants, 5 blocks or more.

    The contrasts of an interleaved campaign are protected from it, absolute levels are not.
    """
    return _trend("block_drift", effects, hours, FEWEST_BLOCKS)


def order_in_block(
    residuals: Sequence[float], positions: Sequence[float], df: int | None = None
) -> Check:
    """Return whether it mattered at which place of its block a run was made; by the slope's p.

    For residuals of a model: their df, and what the same model leaves of the positions
    (`neighbours.left_of`); without df the runs are assumed to be independent.
    """
    error, place = (np.array(each, dtype=float) for each in (residuals, positions))
    if error.size < FEWEST_FOR_DRIFT or np.ptp(place) < NO_NOISE or (df is not None and df < 2):
        return Check("order_in_block", Outcome.NOT_POSSIBLE)
    error, place = error - error.mean(), place - place.mean()
    rest = (error.size - 1 if df is None else df) - 1
    spread = float(place @ place)
    slope = float(place @ error) / spread
    noise = math.sqrt(max(0.0, float(error @ error) - slope**2 * spread) / rest / spread)
    p = 0.0 if abs(slope) > NO_NOISE else 1.0
    if noise > NO_NOISE:
        p = 2 * student.upper_tail(abs(slope) / noise, rest)
    return _check("order_in_block", p, warn=p < DRIFT_P, slope_pct=pct_of(slope))


def autocorrelation(residuals: Sequence[float], expected: float = 0.0) -> Check:
    """Return whether neighbours are alike: the lag-1 correlation against 2 / sqrt(n), n >= 10.

    expected: what independent noise has around the same model (`neighbours.expected_correlation`);
    only the distance from it counts. n_eff: so many independent runs would be as informative. Ask only
    where cells have five runs or more.
    """
    series = np.array(residuals, dtype=float)
    series = series - series.mean() if series.size else series
    energy = float(series @ series)
    if series.size < FEWEST_FOR_AUTOCORRELATION or energy < NO_NOISE**2:
        return Check("autocorrelation", Outcome.NOT_POSSIBLE)
    r1 = float(series[:-1] @ series[1:]) / energy
    threshold = 2 / series.size**0.5
    excess = r1 - expected
    effective = series.size * (1 - excess) / (1 + excess) if excess > 0 else float(series.size)
    return _check(
        "autocorrelation",
        r1,
        warn=abs(excess) > threshold,
        threshold=threshold,
        n_eff=effective,
        expected=expected,
    )


def modes(values: Sequence[float]) -> Check:
    """Return how many modes the values have, 20 or more of them (`density`).

    value: their number; figures: where each lies, and its share of the runs. With two the mean
    misleads: compare mode by mode.
    """
    result = density_of(values)
    if result is None:
        return Check("modes", Outcome.NOT_POSSIBLE)
    figures = {f"mode_{place}": mode.at for place, mode in enumerate(result.modes, 1)}
    return _check("modes", float(len(result.modes)), warn=len(result.modes) > 1, **figures)


def aa_noise(log_ratios: Sequence[float]) -> Check:
    """%|.|Return how far apart identical runs are: the noise floor is the 95th percentile of |%|.|%|."""
    ratios = np.array(log_ratios, dtype=float)
    if ratios.size < 2:
        return Check("aa_noise", Outcome.NOT_POSSIBLE)
    p = _p(scipy.stats.ttest_1samp(ratios, 0).pvalue) if np.ptp(ratios) else 1.0
    floor = pct_of(float(np.quantile(np.abs(ratios), 0.95)))
    return _check("aa_noise", floor, warn=p < DRIFT_P, sd=float(ratios.std(ddof=1)), mean_p=p)


def equal_noise(samples: Sequence[Sequence[float]]) -> Check:
    """Return whether cells vary alike (Levene's test on logs or residuals), of three runs or more each."""
    groups = [np.array(sample, dtype=float) for sample in samples if len(sample) > 2]
    if len(groups) < 2 or all(np.ptp(group) < NO_NOISE for group in groups):
        return Check("equal_noise", Outcome.NOT_POSSIBLE)
    p = _p(levene(groups))
    spreads = [100 * float(np.expm1(group.std(ddof=1))) for group in groups]
    return _check(
        "equal_noise", p, warn=p < NOISE_P, smallest_pct=min(spreads), largest_pct=max(spreads)
    )


def little(n: float, throughput: float, response_seconds: float) -> Check:
    """Return whether response times hold all of the waiting; only for a closed loop in steady state."""
    result = check_little(n, throughput, response_seconds)
    return _check(
        "littles_law", result.ratio, warn=not result.consistent, effective=result.effective
    )


def cold_start(cells: Sequence[int], blocks: Sequence[int], values: Sequence[float]) -> Check:
    """Return whether the first run of a block is the extreme of its cell, in more than half of the cells.

    In the order of the runs; of each cell, only those with a first run and three runs at least. Of
    three runs one is an extreme in two cases of three, so that chance must not explain it, either.
    """
    first: dict[int, int] = {}
    for index, block in enumerate(blocks):
        first.setdefault(block, index)
    openers = set(first.values())
    chances: list[float] = []
    extreme = 0
    for cell in sorted(set(cells)):
        members = [index for index, each in enumerate(cells) if each == cell]
        mine = [index for index in members if index in openers]
        if len(members) < 3 or not mine:
            continue
        others = len(members) - len(mine)
        chances.append(1 - math.comb(others, 2) / math.comb(len(members), 2))
        ordered = sorted(members, key=lambda index: values[index])
        ends = {ordered[0], ordered[-1]}
        if values[ordered[0]] != values[ordered[-1]]:
            extreme += any(index in ends for index in mine)
    requested = len(chances)
    if requested < 2:
        return Check("cold_start", Outcome.NOT_POSSIBLE)
    share, p = extreme / requested, _at_least(extreme, chances)
    return _check("cold_start", share, warn=share > COLD_SHARE and p < COLD_P, cells=requested, p=p)


def rows(durations: Sequence[float], starts: Sequence[float], ends: Sequence[float]) -> Check:
    """Return whether durations agree with the instants, and no two runs overlap (all in seconds).

    positions: of the runs that are off by a second or more, end before they start, or begin before
    another has ended. A second alone may be rounding: it is listed, and no warning.
    """
    if not len(durations):
        return Check("rows", Outcome.NOT_POSSIBLE)
    duration, start, end = (np.array(each, dtype=float) for each in (durations, starts, ends))
    off = np.abs(duration - (end - start))
    order = np.argsort(start, kind="stable")
    wrong = end < start
    wrong[order[1:]] |= start[order[1:]] < np.maximum.accumulate(end[order])[:-1]
    wrong |= off > SECONDS_OFF + 1e-9
    positions = tuple(int(index) for index in np.flatnonzero(wrong | (off >= SECONDS_OFF - 1e-9)))
    outcome = Outcome.WARN if wrong.any() else Outcome.PASS
    return Check("rows", outcome, float(wrong.sum()), positions=positions)


def _trend(name: str, values: Sequence[float], hours: Sequence[float] | None, fewest: int) -> Check:
    order = np.arange(len(values)) if hours is None else np.array(hours, dtype=float)
    if (
        len(values) < fewest
        or np.ptp(np.array(values, dtype=float)) < NO_NOISE
        or not np.ptp(order)
    ):
        return Check(name, Outcome.NOT_POSSIBLE)
    tau = scipy.stats.kendalltau(order, values)
    slope = scipy.stats.linregress(order, values)
    p = _p(tau.pvalue)
    figures = {
        "tau": float(tau.statistic),
        "slope_pct": pct_of(float(slope.slope)),
        "slope_p": _p(slope.pvalue),
    }
    if hours is not None:
        figures["hours"] = float(np.ptp(order))
    return Check(name, Outcome.WARN if p < DRIFT_P else Outcome.PASS, p, figures)


def _at_least(count: int, chances: Sequence[float]) -> float:
    """Return the chance that so many of independent events come about, each with a chance of its own."""
    distribution = np.ones(1)
    for chance in chances:
        distribution = np.convolve(distribution, [1 - chance, chance])
    return float(distribution[count:].sum())


def _most_switches(levels: Sequence[object]) -> int:
    """Return the most switches that any order of these runs has."""
    counts = [list(levels).count(level) for level in set(levels)]
    if not counts:
        return 0
    largest, total = max(counts), sum(counts)
    rest = total - largest
    return total - 1 if largest <= rest + 1 else 2 * rest


def _p(value: object) -> float:
    number = float(value)  # type: ignore[arg-type]
    return 1.0 if np.isnan(number) else number
