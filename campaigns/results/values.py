"""Values of runs for the analysis and the plan."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from campaigns.kinds.programs.health import WARNED
from campaigns.kinds.programs.starving import FIGURES, is_too_long, waited_share
from campaigns.models import Attempt, Campaign, Exclusion, Measurement, Run


@dataclass(frozen=True, slots=True)
class ObservedRun:
    """A run that counts or may count: its place, its state, and the value of one metric.

    session: the launch or extension that planned it, until `findings.compute.sessions` numbers those of the
    statistics, and the parts of blocks that lie in one of them.

    state: `ok`, `failed`, `censored` (value is a lower limit), `bound` (generator saturated or starved), `lost` (void,
    or this metric was not observed), `cancelled` (by a person), `excluded`, `open` (planned or running).

    value: in the metric's unit; None where nothing was measured. phase: of a search for capacity. waited: the share of
    the time that others kept its generator waiting for a CPU; None where that is unknown. warned: something may have disturbed it.
    stored_state: the state whatever its generator waited, which the hash of the data holds; empty where it is `state`.
    """

    run: int
    position: int
    cell: int
    block: int
    repetition: int
    session: int
    state: str
    value: float | None
    reason: str
    started_at: datetime | None
    finished_at: datetime | None
    units_done: int
    units_failed: int
    worker: str = ""
    part: int = 0
    phase: str = ""
    waited: float | None = None
    warned: bool = False
    stored_state: str = ""

    @property
    def starved(self) -> bool:
        """Whether its generator waited so long that it says nothing of the server, whether it failed or not."""
        return is_too_long(self.waited)


class _Attempted(NamedTuple):
    """The attempt that counts for a run."""

    units_done: int = 0
    units_failed: int = 0
    worker: str = ""
    waited: float | None = None
    warned: bool = False


class _Measured(NamedTuple):
    """The measurement that counts for a run."""

    value: float
    censored: bool
    bound: bool


def observed_runs_by_metric(
    campaign: Campaign, metrics: Iterable[str]
) -> dict[str, list[ObservedRun]]:
    """Return every measured run of a campaign by metric, ordered by position.

    Warm-ups and try-outs are left out. `MeasurementQuerySet.that_count` chooses the value. Several metrics
    take as many queries as one.
    """
    names = list(metrics)
    values = _values(campaign, names)
    attempts = _attempts(campaign)
    excluded = set(
        Exclusion.objects.filter(run__campaign=campaign, withdrawn_at=None).values_list(
            "run_id", flat=True
        )
    )
    result: dict[str, list[ObservedRun]] = {name: [] for name in names}
    for run, state, *place in _runs(campaign):
        attempt = attempts.get(run, _Attempted())
        for name in names:
            measured = values[name].get(run)
            position, cell, block, repetition, session, reason, started_at, finished_at, phase = (
                place
            )
            observed = ObservedRun(
                run=run,
                position=position,
                cell=cell,
                block=block,
                repetition=repetition,
                session=session,
                state=_state(state, measured, attempt.waited, is_excluded=run in excluded),
                value=measured.value if measured else None,
                reason=reason,
                started_at=started_at,
                finished_at=finished_at,
                units_done=attempt.units_done,
                units_failed=attempt.units_failed,
                worker=attempt.worker,
                phase=phase,
                waited=attempt.waited,
                warned=attempt.warned,
                stored_state=_state(state, measured, None, is_excluded=run in excluded),
            )
            result[name].append(observed)
    return result


def _runs(campaign: Campaign) -> Iterable[tuple[Any, ...]]:
    """Return rows, not objects: a campaign may have ten thousand runs, and is read after every block."""
    return (
        campaign.runs.filter(purpose=Run.Purpose.MEASURED)
        .order_by("position")
        .values_list(
            "pk",
            "state",
            "position",
            "cell_id",
            "block__number",
            "block__repetition",
            "block__session__number",
            "reason",
            "started_at",
            "finished_at",
            "block__phase",
        )
    )


def _values(campaign: Campaign, metrics: list[str]) -> dict[str, dict[int, _Measured]]:
    """Return the measurement that counts for each run, by metric."""
    result: dict[str, dict[int, _Measured]] = {metric: {} for metric in metrics}
    measurements = Measurement.objects.filter(attempt__run__campaign=campaign).of(*metrics)
    for metric, run, *measured in measurements.that_count().values_list(
        "metric__name", "attempt__run_id", "value", "censored", "bound"
    ):
        result[metric][run] = _Measured._make(measured)
    return result


def _attempts(campaign: Campaign) -> dict[int, _Attempted]:
    """Return what is known of the last accepted or failed attempt at each run."""
    rows = (
        Attempt.objects.filter(run__campaign=campaign, state__in=Attempt.WITH_VALUES)
        .order_by("number")
        .values_list(
            *("run_id", "units_done", "units_failed", "worker", "health"),
            *(f"health_figures__{name}" for name in FIGURES),
        )
    )
    return {
        run: _Attempted(done, failed, worker, _waited(figures), health == WARNED)
        for run, done, failed, worker, health, *figures in rows
    }


def _waited(figures: Sequence[Any]) -> float | None:
    """Return how long the generator waited by the stored figures, those of earlier versions, too."""
    known = zip(FIGURES, figures, strict=True)
    return waited_share({name: float(value) for name, value in known if value is not None})


def _state(
    state: str, measured: _Measured | None, waited: float | None, *, is_excluded: bool
) -> str:
    if is_excluded:
        return "excluded"
    if (
        is_too_long(waited) and state in Run.WITH_VALUES
    ):  # that it failed may be the generator's doing
        return "lost" if measured is None else "bound"
    if measured is not None and measured.censored and state in (Run.State.FAILED, Run.State.DONE):
        return "censored"
    if state == Run.State.FAILED:
        return "failed"
    if state == Run.State.DONE:
        if measured is None:
            return "lost"
        return "bound" if measured.bound else "ok"
    if state == Run.State.CANCELLED:
        return "cancelled"
    return "lost" if state in Run.CLOSED else "open"
