"""Distributions of the values of each cell and of the samples of its runs."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from campaigns.findings.values import (
    Cells,
    CurveTogether,
    Densities,
    DensityCell,
    DensityCurve,
    PercentileCell,
    Percentiles,
)
from campaigns.kit.histogram import Counts, counts_of
from campaigns.models import Attempt, Campaign, Distribution
from campaigns.results.values import ObservedRun
from campaigns.stats.density import FEWEST, Density, density_of
from campaigns.stats.percentile_curves import PercentileCurve, curve_of

EVERY = 4
"""Every fourth point of a density is stored, which is fine enough for a chart."""


def densities(cells: Cells) -> Densities:
    """Return density and modes of each cell's runs, from the finding of the same cells."""
    return Densities(
        fewest=FEWEST,
        cells=[
            DensityCell(cell.cell, _density(density_of(values)), len(values))
            for cell in cells.cells
            for values in [
                [run.value for run in cell.runs if run.state == "ok" and run.value is not None]
            ]
        ],
    )


def percentiles(
    campaign: Campaign, runs: Sequence[ObservedRun], alpha: float
) -> tuple[dict[str, Percentiles], dict[str, dict[int, float]]]:
    """Return curves of percentiles by the name of the quantity, and the mean of each run in seconds.

    From histograms, a cell at a time: no sample is loaded.
    """
    counted = {run.run for run in runs if run.state == "ok"}
    curves: dict[str, list[PercentileCell]] = {}
    means: dict[str, dict[int, float]] = {}
    for (name, cell), rows in groupby(_rows(campaign), key=lambda row: (row[0], row[1])):
        result: list[Counts] = []
        dropped = 0
        for _, _, run, encoded, lost in rows:
            if run not in counted:
                continue
            decoded = counts_of(bytes(encoded))
            dropped += lost
            result.append(decoded)
            if (mean := decoded.mean) is not None:
                means.setdefault(name, {})[run] = mean / 1e6
        curve = curve_of(result, alpha)
        if curve is not None:
            curves.setdefault(name, []).append(_curve(cell, dropped, curve))
    return {name: Percentiles(name, cells) for name, cells in curves.items()}, means


def _rows(campaign: Campaign) -> Any:
    """Yield name, cell, run, histogram and dropped values of accepted attempts."""
    return (
        Distribution.objects.filter(
            attempt__run__campaign=campaign, attempt__state=Attempt.State.ACCEPTED
        )
        .order_by("name", "attempt__run__cell__position", "attempt__run__position")
        .values_list("name", "attempt__run__cell_id", "attempt__run_id", "encoded", "dropped")
        .iterator(chunk_size=500)
    )


def _density(density: Density | None) -> DensityCurve | None:
    if density is None:
        return None
    heights = density.heights[::EVERY]
    steps = max(1, len(density.heights) - 1)
    last = EVERY * max(0, len(heights) - 1)
    return DensityCurve(
        low=density.low,
        high=density.low + (density.high - density.low) * last / steps,
        on_logs=density.on_logs,
        heights=[round(height, 4) for height in heights],
        modes=list(density.modes),
    )


def _curve(cell: int, dropped: int, curve: PercentileCurve) -> PercentileCell:
    """Return the points as columns, in seconds; None where there is no interval."""
    return PercentileCell(
        cell=cell,
        dropped=dropped,
        runs=curve.runs,
        counts=curve.counts,
        fewest=curve.fewest,
        shares=[point.share for point in curve.points],
        values=[_seconds(point.value) for point in curve.points],
        low=[None if point.low is None else _seconds(point.low) for point in curve.points],
        high=[None if point.high is None else _seconds(point.high) for point in curve.points],
        together=CurveTogether(
            shares=[share for share, _ in curve.together],
            values=[_seconds(value) for _, value in curve.together],
        ),
    )


def _seconds(microseconds: float) -> float:
    return float(f"{microseconds / 1e6:.9g}")
