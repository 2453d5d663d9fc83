"""Runs as lines of CSV. Values are exact.

For imported durations of whole seconds the first columns are those of the published tables: h:mm:ss, one
row a run, the average on the last row of each level.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from django.db.models.functions import Floor

from campaigns.kinds.base import Metric
from campaigns.kit.charts.labels import FactorOutline
from campaigns.kit.downloads import lines_of
from campaigns.models import Campaign, Measurement
from campaigns.planning.metrics import metric_of
from campaigns.results.rows import Accepted, RunRow
from campaigns.results.run_stream import MeasuredRun, measured_runs, units_of
from campaigns.stats.methods import METHODS

IMPORTED = "external"


def csv_lines(campaign: Campaign, factors: tuple[FactorOutline, ...]) -> Iterator[str]:
    """Yield the header and one line for each run except try-outs, ordered by cell and position.

    Columns: the factors, the primary metric's average and value, start and finish, then state, block,
    position, purpose, reason and the kind of simulated target, then every metric in its unit.
    """
    yield from lines_of(_rows(campaign, factors))


def _rows(campaign: Campaign, factors: tuple[FactorOutline, ...]) -> Iterator[list[Any]]:
    metric = metric_of(campaign, campaign.primary_metric)
    published = _is_published(campaign, metric)
    units = units_of(campaign)
    names = sorted(units, key=lambda name: (name != metric.name, name))
    yield [
        *(factor.name for factor in factors),
        f"avg {metric.name}",
        metric.name,
        "start",
        "finish",
        *("state", "block", "position", "purpose", "reason", "simulator"),
        *(f"{name} ({units[name]})" if units[name] else name for name in names),
    ]
    averages = _averages(campaign)
    for run, following in _with_next(measured_runs(campaign, by_cell=True)):
        row = run.row
        is_last = following is None or following.row.cell != row.cell
        mean = averages.get(row.cell) if is_last else None
        yield [
            *(row.levels.get(factor.name, "") for factor in factors),
            *_described(row, mean, published=published),
            *(row.state, row.block, row.position, row.purpose, _reason(row), row.simulator),
            *(_exact(run.values.get(name)) for name in names),
        ]


def _is_published(campaign: Campaign, metric: Metric) -> bool:
    """Return whether all values were imported as whole seconds."""
    if campaign.kind != IMPORTED or metric.unit != "s":
        return False
    values = Measurement.objects.filter(attempt__run__campaign=campaign).of(metric.name)
    return not values.exclude(value=Floor("value")).exists()


def _with_next(runs: Iterable[MeasuredRun]) -> Iterator[tuple[MeasuredRun, MeasuredRun | None]]:
    before: MeasuredRun | None = None
    for run in runs:
        if before is not None:
            yield before, run
        before = run
    if before is not None:
        yield before, None


def _averages(campaign: Campaign) -> dict[int, float | None]:
    stored = campaign.findings.filter(
        name=f"brief:{campaign.primary_metric}", versions__methods=METHODS
    )
    cells = stored.values_list("result__cells", flat=True).first() or ()
    return {cell["cell"]: cell["summary"]["mean"] for cell in cells}


def _described(row: RunRow, mean: float | None, *, published: bool) -> list[Any]:
    """Return average, value, start and finish."""
    value = row.measured.value if row.measured else None
    if published:
        return [_clock(mean), _clock(value), _instant(row.started_at), _instant(row.finished_at)]
    return [
        "" if mean is None else repr(mean),
        "" if value is None else repr(value),
        row.started_at.astimezone(UTC).isoformat() if row.started_at else "",
        row.finished_at.astimezone(UTC).isoformat() if row.finished_at else "",
    ]


def _clock(seconds: float | None) -> str:
    if seconds is None:
        return ""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"


def _instant(moment: datetime | None) -> str:
    if moment is None:
        return ""
    moment = moment.astimezone(UTC)
    return f"{moment:%Y-%m-%d} {moment.hour}:{moment:%M:%S}"


def _reason(row: RunRow) -> str:
    return f"excluded by {row.excluded_by}: {row.excluded_why}" if row.excluded_by else row.reason


def _exact(value: Accepted | None) -> str:
    return "" if value is None else repr(value.value)
