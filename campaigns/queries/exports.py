"""Runs as files hold them: rows of a CSV, entries of a JSON document. Values are exact.

The first columns of an imported duration are those of the published tables: h:mm:ss, one row a
run, the average on the last row of each level.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from campaigns.drivers.base import Metric
from campaigns.models import Attempt, Campaign, Measurement
from campaigns.queries.comparison_rows import comparison_rows
from campaigns.queries.metrics import metric_of
from campaigns.queries.pages import FactorOutline, findings_of
from campaigns.queries.rows import RunRow, Standing, run_rows

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What makes a spreadsheet take text for a formula, when it comes first; the last four are wide."""
IMPORTED = "external"


class _Line:
    """What csv.writer writes to; gives the line back."""

    def write(self, line: str) -> str:
        return line


def csv_lines(campaign: Campaign, factors: tuple[FactorOutline, ...]) -> Iterator[str]:
    """Write the header and one line a run, ordered by cell and position; no try-outs.

    Columns: the factors, the primary metric's average and value, start and finish, then state,
    block, position, purpose, reason and what stood in for the target, then every metric in its unit.
    """
    writer = csv.writer(_Line(), lineterminator="\n")
    metric = metric_of(campaign, campaign.primary_metric)
    published = campaign.kind == IMPORTED and metric.unit == "s"
    stored = _all_values(campaign)
    units = {name: value.unit for values in stored.values() for name, value in values.items()}
    names = sorted(units, key=lambda name: (name != metric.name, name))
    header = [
        *(factor.name for factor in factors),
        f"avg {metric.name}",
        metric.name,
        "start",
        "finish",
        *("state", "block", "position", "purpose", "reason", "stand_in"),
        *(f"{name} ({units[name]})" if units[name] else name for name in names),
    ]
    yield str(writer.writerow([_safe(cell) for cell in header]))
    averages = _averages(campaign)
    rows = sorted(
        run_rows(campaign, metric.name), key=lambda row: (row.cell_position, row.position)
    )
    last_of = {row.cell: row.run for row in rows}
    for row in rows:
        mean = averages.get(row.cell) if last_of[row.cell] == row.run else None
        cells = [
            *(row.levels.get(factor.name, "") for factor in factors),
            *_in_words(row, mean, published=published),
            *(row.state, row.block, row.position, row.purpose, _reason(row), row.stand_in),
            *(_exact(stored.get(row.run, {}).get(name)) for name in names),
        ]
        yield str(writer.writerow([_safe(cell) for cell in cells]))


def comparison_lines(campaign: Campaign) -> Iterator[str]:
    """Write the header and one line a comparison of the primary metric."""
    yield from lines_of(comparison_rows(campaign))


def lines_of(rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Write one line a row, the header among them; None is an empty cell."""
    writer = csv.writer(_Line(), lineterminator="\n")
    for row in rows:
        yield str(writer.writerow(["" if cell is None else _safe(cell) for cell in row]))


def run_entries(campaign: Campaign) -> list[dict[str, Any]]:
    """Every run but try-outs, with all its values, for a JSON document."""
    stored = _all_values(campaign)
    return [
        {
            "position": row.position,
            "purpose": row.purpose,
            "levels": row.levels,
            "block": row.block,
            "repetition": row.repetition,
            "state": row.state,
            "reason": row.reason,
            "stand_in": row.stand_in,
            "attempts": row.tries,
            "started_at": row.started_at,
            "finished_at": row.finished_at,
            "excluded": {"by": row.excluded_by, "reason": row.excluded_why}
            if row.excluded_by
            else None,
            "measurements": {
                name: {
                    "value": value.value,
                    "unit": value.unit,
                    "lower_is_better": value.lower_is_better,
                    "censored": value.censored,
                    "bound": value.bound,
                }
                for name, value in sorted(stored.get(row.run, {}).items())
            },
        }
        for row in run_rows(campaign, campaign.primary_metric)
    ]


def finding_entries(campaign: Campaign) -> list[dict[str, Any]]:
    """Every finding as it is stored, for a JSON document; but what is there twice, for pages."""
    return [
        {
            "name": finding.name,
            "result": finding.result,
            "data_hash": finding.data_hash,
            "versions": finding.versions,
            "computed_at": finding.computed_at,
        }
        for finding in campaign.findings.exclude(name__startswith="brief:").order_by("name")
    ]


def described(metric: Metric) -> Mapping[str, Any]:
    """A metric as a JSON document names it."""
    return {
        "name": metric.name,
        "label": metric.label,
        "unit": metric.unit,
        "lower_is_better": metric.direction,
    }


def _all_values(campaign: Campaign) -> dict[int, dict[str, Standing]]:
    found = (
        Measurement.objects.filter(
            attempt__run__campaign=campaign,
            attempt__state__in=[Attempt.State.ACCEPTED, Attempt.State.FAILED],
        )
        .order_by("attempt__run_id", "metric", "attempt__state", "-attempt__number")
        .distinct("attempt__run_id", "metric")
        .values_list(
            "attempt__run_id", "metric", "value", "unit", "lower_is_better", "censored", "bound"
        )
    )
    stored: dict[int, dict[str, Standing]] = {}
    for run, metric, value, unit, lower_is_better, censored, bound in found:
        standing = Standing(value, unit, lower_is_better, censored, bound)
        stored.setdefault(run, {})[metric] = standing
    return stored


def _averages(campaign: Campaign) -> dict[int, float | None]:
    cells = findings_of(campaign, campaign.primary_metric).cells
    return {cell["cell"]: cell["summary"]["mean"] for cell in cells["cells"]} if cells else {}


def _in_words(row: RunRow, mean: float | None, *, published: bool) -> list[Any]:
    """Average, value, start and finish."""
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


def _exact(value: Standing | None) -> str:
    return "" if value is None else repr(value.value)


def _safe(cell: Any) -> Any:
    """Keep text from being taken for a formula; numbers that perfdash wrote stay numbers."""
    if isinstance(cell, str) and cell.startswith(FORMULA) and not _is_number(cell):
        return f"'{cell}"
    return cell


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
