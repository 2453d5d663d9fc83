"""The state of each trend, as lists show it: the newest value, the noise, and a small curve."""

from collections.abc import Sequence
from typing import Any

from campaigns.models import Line, Point, Reading, Trend
from campaigns.trends.noise import Noise, noise_of

CURVE = 40
"""So many of the newest values are in a small curve."""


def summarise(line: Line, readings: Sequence[Reading]) -> None:
    """Store the state of all trends of a line. readings: all, in the order of time, with their versions."""
    place = {reading.pk: at for at, reading in enumerate(in_order(readings))}
    by_key = {reading.pk: reading for reading in readings}
    rows: dict[int, list[Point]] = {}
    for point in Point.objects.filter(trend__line=line):
        rows.setdefault(point.trend_id, []).append(point)
    trends = list(Trend.objects.filter(line=line))
    for trend in trends:
        points = sorted(rows.get(trend.pk, []), key=lambda each: place[each.reading_id])
        trend.state = _state(points, by_key)
    Trend.objects.bulk_update(trends, ["state"], batch_size=100)


def in_order(readings: Sequence[Reading]) -> list[Reading]:
    """Return readings by version and time; those without a version by time, behind what was seen before them."""
    at, last = {}, -1
    for reading in readings:
        if reading.version is not None:
            last = reading.version.position
        at[reading.pk] = last
    return sorted(readings, key=lambda each: (at[each.pk], each.at, each.pk))


def _state(points: Sequence[Point], readings: dict[int, Reading]) -> dict[str, Any]:
    told = [point for point in points if point.y is not None]
    noise = noise_in(told, readings)
    newest = told[-1] if told else None
    versions = {readings[point.reading_id].version_id for point in points}
    return {
        "sessions": len(points),
        "told": len(told),
        "versions": len(versions - {None}),
        "newest": newest and newest.y,
        "version": newest and str(readings[newest.reading_id].version or ""),
        "at": newest and readings[newest.reading_id].at.isoformat(),
        "curve": [point.y for point in points][-CURVE:],
        "between": noise.between,
        "repeated": noise.repeated,
        "within": noise.within,
    }


def noise_in(points: Sequence[Point], readings: dict[int, Reading]) -> Noise:
    """Return how far sessions of one version in one environment differ. points: with a value each."""
    return noise_of(
        [(_group(readings[point.reading_id]), point.y) for point in points if point.y is not None],
        [(point.sd, point.n) for point in points],
    )


def _group(reading: Reading) -> tuple[int, int | None]:
    version = reading.version
    return reading.environment, version.position if version else None
