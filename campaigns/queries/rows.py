"""Runs as people read them in tables: with their cell, their value, and who took them out."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, QuerySet

from campaigns.models import Attempt, Campaign, Exclusion, Measurement, Run


@dataclass(frozen=True, slots=True)
class Standing:
    """The measurement that stands for a run."""

    value: float
    unit: str
    lower_is_better: bool
    censored: bool
    bound: bool


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run.

    state: `planned`, `queued`, a phase, `done`, `bound` (generator saturated), `failed`,
    `censored` (value is a lower limit), `void`, `cancelled` or `excluded`.
    tries: attempts so far. excluded_by: empty where the run is not excluded.
    stand_in: what stood in for the target; empty where that was a real one.
    """

    run: int
    position: int
    purpose: str
    cell: int
    cell_position: int
    levels: dict[str, Any]
    block: int
    repetition: int
    state: str
    reason: str
    measured: Standing | None
    started_at: datetime | None
    finished_at: datetime | None
    tries: int
    excluded_by: str
    excluded_why: str
    stand_in: str = ""

    @property
    def is_warm_up(self) -> bool:
        """Whether it is left out of the analysis by plan."""
        return self.purpose == Run.Purpose.WARM_UP


def run_rows(campaign: Campaign, metric: str, *, trials: bool = False) -> list[RunRow]:
    """Every run of a campaign, or every try-out, in the order of its position."""
    purpose = Run.Purpose.TRIAL
    runs = (
        campaign.runs.filter(purpose=purpose) if trials else campaign.runs.exclude(purpose=purpose)
    )
    return _rows(runs, standing_values(campaign, metric))


def standing_values(campaign: Campaign, metric: str) -> dict[int, Standing]:
    """The measurement that stands for each run: of its accepted, else of its last failed attempt."""
    found = (
        Measurement.objects.filter(
            attempt__run__campaign=campaign,
            metric=metric,
            attempt__state__in=[Attempt.State.ACCEPTED, Attempt.State.FAILED],
        )
        # “accepted” comes before “failed” in the alphabet, too.
        .order_by("attempt__run_id", "attempt__state", "-attempt__number")
        .distinct("attempt__run_id")
        .values_list("attempt__run_id", "value", "unit", "lower_is_better", "censored", "bound")
    )
    return {
        run: Standing(value, unit, lower_is_better, censored, bound)
        for run, value, unit, lower_is_better, censored, bound in found
    }


def standing_of(run: Run, metric: str) -> Standing | None:
    """The measurement that stands for one run; None while it is open."""
    if run.state not in (Run.State.DONE, Run.State.FAILED):
        return None
    found = (
        Measurement.objects.filter(
            attempt__run=run,
            metric=metric,
            attempt__state__in=[Attempt.State.ACCEPTED, Attempt.State.FAILED],
        )
        .order_by("attempt__state", "-attempt__number")
        .first()
    )
    if found is None:
        return None
    return Standing(found.value, found.unit, found.lower_is_better, found.censored, found.bound)


def _rows(runs: QuerySet[Run], values: dict[int, Standing]) -> list[RunRow]:
    found = list(
        runs.select_related("cell", "block")
        .annotate(tries=Count("attempts"), stand_in=Max("attempts__stand_in"))
        .order_by("position")
    )
    excluded = {
        exclusion.run_id: exclusion
        for exclusion in Exclusion.objects.filter(
            run__in=runs.order_by().values("pk"), withdrawn_at=None
        ).select_related("user")
    }
    phases = _phases(runs)
    return [
        _row(run, values.get(run.pk), excluded.get(run.pk), phases.get(run.pk, "")) for run in found
    ]


def _phases(runs: QuerySet[Run]) -> dict[int, str]:
    """What the open attempts are at, by run."""
    attempts = Attempt.objects.filter(
        run__in=runs.order_by().values("pk"), state__in=Attempt.OPEN
    ).values_list("run_id", "state", "phase")
    return {
        run: "queued" if state == Attempt.State.QUEUED else phase or "running"
        for run, state, phase in attempts
    }


def _row(run: Run, measured: Standing | None, exclusion: Exclusion | None, phase: str) -> RunRow:
    closed = run.state in (Run.State.DONE, Run.State.FAILED)
    measured = measured if closed else None
    return RunRow(
        run=run.pk,
        position=run.position,
        purpose=run.purpose,
        cell=run.cell_id,
        cell_position=run.cell.position,
        levels=run.cell.levels_by_factor,
        block=run.block.number,
        repetition=run.block.repetition,
        state="excluded" if exclusion else state_of(run.state, measured, phase),
        reason=run.reason,
        measured=measured,
        started_at=run.started_at,
        finished_at=run.finished_at,
        tries=run.tries,  # type: ignore[attr-defined]
        excluded_by=_name(exclusion),
        excluded_why=exclusion.reason if exclusion else "",
        stand_in=run.stand_in or "",  # type: ignore[attr-defined]
    )


def state_of(state: str, measured: Standing | None, phase: str) -> str:
    """Say what a run's state is called on pages."""
    if state == Run.State.FAILED:
        return "censored" if measured is not None and measured.censored else "failed"
    if state == Run.State.DONE:
        return "bound" if measured is not None and measured.bound else "done"
    if state in Run.CLOSED:
        return state
    return phase or state


def _name(exclusion: Exclusion | None) -> str:
    if exclusion is None:
        return ""
    return exclusion.user.get_username() if exclusion.user else "perfdash"


def chosen(rows: Iterable[RunRow], text: str, state: str) -> list[RunRow]:
    """Rows of a state whose levels, block, reason or instant hold a text."""
    wanted = text.strip().lower()
    return [
        row
        for row in rows
        if (not state or row.state == state) and (not wanted or wanted in _text(row))
    ]


def _text(row: RunRow) -> str:
    levels = " ".join(f"{name} {level}" for name, level in row.levels.items())
    started = f"{row.started_at:%Y-%m-%d %H:%M:%S}" if row.started_at else ""
    words = f"{row.position} {levels} {row.state} {row.reason} {started}"
    return f"{words} {row.excluded_by} {row.excluded_why}".lower()
