"""Runs as rows of tables, with their cell, value and exclusion."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, Max, QuerySet

from campaigns.kit.mappings import Levels
from campaigns.models import Attempt, Campaign, Exclusion, Measurement, Run


@dataclass(frozen=True, slots=True)
class Accepted:
    """The measurement that counts for a run."""

    value: float
    unit: str
    lower_is_better: bool | None
    censored: bool
    bound: bool


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run.

    state: `planned`, `queued`, a phase, `done`, `bound` (generator saturated), `failed`, `censored` (value
    is a lower limit), `void`, `cancelled` or `excluded`.

    tries: attempts so far. excluded_by: empty where the run is not excluded. simulator: the kind of
    simulated target; empty for a real one.
    """

    run: int
    position: int
    purpose: str
    cell: int
    cell_position: int
    levels: Levels
    block: int
    repetition: int
    state: str
    reason: str
    measured: Accepted | None
    started_at: datetime | None
    finished_at: datetime | None
    tries: int
    excluded_by: str
    excluded_why: str
    simulator: str = ""

    @property
    def is_warm_up(self) -> bool:
        """Whether the plan leaves it out of the analysis."""
        return self.purpose == Run.Purpose.WARM_UP


def run_rows(campaign: Campaign, metric: str, *, trials: bool = False) -> list[RunRow]:
    """Return all runs of a campaign, or all try-outs, by position."""
    purpose = Run.Purpose.TRIAL
    runs = (
        campaign.runs.filter(purpose=purpose) if trials else campaign.runs.exclude(purpose=purpose)
    )
    return rows_of(campaign, runs, accepted_values(campaign, metric))


def accepted_values(
    campaign: Campaign, metric: str, runs: Collection[int] | QuerySet[Any] | None = None
) -> dict[int, Accepted]:
    """Return the measurement that counts for each run.

    runs: only for these, by their keys.
    """
    among = {} if runs is None else {"attempt__run__in": runs}
    rows = Measurement.objects.filter(attempt__run__campaign=campaign, **among).of(metric)
    fields = ("value", "metric__unit", "metric__lower_is_better", "censored", "bound")
    return {
        run: Accepted(*values)
        for run, *values in rows.that_count().values_list("attempt__run_id", *fields)
    }


def accepted_of(run: Run, metric: str) -> Accepted | None:
    """Return the measurement that counts for one run; None where there is none."""
    return accepted_values(run.campaign, metric, [run.pk]).get(run.pk)


def rows_of(
    campaign: Campaign,
    runs: QuerySet[Run],
    values: Mapping[int, Accepted],
    excluded: Mapping[int, tuple[str, str]] | None = None,
    phases: Mapping[int, str] | None = None,
) -> list[RunRow]:
    """Return runs of a campaign by position. values: the measurement that counts for each of them.

    excluded, phases: `excluded_among` and `phases_of` of these runs at least, where they were read already.
    """
    around = Around.of(campaign, runs, excluded, phases)
    return [
        around.row(read, values.get(read.pk))
        for read in map(ReadRun._make, read_runs(runs.order_by("position")))
    ]


class ReadRun(NamedTuple):
    """The columns that are read of a run."""

    pk: int
    position: int
    purpose: str
    state: str
    reason: str
    cell_id: int
    block_id: int
    started_at: datetime | None
    finished_at: datetime | None
    tries: int
    simulator: str | None


def read_runs(runs: QuerySet[Run], *more: Any) -> QuerySet[Run, tuple[Any, ...]]:
    """Read the fields of ReadRun, and `more` after them."""
    counted = (Count("attempts"), Max("attempts__simulator"))
    return runs.values_list(*ReadRun._fields[:-2], *counted, *more)


def excluded_among(runs: QuerySet[Run]) -> dict[int, tuple[str, str]]:
    """Return by whom and why runs are excluded; “perfdash” where no user is recorded."""
    return {
        run: (name or "perfdash", reason)
        for run, name, reason in Exclusion.objects.filter(
            run__in=runs.order_by().values("pk"), withdrawn_at=None
        ).values_list("run_id", "user__username", "reason")
    }


def phases_of(runs: QuerySet[Run]) -> dict[int, str]:
    """Return the phase of the open attempts, by run."""
    attempts = Attempt.objects.filter(
        run__in=runs.order_by().values("pk"), state__in=Attempt.OPEN
    ).values_list("run_id", "state", "phase")
    return {
        run: "queued" if state == Attempt.State.QUEUED else phase or "running"
        for run, state, phase in attempts
    }


@dataclass(frozen=True, slots=True)
class Around:
    """What turns a ReadRun into a row: cells and blocks by key, exclusions, phases."""

    cells: Mapping[int, tuple[int, Levels]]
    blocks: Mapping[int, tuple[int, int]]
    excluded: Mapping[int, tuple[str, str]]
    phases: Mapping[int, str]

    @classmethod
    def of(
        cls,
        campaign: Campaign,
        runs: QuerySet[Run],
        excluded: Mapping[int, tuple[str, str]] | None = None,
        phases: Mapping[int, str] | None = None,
    ) -> "Around":
        """Read what is not given for these runs of a campaign."""
        cells = campaign.cells.values_list("pk", "position", "levels_by_factor")
        blocks = campaign.blocks.values_list("pk", "number", "repetition")
        return cls(
            {pk: (position, levels) for pk, position, levels in cells},
            {pk: (number, repetition) for pk, number, repetition in blocks},
            excluded_among(runs) if excluded is None else excluded,
            phases_of(runs) if phases is None else phases,
        )

    def row(self, run: ReadRun, measured: Accepted | None) -> RunRow:
        """Return the row. measured: the measurement that counts for the run."""
        by, why = self.excluded.get(run.pk, ("", ""))
        cell_position, levels = self.cells[run.cell_id]
        block, repetition = self.blocks[run.block_id]
        state = state_of(run.state, measured, self.phases.get(run.pk, ""))
        return RunRow(
            run=run.pk,
            position=run.position,
            purpose=run.purpose,
            cell=run.cell_id,
            cell_position=cell_position,
            levels=levels,
            block=block,
            repetition=repetition,
            state="excluded" if by else state,
            reason=run.reason,
            measured=measured,
            started_at=run.started_at,
            finished_at=run.finished_at,
            tries=run.tries,
            excluded_by=by,
            excluded_why=why,
            simulator=run.simulator or "",
        )


def state_of(state: str, measured: Accepted | None, phase: str) -> str:
    """Return the state of a run that pages show."""
    if state == Run.State.FAILED:
        return "censored" if measured is not None and measured.censored else "failed"
    if state == Run.State.DONE:
        return "bound" if measured is not None and measured.bound else "done"
    if state in Run.CLOSED:
        return state
    return phase or state
