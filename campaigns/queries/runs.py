"""Values of runs, as the analysis and the plan need them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from statistics import median_high

from django.db.models import F

from campaigns.models import Attempt, Campaign, Exclusion, Measurement, Run, Target

LATEST = 50


@dataclass(frozen=True, slots=True)
class UsualRun:
    """How long runs took of late: the median from claim to end, and of how many runs it is."""

    seconds: float
    runs: int


@dataclass(frozen=True, slots=True)
class ObservedRun:
    """A run that counts or might: its place, its state, and one metric's value.

    state: `ok`, `failed`, `censored` (value is a lower limit), `bound` (generator saturated),
    `lost` (void), `cancelled` (by a person), `excluded`, `open` (planned or running).
    value: in the metric's unit; None where nothing was measured.
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


def observed_runs_by_metric(
    campaign: Campaign, metrics: Iterable[str]
) -> dict[str, list[ObservedRun]]:
    """Every measured run of a campaign by metric, in the order of its position.

    No warm-up, no try-out. Values come from the accepted attempt, and from a failed one where it got
    that far. Several metrics take as many queries as one.
    """
    runs = list(
        campaign.runs.filter(purpose=Run.Purpose.MEASURED)
        .select_related("block__session")
        .order_by("position")
    )
    names = list(metrics)
    values = _values(campaign, names)
    attempts = _attempts(campaign)
    excluded = set(
        Exclusion.objects.filter(run__campaign=campaign, withdrawn_at=None).values_list(
            "run_id", flat=True
        )
    )
    return {
        name: [
            _observed(run, values[name].get(run.pk), attempts.get(run.pk), run.pk in excluded)
            for run in runs
        ]
        for name in names
    }


def _observed(
    run: Run, measurement: Measurement | None, attempt: Attempt | None, is_excluded: bool
) -> ObservedRun:
    return ObservedRun(
        run=run.pk,
        position=run.position,
        cell=run.cell_id,
        block=run.block.number,
        repetition=run.block.repetition,
        session=run.block.session.number,
        state=_state(run, measurement, is_excluded),
        value=None if measurement is None else measurement.value,
        reason=run.reason,
        started_at=run.started_at,
        finished_at=run.finished_at,
        units_done=attempt.units_done if attempt else 0,
        units_failed=attempt.units_failed if attempt else 0,
        worker=attempt.worker if attempt else "",
    )


def usual_run(kind: str, target: Target | None) -> UsualRun | None:
    """Judge by the latest accepted runs of a kind on a target; None where there was none."""
    if target is None:
        return None
    spans = (
        Attempt.objects.filter(
            run__campaign__kind=kind,
            run__campaign__target__address=target.address,
            state=Attempt.State.ACCEPTED,
        )
        .order_by("-finished_at")
        .values_list(F("finished_at") - F("claimed_at"), flat=True)[:LATEST]
    )
    seconds = [span.total_seconds() for span in spans]
    return UsualRun(median_high(seconds), len(seconds)) if seconds else None


def _values(campaign: Campaign, metrics: list[str]) -> dict[str, dict[int, Measurement]]:
    """The measurement that stands for each run: of its accepted, else of its last failed attempt."""
    found: dict[str, dict[int, Measurement]] = {metric: {} for metric in metrics}
    measurements = (
        Measurement.objects.filter(
            attempt__run__campaign=campaign,
            metric__in=metrics,
            attempt__state__in=[Attempt.State.ACCEPTED, Attempt.State.FAILED],
        )
        .select_related("attempt")
        .order_by("attempt__number")
    )
    for measurement in measurements:
        former = found[measurement.metric].get(measurement.attempt.run_id)
        if former is None or former.attempt.state != Attempt.State.ACCEPTED:
            found[measurement.metric][measurement.attempt.run_id] = measurement
    return found


def _attempts(campaign: Campaign) -> dict[int, Attempt]:
    """The last attempt at each run that ended accepted or failed."""
    rows = Attempt.objects.filter(
        run__campaign=campaign, state__in=[Attempt.State.ACCEPTED, Attempt.State.FAILED]
    ).order_by("number")
    return {row.run_id: row for row in rows.only("run_id", "worker", "units_done", "units_failed")}


def _state(run: Run, measurement: Measurement | None, is_excluded: bool) -> str:
    if is_excluded:
        return "excluded"
    if run.state == Run.State.FAILED:
        return "censored" if measurement is not None and measurement.censored else "failed"
    if run.state == Run.State.DONE:
        return "bound" if measurement is not None and measurement.bound else "ok"
    if run.state == Run.State.CANCELLED:
        return "cancelled"
    return "lost" if run.state in Run.CLOSED else "open"
