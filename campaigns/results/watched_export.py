"""Files of what was observed on the target of one attempt: every sample, as CSV, Parquet or OpenMetrics."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from math import isfinite

from campaigns.kit.downloads import gathered, lines_of
from campaigns.models import Attempt, Campaign, Run
from campaigns.results.watched import WatchedRun, watched_of
from campaigns.targets.watches.align import AlignedSeries
from campaigns.targets.watches.catalog import CATALOG, text_of

COLUMNS = ("quantity", "label", "unit", "seconds", "value")
ODD = re.compile(r"[^a-zA-Z0-9_]")


@dataclass(frozen=True, slots=True)
class Format:
    """A format of files: its media type, the ending of its name, and its bytes."""

    media_type: str
    ending: str
    pieces: Callable[[Attempt, WatchedRun], Iterator[bytes]]


def csv_pieces(attempt: Attempt, run: WatchedRun) -> Iterator[bytes]:
    """Yield one line a sample; what was not observed is left out."""
    yield (",".join(COLUMNS) + "\n").encode()
    for series in run.series():
        about = (series.key.quantity, series.key.label, _unit(series))
        rows = ((*about, f"{seconds:g}", f"{value:.6g}") for seconds, value in _samples(series))
        yield from gathered(lines_of(rows))


def openmetrics_pieces(attempt: Attempt, run: WatchedRun) -> Iterator[bytes]:
    """Yield gauges with their times, as `promtool tsdb create-blocks-from openmetrics` reads them."""
    begin = attempt.measure_started_at or attempt.claimed_at or attempt.queued_at
    every = sorted(run.series(), key=lambda each: each.key)
    for quantity, members in groupby(every, key=lambda each: each.key.quantity):
        name = f"perfdash_{ODD.sub('_', quantity)}"
        lines = [f"# TYPE {name} gauge", f"# HELP {name} {_escaped(text_of(quantity))}"]
        seen = set()
        for series in members:
            if series.key in seen:
                continue  # a second source has it, too
            seen.add(series.key)
            labels = _labels(attempt, series)
            lines += [
                f"{name}{labels} {value:.6g} {_epoch(begin) + seconds:.3f}"
                for seconds, value in _samples(series)
            ]
        yield ("\n".join(lines) + "\n").encode()
    yield b"# EOF\n"


def parquet_pieces(attempt: Attempt, run: WatchedRun) -> Iterator[bytes]:
    """Yield a file with one row a sample; the campaign, run and attempt are columns, too."""
    return _parquet([(attempt, run)])


def campaign_pieces(campaign: Campaign) -> Iterator[bytes]:
    """Yield the same of all runs of a campaign with an accepted attempt, except try-outs."""
    attempts = (
        Attempt.objects.filter(run__campaign=campaign, state=Attempt.State.ACCEPTED)
        .exclude(run__purpose=Run.Purpose.TRIAL)
        .select_related("run")
        .order_by("run__position")
    )
    return _parquet((attempt, watched_of(attempt)) for attempt in attempts.iterator())


def _parquet(runs: Iterable[tuple[Attempt, WatchedRun]]) -> Iterator[bytes]:
    """Yield a file, with a group of rows for each series, so that memory stays flat."""
    import pyarrow as pa  # loads much
    from pyarrow import parquet

    from campaigns.results.parquet import Written

    numbers, texts = ("campaign", "run", "attempt"), COLUMNS[:3]
    schema = pa.schema(
        [
            *((name, pa.int64()) for name in numbers),
            *((name, pa.string()) for name in texts),
            (COLUMNS[3], pa.float64()),
            (COLUMNS[4], pa.float32()),
        ]
    )
    written = Written()
    with parquet.ParquetWriter(pa.PythonFile(written, "w"), schema) as writer:
        for attempt, run in runs:
            fixed = (attempt.run.campaign_id, attempt.run.position, attempt.number)
            for series in run.series():
                samples = list(_samples(series))
                named = (*fixed, series.key.quantity, series.key.label, _unit(series))
                columns = [
                    *([each] * len(samples) for each in named),
                    [seconds for seconds, _ in samples],
                    [value for _, value in samples],
                ]
                writer.write_table(pa.table(columns, schema=schema))
                yield written.pending_bytes()
    yield written.pending_bytes()


FORMATS: Mapping[str, Format] = {
    "csv": Format("text/csv; charset=utf-8", "csv", csv_pieces),
    "openmetrics": Format(
        "application/openmetrics-text; version=1.0.0; charset=utf-8", "om", openmetrics_pieces
    ),
    "parquet": Format("application/vnd.apache.parquet", "parquet", parquet_pieces),
}


def _samples(series: AlignedSeries) -> Iterator[tuple[float, float]]:
    for place, value in enumerate(series.values.tolist()):
        if isfinite(value):
            yield series.start_seconds + place * series.step_seconds, value


def _unit(series: AlignedSeries) -> str:
    known = CATALOG.get(series.key.quantity)
    return known.unit if known else ""


def _labels(attempt: Attempt, series: AlignedSeries) -> str:
    run = attempt.run
    labels = {"campaign": str(run.campaign_id), "run": str(run.position)}
    labels["attempt"] = str(attempt.number)
    if series.key.label:
        known = CATALOG.get(series.key.quantity)
        labels[(known.label if known else "") or "label"] = series.key.label
    inside = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{inside}}}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _epoch(at: datetime) -> float:
    return at.timestamp()
