"""Stream runs with all their values, so that memory stays flat."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from django.db.models import Max, OuterRef, Subquery

from campaigns.models import Attempt, Campaign, Measurement, Run
from campaigns.models.evidence import MeasurementQuerySet
from campaigns.results.rows import Accepted, Around, ReadRun, RunRow, read_runs

CHUNK = 2000
"""Rows that are fetched from the database at a time."""


@dataclass(frozen=True, slots=True)
class Value(Accepted):
    """A measurement that counts for a run, with its fidelity and the worker that made it."""

    fidelity: str
    worker: str


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """A run with the values that count for it by metric, sorted by name.

    state: the stored one; that of `row` is the one on pages. worker: of the last attempt.
    """

    row: RunRow
    state: str
    session: int
    worker: str
    values: Mapping[str, Value]


class _Place(NamedTuple):
    """The sort key of a run in the stream; `pk` is last, since positions are unique."""

    cell: int
    position: int
    pk: int


def measured_runs(campaign: Campaign, *, by_cell: bool = False) -> Iterator[MeasuredRun]:
    """Yield every run but try-outs in the order of positions, or of cells and positions within."""
    every = campaign.runs.exclude(purpose=Run.Purpose.TRIAL)
    newest = (
        every.aggregate(pk=Max("pk"))["pk"] or 0
    )  # the cells and blocks of later ones are not read
    runs = every.filter(pk__lte=newest)
    around = Around.of(campaign, runs)
    sessions = dict(campaign.blocks.values_list("number", "session__number"))
    last = Attempt.objects.filter(run=OuterRef("pk")).order_by("-number").values("worker")[:1]
    order = ["cell__position", "position"] if by_cell else ["position"]
    read = read_runs(runs.order_by(*order), Subquery(last)).iterator(chunk_size=CHUNK)
    values = _Values(_accepted(campaign, by_cell=by_cell))
    for *value, worker in read:
        run = ReadRun._make(value)
        cell = around.cells[run.cell_id][0] if by_cell else 0
        result = values.of(_Place(cell, run.position, run.pk))
        row = around.row(run, result.get(campaign.primary_metric))
        yield MeasuredRun(row, run.state, sessions[row.block], worker or "", result)


def units_of(campaign: Campaign) -> dict[str, str]:
    """Return the unit of every metric with a value in any run except try-outs, by name."""
    result = (
        _values(campaign)
        .order_by("metric__name")
        .values("metric__name")
        .annotate(one=Max("metric__unit"))
    )
    return dict(result.values_list("metric__name", "one"))


class _Values:
    """The values of runs, which must be requested in the order of the stream."""

    def __init__(self, rows: Iterator[tuple[Any, ...]]) -> None:
        self._groups = groupby(rows, key=lambda row: _Place(*row[:3]))
        self._place, self._held = self._next()

    def of(self, place: _Place) -> dict[str, Value]:
        """Return the values of a run; runs may be added or removed between the two queries."""
        while self._place is not None and self._place < place:
            self._place, self._held = self._next()
        return self._held if self._place == place else {}

    def _next(self) -> tuple[_Place | None, dict[str, Value]]:
        for place, rows in self._groups:
            return place, {row[3]: Value(*row[4:]) for row in rows}
        return None, {}


def _accepted(campaign: Campaign, *, by_cell: bool) -> Iterator[tuple[Any, ...]]:
    cell = ["attempt__run__cell__position"] if by_cell else []
    result = (
        _values(campaign)
        .that_count(*cell, "attempt__run__position")
        .values_list(
            "attempt__run__cell__position", "attempt__run__position", "attempt__run_id",
            "metric__name", "value", "metric__unit", "metric__lower_is_better", "censored", "bound",
            "metric__fidelity", "attempt__worker",
        )
        .iterator(chunk_size=CHUNK)
    )  # fmt: skip
    return result if by_cell else ((0, *row[1:]) for row in result)


def _values(campaign: Campaign) -> MeasurementQuerySet:
    return Measurement.objects.filter(
        attempt__run__campaign=campaign, attempt__state__in=Attempt.WITH_VALUES
    ).exclude(attempt__run__purpose=Run.Purpose.TRIAL)
