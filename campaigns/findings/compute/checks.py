"""Checks of whether the runs of a campaign can be trusted, each with its number."""

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from campaigns.findings.compute.fidelity import RAW, fidelity_check
from campaigns.findings.compute.withheld_verdicts import drift_of
from campaigns.findings.values import MADE, CalibrationFinding, Cells, Checks
from campaigns.kinds.base import Metric
from campaigns.models import Attempt, Campaign, Proof
from campaigns.results.environment import changes_of, environment_of
from campaigns.results.values import ObservedRun
from campaigns.stats import validity
from campaigns.stats.blocks import BlockFit, BlockRun, fit_blocks
from campaigns.stats.criteria import Criteria
from campaigns.stats.density import density_of
from campaigns.stats.logs import is_number
from campaigns.stats.neighbours import expected_correlation, left_of
from campaigns.stats.noisy import left_of_blocks, left_of_cells, noisy_cells
from campaigns.stats.validity import Check, Outcome

FEWEST_FOR_AUTOCORRELATION = 5
"""Runs of a cell: residuals around the mean of fewer are correlated by construction."""
IN_BLOCKS = (Campaign.Order.INTERLEAVED, Campaign.Order.PAIRED)


def check(
    campaign: Campaign,
    metric: Metric,
    runs: Sequence[ObservedRun],
    cells: Cells,
    criteria: Criteria,
    calibrated: CalibrationFinding | None = None,
) -> Checks:
    """Check the runs of the primary metric, and how they were made.

    calibrated: the finding of an A/A campaign.
    """
    made = sorted((run for run in runs if run.state == "ok" and run.value is not None), key=_when)
    results = [
        validity.interleaving([run.cell for run in made]),
        *_of_logs(campaign, made),
        *fidelity_check(metric, cells, criteria),
        *_of_cells(cells, metric),
        *([_labels(calibrated)] if calibrated else []),
        _rows(campaign, metric, made),
        *_health(campaign, runs),
        _proofs(campaign),
        _environment(campaign),
    ]
    return Checks(results)


def _labels(calibrated: CalibrationFinding) -> Check:
    """Return whether two names of one setting differ."""
    differ = calibrated.mean_p < validity.DRIFT_P
    figures = {"mean_pct": calibrated.mean_pct, "p": calibrated.mean_p}
    outcome = Outcome.WARN if differ else Outcome.PASS
    return Check("aa_noise", outcome, calibrated.floor_pct, figures)


def _of_logs(campaign: Campaign, made: Sequence[ObservedRun]) -> list[Check]:
    """Check drift, order, correlation of neighbours and equal noise, on logs."""
    values = np.array([run.value for run in made], dtype=float)
    if not values.size or not (is_number(values) & (values > 0)).all():
        return []
    cells = sorted({run.cell for run in made})
    places = np.array([cells.index(run.cell) for run in made])
    if campaign.order in IN_BLOCKS:
        return _in_blocks(made, places, len(cells), values)
    logs = np.log(values)
    means = np.bincount(places, logs) / np.bincount(places)
    residuals = logs - means[places]
    samples = [residuals[places == cell] for cell in range(len(cells))]
    drift = validity.drift(list(residuals), _hours([run.started_at for run in made]))
    if campaign.order == Campaign.Order.BLOCKED and len(cells) > 1:
        within = drift_of(made)
        drift = validity.drift_within_levels(
            within.slope if within else None, within.hours if within else None
        )
    return [
        drift,
        _with_those_apart(
            validity.equal_noise([list(sample) for sample in samples]),
            noisy_cells(left_of_cells(samples), len(samples)),
        ),
        *_alike(residuals, places, expected_correlation(places.tolist())),
    ]


def _in_blocks(
    made: Sequence[ObservedRun],
    places: NDArray[np.int64],
    cells: int,
    values: NDArray[np.float64],
) -> list[Check]:
    runs = [
        BlockRun(int(place), run.part, float(value))
        for place, run, value in zip(places, made, values, strict=True)
    ]
    result = fit_blocks(runs, cells)
    if result is None or result.fit.df < 1:
        return []
    members = [[run for run in made if run.part == number] for number in result.blocks]
    position = _positions(made)
    blocks = [run.part for run in made]
    order, _ = left_of([position[run.run] for run in made], places.tolist(), blocks)
    return [
        validity.block_drift(list(result.effects), _hours([_middle(block) for block in members])),
        validity.order_in_block(list(result.residuals), list(order), result.fit.df),
        validity.cold_start(list(places), [run.block for run in made], list(values)),
        _with_those_apart(
            _equal_noise(result, places, cells), noisy_cells(left_of_blocks(runs, result), cells)
        ),
        *_alike(
            result.residuals,
            places,
            expected_correlation(places.tolist(), blocks),
        ),
    ]


def _positions(made: Sequence[ObservedRun]) -> dict[int, int]:
    """Return the position of each run in its block, by its key."""
    by_block: dict[int, list[int]] = {}
    for run in made:
        by_block.setdefault(run.block, []).append(run.run)
    return {run: place for block in by_block.values() for place, run in enumerate(block)}


def _equal_noise(block_fit: BlockFit, places: NDArray[np.int64], cells: int) -> Check:
    """Apply Levene's test to the residuals; two cells in blocks have the same residuals twice."""
    if cells == 2:
        return Check("equal_noise", Outcome.NOT_POSSIBLE)
    scale = math.sqrt(max(1, places.size - cells) / block_fit.fit.df)
    return validity.equal_noise(
        [list(scale * block_fit.residuals[places == cell]) for cell in range(cells)]
    )


def _with_those_apart(check: Check, noisy: frozenset[int]) -> Check:
    """Add the number of levels compared by their own noise, some of which Levene's test misses."""
    if check.outcome == Outcome.NOT_POSSIBLE:
        return check
    return replace(check, figures={**check.figures, "apart": len(noisy)})


def _alike(
    residuals: NDArray[np.float64], places: NDArray[np.int64], expected: float
) -> list[Check]:
    if np.bincount(places).min() < FEWEST_FOR_AUTOCORRELATION:
        return [Check("autocorrelation", Outcome.NOT_POSSIBLE)]
    return [validity.autocorrelation(list(residuals), expected)]


def _of_cells(cells: Cells, metric: Metric) -> list[Check]:
    """Check modes, outliers and identical values, cell by cell."""
    several = outliers = still = 0
    positions: list[int] = []
    requested = False
    for cell in cells.cells:
        observed = [run for run in cell.runs if run.state == "ok"]
        values = [run.value for run in observed if run.value is not None]
        result = density_of(values) if metric.fidelity == RAW else None
        requested = requested or result is not None
        several += result is not None and len(result.modes) > 1
        outliers += len(cell.summary.outliers)
        positions += [observed[place].position for place in cell.summary.outliers]
        still += "zero_variance" in cell.summary.flags
    modes = Check("modes", Outcome.NOT_POSSIBLE)
    if requested:
        modes = Check("modes", Outcome.WARN if several else Outcome.PASS, float(several))
    return [
        modes,
        Check(
            "outliers",
            Outcome.WARN if outliers else Outcome.PASS,
            float(outliers),
            positions=tuple(positions),
        ),
        Check("identical", Outcome.WARN if still else Outcome.PASS, float(still)),
    ]


def _rows(campaign: Campaign, metric: Metric, made: Sequence[ObservedRun]) -> Check:
    """Check whether durations of imported rows agree with start and finish."""
    timed = [run for run in made if run.started_at and run.finished_at and run.value is not None]
    if not campaign.source or metric.name != "duration" or metric.unit != "s" or not timed:
        return Check("rows", Outcome.NOT_POSSIBLE)
    result = validity.rows(
        [run.value or 0.0 for run in timed],
        [run.started_at.timestamp() for run in timed if run.started_at],
        [run.finished_at.timestamp() for run in timed if run.finished_at],
    )
    positions = tuple(timed[place].position for place in result.positions)
    return Check(result.name, result.outcome, result.value, result.figures, positions)


def _health(campaign: Campaign, runs: Sequence[ObservedRun]) -> list[Check]:
    """Check for runs whose generator was kept waiting by others, and for those in which it was saturated, or only disturbed.

    Where no run says how long its generator waited for a CPU, there is no such check.
    """
    if campaign.source:
        return [Check("saturation", Outcome.NOT_POSSIBLE)]
    made = [run for run in runs if run.state in MADE]
    starved = [run.position for run in made if run.starved]
    known = [run.waited for run in made if run.waited is not None]
    bounds = [run.position for run in made if run.state == "bound" and not run.starved]
    warned = [run.position for run in made if run.warned]
    noted = bounds or warned
    saturated = Check(
        "saturation",
        Outcome.FAIL if bounds else Outcome.WARN if warned else Outcome.PASS,
        float(len(noted)),
        positions=tuple(noted),
    )
    if not known:
        return [saturated]
    outcome = Outcome.WARN if starved else Outcome.PASS
    figures = {"runs": float(len(made)), "most": max(known)}
    return [Check("starved", outcome, float(len(starved)), figures, tuple(starved)), saturated]


def _proofs(campaign: Campaign) -> Check:
    """Check the proofs of the clean state and of the same work, of accepted attempts."""
    readings = Proof.objects.filter(
        attempt__run__campaign=campaign, attempt__state=Attempt.State.ACCEPTED
    )
    total = readings.count()
    if not total:
        return Check("proofs", Outcome.NOT_POSSIBLE)
    bad = readings.filter(ok=False).count()
    return Check(
        "proofs", Outcome.FAIL if bad else Outcome.PASS, float(bad), {"readings": float(total)}
    )


def _environment(campaign: Campaign) -> Check:
    """Check for facts that changed between the first and the last run."""
    facts = environment_of(campaign)
    if not facts:
        return Check("environment", Outcome.NOT_POSSIBLE)
    changed = len(changes_of(campaign, facts))
    outcome = Outcome.FAIL if changed else Outcome.PASS
    if campaign.source and not changed:
        outcome = Outcome.WARN
    return Check("environment", outcome, float(changed), {"facts": float(len(facts))})


def _hours(instants: Sequence[datetime | None]) -> list[float] | None:
    known = [instant for instant in instants if instant]
    if len(known) < len(instants) or not known:
        return None
    return [(instant - known[0]).total_seconds() / 3600 for instant in known]


def _middle(block: Sequence[ObservedRun]) -> datetime | None:
    starts = [run.started_at for run in block if run.started_at]
    return min(starts) + (max(starts) - min(starts)) / 2 if starts else None


def _when(run: ObservedRun) -> tuple[float, int]:
    return (run.started_at.timestamp() if run.started_at else 0.0, run.position)
