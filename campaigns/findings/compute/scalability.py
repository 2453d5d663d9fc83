"""Throughput and response time by concurrency, with the Universal Scalability Law where it may be fitted."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from msgspec.structs import replace as change
from numpy.typing import NDArray

from campaigns.findings.compute.statistics_input import failing_cells
from campaigns.findings.values import (
    Bounds,
    Law,
    LawBounds,
    LeftOut,
    LoadGroup,
    LoadLevel,
    LoadPlace,
    LoadRun,
    Scalability,
    Unranked,
)
from campaigns.kit.mappings import Levels
from campaigns.models import Attempt, Campaign, Series
from campaigns.planning.closed_loops import Loop, loop_of
from campaigns.results.values import ObservedRun, observed_runs_by_metric
from campaigns.stats.blocks import BlockRun, fit_blocks
from campaigns.stats.criteria import Criteria
from campaigns.stats.little import check_little, is_steady
from campaigns.stats.resamples import Resampler, of_blocks, of_levels
from campaigns.stats.usl import FEWEST_LEVELS, Usl, UslBounds, bound_laws, fit_usl

RESAMPLES = 500
MOST_GROUPS = 4
"""The most curves that get intervals; each takes half a second of CPU."""
POINTS = 60
BEYOND = 1.25
"""The law is drawn up to so many times the largest concurrency that was measured."""
FAILED_SHARE = 0.05
LIMIT = "recommended limit"
BOUNDED = ("g", "s", "k", "peak", "most", "power_point", "throttle")
"""The figures of a law that have an interval."""


@dataclass(frozen=True, slots=True)
class Point:
    """One run: n at a time, throughput (1/s), mean response (s). left_out: why it is not in the fit."""

    run: ObservedRun
    n: float
    throughput: float
    response: float | None
    left_out: LeftOut


def scalability(
    campaign: Campaign,
    by_metric: Mapping[str, Sequence[ObservedRun]],
    means: Mapping[str, Mapping[int, float]],
    criteria: Criteria,
) -> Scalability | None:
    """Fit each curve; None where there is no closed loop, or the number at a time does not vary.

    means: of the response times of each run, by the name of the distribution.
    """
    loop = loop_of(campaign)
    if loop is None:
        return None
    by_metric = _with_metrics(campaign, by_metric, loop)
    groups: dict[str, tuple[dict[str, Any], list[Point]]] = {}
    cells = {cell.pk: cell.levels_by_factor for cell in campaign.cells.all()}
    steady = _steady(campaign, loop)
    response = (
        _responses(by_metric, loop) if loop.response_seconds else means.get(loop.response, {})
    )
    failing = failing_cells(by_metric[loop.throughput], criteria)
    for cell in cells.values():
        others = {name: level for name, level in cell.items() if name != loop.parameter}
        groups.setdefault(repr(sorted(others.items())), (others, []))
    for run in by_metric[loop.throughput]:
        cell = cells[run.cell]
        others = {name: level for name, level in cell.items() if name != loop.parameter}
        point = _point(run, float(cell[loop.parameter]), response.get(run.run), steady)
        if point is not None and run.cell in failing:
            point = replace(point, left_out=point.left_out or "failures")
        if point is not None:
            groups[repr(sorted(others.items()))][1].append(point)
    in_blocks = campaign.order == Campaign.Order.INTERLEAVED
    return Scalability(
        parameter=loop.parameter,
        throughput=loop.throughput,
        response=loop.response,
        groups=[
            _without_limit(
                _judged(others, points, criteria, in_blocks=in_blocks, bounded=place < MOST_GROUPS),
                _unranked(campaign, points, criteria),
            )
            for place, (others, points) in enumerate(groups.values())
        ],
    )


def _with_metrics(
    campaign: Campaign, by_metric: Mapping[str, Sequence[ObservedRun]], loop: Loop
) -> Mapping[str, Sequence[ObservedRun]]:
    """Return runs with the metrics of the loop, which may not be among those that are summarised."""
    wanted = [loop.throughput, *([loop.response] if loop.response_seconds else [])]
    missing = [name for name in wanted if name not in by_metric]
    return {**by_metric, **observed_runs_by_metric(campaign, missing)} if missing else by_metric


def _responses(by_metric: Mapping[str, Sequence[ObservedRun]], loop: Loop) -> dict[int, float]:
    """Return the mean response time of each run in seconds, as it was submitted."""
    return {
        run.run: run.value * (loop.response_seconds or 1.0)
        for run in by_metric[loop.response]
        if run.state == "ok" and run.value is not None and 0 < run.value < math.inf
    }


def _without_limit(group: LoadGroup, unranked: Unranked | None) -> LoadGroup:
    """Remove the recommended limit of a curve. unranked: why none is recommended; None keeps it."""
    if unranked is None or group.law is None:
        return change(group, unranked=unranked)
    return change(
        group,
        unranked=unranked,
        law=change(group.law, throttle=None, extrapolated=False, rule_agrees=False),
        bounds=change(group.bounds, throttle=None) if group.bounds else None,
        places={name: at for name, at in group.places.items() if name != LIMIT},
    )


def _unranked(campaign: Campaign, points: Sequence[Point], criteria: Criteria) -> Unranked | None:
    """Return why no limit is recommended from a curve; None where one may be."""
    if campaign.state == Campaign.State.CANCELLED:
        return Unranked(cancelled=True)
    counts = Counter(point.n for point in points if not point.left_out)
    few = sum(count < criteria.minimum_n for count in counts.values())
    if not few:
        return None
    return Unranked(False, few, len(counts), criteria.minimum_n)


def _steady(campaign: Campaign, loop: Loop) -> dict[int, bool | None]:
    """Return whether each run had equal throughput in both of its halves."""
    if not loop.series:
        return {}
    series = Series.objects.filter(
        attempt__run__campaign=campaign, attempt__state=Attempt.State.ACCEPTED, name=loop.series
    ).values_list("attempt__run_id", "values")
    return {run: is_steady(values) for run, values in series.iterator(chunk_size=500)}


def _point(
    run: ObservedRun, n: float, response: float | None, steady: Mapping[int, bool | None]
) -> Point | None:
    if run.state not in ("ok", "bound") or run.value is None:
        return None
    if not (0 < run.value < math.inf and n > 0):
        return None
    left_out: LeftOut = ""
    units = run.units_done + run.units_failed
    if run.state == "bound":
        left_out = "bound"
    elif units and run.units_failed > FAILED_SHARE * units:
        left_out = "failures"
    elif steady.get(run.run) is False:
        left_out = "not_steady"
    return Point(run, n, run.value, response, left_out)


def _judged(
    levels: Levels,
    points: Sequence[Point],
    criteria: Criteria,
    *,
    in_blocks: bool,
    bounded: bool,
) -> LoadGroup:
    """Fit the law where that is possible; `missing` is why there is none."""
    used = sorted((p for p in points if not p.left_out), key=lambda p: (p.n, p.run.position))
    law = fit_usl([p.n for p in used], [p.throughput for p in used]) if used else None
    bounds = None
    # Where no level has two runs, nothing tells how much they vary.
    if law is not None and bounded and len(used) > len({p.n for p in used}):
        draws = _draws(used, criteria.seed, in_blocks=in_blocks)
        bounds = bound_laws(draws, criteria.alpha, near=law)
    return LoadGroup(
        levels=levels,
        missing="" if law else "not_enough_levels",
        fewest=FEWEST_LEVELS,
        left_out={
            reason: sum(p.left_out == reason for p in points)
            for reason in ("bound", "not_steady", "failures")
        },
        runs=[_run(point) for point in points],
        levels_measured=[_level(n, used) for n in sorted({p.n for p in used})],
        law=_law(law) if law else None,
        bounds=_bounds(bounds) if bounds else None,
        curve=_curve(law, min(p.n for p in used)) if law else [],
        places=_places(law) if law else {},
    )


def _draws(
    points: Sequence[Point], seed: int, *, in_blocks: bool
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    levels = np.array(sorted({p.n for p in points}))
    for draw in _resampler(points, levels, in_blocks=in_blocks).draws(RESAMPLES, seed):
        yield levels[draw.cells], np.exp(draw.logs)


def _resampler(
    points: Sequence[Point], levels: NDArray[np.float64], *, in_blocks: bool
) -> Resampler:
    places = {n: place for place, n in enumerate(levels.tolist())}
    runs = [BlockRun(places[p.n], p.run.part, p.throughput) for p in points]
    fitted = fit_blocks(runs, len(levels)) if in_blocks else None
    if fitted is not None and fitted.fit.df > 0:
        return of_blocks(fitted, runs)
    return of_levels([np.log([p.throughput for p in points if p.n == n]) for n in levels])


def _run(point: Point) -> LoadRun:
    run = point.run
    return LoadRun(
        position=run.position,
        block=run.block,
        worker=run.worker,
        started_at=run.started_at.isoformat() if run.started_at else None,
        n=point.n,
        throughput=point.throughput,
        response=point.response,
        left_out=point.left_out,
    )


def _level(n: float, points: Sequence[Point]) -> LoadLevel:
    """Return the means of one level, and whether its response times include all waiting, run by run."""
    own = [point for point in points if point.n == n]
    throughput = float(np.mean([point.throughput for point in own]))
    timed = [(point.throughput, point.response) for point in own if point.response is not None]
    little = check_little(n, float(np.mean([x * r for x, r in timed])), 1.0) if timed else None
    return LoadLevel(
        n=n,
        runs=len(own),
        throughput=throughput,
        response=float(np.mean([r for _, r in timed])) if timed else None,
        effective=little.effective if little else None,
        ratio=little.ratio if little else None,
        consistent=little.consistent if little else None,
    )


def _law(law: Usl) -> Law:
    thumb = law.rule_of_thumb
    return Law(
        g=law.g,
        s=law.s,
        k=law.k,
        largest=law.largest,
        peak=_finite(law.peak),
        whole_peak=law.whole_peak,
        most=_finite(law.most),
        power_point=_finite(law.power_point),
        linear_limit=_finite(law.linear_limit),
        peak_reached=law.peak_reached,
        throttle=law.throttle,
        extrapolated=law.extrapolated,
        rule_of_thumb=_finite(thumb),
        rule_agrees=law.throttle is not None
        and math.isfinite(thumb)
        and abs(thumb - law.throttle) <= 1,
    )


def _bounds(bounds: UslBounds) -> LawBounds:
    return LawBounds(
        **{name: _ends(getattr(bounds, name)) for name in BOUNDED}, with_peak=bounds.with_peak
    )


def _ends(interval: Sequence[float]) -> Bounds:
    low, high = interval
    return [_finite(low), _finite(high)]


def _curve(law: Usl, smallest: float) -> list[list[float]]:
    """Return points of the law: n, throughput and response time."""
    grid = np.geomspace(min(1.0, smallest), BEYOND * law.largest, POINTS).tolist()
    return [[n, law.throughput(n), law.response(n)] for n in grid]


def _places(law: Usl) -> dict[str, LoadPlace]:
    """Return the named places of the law, with its throughput and response time there."""
    named = {LIMIT: law.throttle, "peak": _finite(law.peak)}
    return {
        name: LoadPlace(float(n), law.throughput(n), law.response(n))
        for name, n in named.items()
        if n is not None
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
