"""Runs as Parquet in pieces: one row a run and metric, in typed columns.

Row groups are written as they are read, so that memory stays flat.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from campaigns.models import Campaign, Finding
from campaigns.planning.outline import factors_of
from campaigns.planning.roles import roles_told
from campaigns.results.run_stream import MeasuredRun, measured_runs
from perfdash import __version__

ROW_GROUP = 20_000
"""Rows in memory at a time."""
EXACT = 2**53
"""Whole numbers up to here are equal to their floats."""
LARGEST = 2**63 - 1
INSTANT = pa.timestamp("us", tz="UTC")
BEFORE: Sequence[tuple[str, Any]] = (
    ("campaign", pa.int64()),
    ("run", pa.int64()),
    ("cell", pa.int64()),
)
AFTER: Sequence[tuple[str, Any]] = (
    ("block", pa.int64()),
    ("repetition", pa.int64()),
    ("session", pa.int64()),
    ("purpose", pa.string()),
    ("state", pa.string()),
    ("reason", pa.string()),
    ("attempts", pa.int64()),
    ("started_at", INSTANT),
    ("finished_at", INSTANT),
    ("metric", pa.string()),
    ("unit", pa.string()),
    ("lower_is_better", pa.bool_()),
    ("value", pa.float64()),
    ("censored", pa.bool_()),
    ("bound", pa.bool_()),
    ("fidelity", pa.string()),
    ("excluded", pa.bool_()),
    ("excluded_by", pa.string()),
    ("excluded_reason", pa.string()),
    ("worker", pa.string()),
    ("simulator", pa.string()),
)


class Written:
    """The file of a Parquet writer; returns what was written since the last call."""

    closed = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, piece: Any) -> int:
        self._pieces.append(bytes(piece))
        return len(self._pieces[-1])

    def flush(self) -> None:
        """Do nothing: no output is buffered elsewhere."""

    def close(self) -> None:
        self.closed = True

    def writable(self) -> bool:
        return True

    def pending_bytes(self) -> bytes:
        piece = b"".join(self._pieces)
        self._pieces.clear()
        return piece


def parquet_pieces(campaign: Campaign) -> Iterator[bytes]:
    """Yield every run except try-outs; a run without a value has one row without a metric.

    A factor's column has its levels with their type: numbers, booleans, text, or text where a factor mixes
    types; its name gets an underscore where another column has it. Its metadata hold its role.
    """
    factors = {factor.name: factor.levels for factor in factors_of(campaign)}
    schema = _schema(campaign, factors)
    written = Written()
    with parquet.ParquetWriter(pa.PythonFile(written, "w"), schema) as writer:
        rows = (row for run in measured_runs(campaign) for row in _rows(campaign, run, factors))
        while group := list(islice(rows, ROW_GROUP)):
            columns = zip(zip(*group, strict=True), schema, strict=True)
            arrays = [_array(values, field.type) for values, field in columns]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
            yield written.pending_bytes()
    yield written.pending_bytes()


def _schema(campaign: Campaign, factors: Mapping[str, Sequence[Any]]) -> Any:
    roles = roles_told(campaign)
    used = {name for name, _ in (*BEFORE, *AFTER)}
    fields = [
        *(pa.field(name, kind) for name, kind in BEFORE),
        *(
            pa.field(_free(name, used), _type(levels), metadata={"perfdash.role": roles[name]})
            for name, levels in factors.items()
        ),
        *(pa.field(name, kind) for name, kind in AFTER),
    ]
    answer = Finding.objects.filter(campaign=campaign, name="answer").first()
    about = {
        "version": __version__,
        "campaign": str(campaign.pk),
        "name": campaign.name,
        "question": campaign.question,
        "data_hash": answer.data_hash if answer else "",
    }
    return pa.schema(fields, {f"perfdash.{key}": value for key, value in about.items()})


def _rows(
    campaign: Campaign, run: MeasuredRun, factors: Iterable[str]
) -> Iterator[tuple[Any, ...]]:
    row = run.row
    before = (
        campaign.pk, row.position, row.cell_position, *(row.levels.get(name) for name in factors),
        row.block, row.repetition, run.session, row.purpose, run.state, row.reason, row.tries,
        row.started_at, row.finished_at,
    )  # fmt: skip
    excluded = (bool(row.excluded_by), row.excluded_by or None, row.excluded_why or None)
    for metric, value in run.values.items():
        yield (
            *before, metric, value.unit, value.lower_is_better, value.value, value.censored,
            value.bound, value.fidelity, *excluded, value.worker, row.simulator,
        )  # fmt: skip
    if not run.values:
        yield (*before, *(None,) * 7, *excluded, run.worker, row.simulator)


def _type(levels: Sequence[Any]) -> Any:
    kinds = {type(level) for level in levels if level is not None}
    whole = [abs(level) for level in levels if type(level) is int]
    if kinds == {bool}:
        return pa.bool_()
    if kinds == {int} and max(whole) <= LARGEST:
        return pa.int64()
    if float in kinds and kinds <= {int, float} and max(whole, default=0) <= EXACT:
        return pa.float64()
    return pa.string()


def _array(values: Sequence[Any], kind: Any) -> Any:
    if kind == pa.string():
        return pa.array([_text(value) for value in values], kind)
    return pa.array(values, kind)


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _free(name: str, used: set[str]) -> str:
    """Return a name that no other column has in any case, since some readers ignore the case."""
    while name.lower() in used:
        name += "_"
    used.add(name.lower())
    return name
