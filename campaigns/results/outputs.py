"""Read the output of a program with the readers of imports, as the values of one run."""

import re
import zlib
from collections.abc import Mapping, Sequence
from math import fsum

from django.http import HttpResponse

from campaigns.kinds.base import Found, FoundMetric
from campaigns.kit.mappings import Json
from campaigns.models import AttemptOutput
from campaigns.results import reading
from campaigns.results.readers.base import Read, ReadRun, Scalar

MOST_LETTERS = 80
MOST_BYTES = 20_000_000
"""Of one output; no program may print more. A bundle could claim to hold it."""
BYTES = "application/octet-stream"
NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_.%/+-]+", re.ASCII)


def read_output(format: str, content: bytes, mapping: Json | None = None) -> Found:
    """Return the metrics in an output, each the mean of its values. mapping: of CSV. Raise BadFile.

    An output with several benchmarks has their names in those of its metrics: `mean [sort]`.
    """
    return found_in(reading.read(content, format=format, mapping=mapping, limits=reading.OUTPUT))


def found_in(read: Read) -> Found:
    """Return the metrics of what a reader has read."""
    cells: dict[str, list[ReadRun]] = {}
    for run in read.runs:
        cells.setdefault(_cell(run.levels, read.factors), []).append(run)
    several = len(cells) > 1
    metrics, failures = [], []
    for name, runs in cells.items():
        failures += [run.reason or run.state for run in runs if run.state != "ok"]
        for metric in read.metrics:
            values = [run.values[metric.name] for run in runs if metric.name in run.values]
            if values:
                metrics.append(
                    FoundMetric(
                        name=_named(metric.name, name if several else ""),
                        label=f"{metric.label} ({name})" if several else metric.label,
                        unit=metric.unit,
                        lower_is_better=metric.lower_is_better,
                        value=fsum(values) / len(values),
                        count=len(values),
                    )
                )
    primary = next(
        (
            each.name
            for each in metrics
            if each.name == read.primary_metric or each.name.startswith(f"{read.primary_metric}.")
        ),
        metrics[0].name if metrics else "",
    )
    return Found(metrics, primary, failures[0] if failures else "")


def _cell(levels: Mapping[str, Scalar], factors: Mapping[str, Sequence[Scalar]]) -> str:
    """Return the levels that distinguish a run from others, as text."""
    return ", ".join(str(levels[name]) for name in factors if len(factors[name]) > 1)


def _named(metric: str, cell: str) -> str:
    name = f"{metric}.{NOT_IN_A_NAME.sub('_', cell).strip('_')}" if cell else metric
    return NOT_IN_A_NAME.sub("_", name)[:MOST_LETTERS]


def download_of(row: AttemptOutput) -> HttpResponse:
    """Return the content of an output as a file to be stored, never shown: another program has written it."""
    name = NOT_IN_A_NAME.sub("_", row.name).replace("/", "_")
    attempt = row.attempt
    file = f"run-{attempt.run.position}-attempt-{attempt.number}-{name}"
    return HttpResponse(
        content_of(row),
        content_type=BYTES,
        headers={"Content-Disposition": f'attachment; filename="{file}"'},
    )


def content_of(row: AttemptOutput) -> bytes:
    """Return an output as it was printed."""
    return zlib.decompressobj().decompress(bytes(row.content), MOST_BYTES)
