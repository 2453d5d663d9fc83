"""Runs as a table of typed columns, for Parquet: one row a run, one column a factor and a metric."""

from io import BytesIO
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from campaigns.models import Campaign
from campaigns.queries import exports

COLUMNS: tuple[tuple[str, pa.DataType], ...] = (
    ("position", pa.int32()),
    ("purpose", pa.string()),
    ("state", pa.string()),
    ("reason", pa.string()),
    ("block", pa.int32()),
    ("repetition", pa.int32()),
    ("attempts", pa.int32()),
    ("started_at", pa.timestamp("us", tz="UTC")),
    ("finished_at", pa.timestamp("us", tz="UTC")),
    ("stand_in", pa.string()),
    ("excluded", pa.bool_()),
)


def parquet_of(campaign: Campaign) -> bytes:
    """Write every run but try-outs. A column of a metric tells its unit in its metadata.

    Levels are numbers, truths or text, as they were measured; text where a factor mixes them. A name
    that is taken gets an underscore behind it.
    """
    entries = exports.run_entries(campaign)
    fields = [pa.field(name, kind) for name, kind in COLUMNS]
    columns: list[Any] = [
        [entry[name] is not None if name == "excluded" else entry[name] for entry in entries]
        for name, _ in COLUMNS
    ]
    taken = {name for name, _ in COLUMNS}
    for factor in dict.fromkeys(name for entry in entries for name in entry["levels"]):
        levels = _of_one_type([entry["levels"].get(factor) for entry in entries])
        fields.append(pa.field(_free(factor, taken), levels.type))
        columns.append(levels)
    for metric in sorted({name for entry in entries for name in entry["measurements"]}):
        found = [entry["measurements"].get(metric) for entry in entries]
        unit = next(value["unit"] for value in found if value)
        column = _free(metric, taken)
        fields.append(pa.field(column, pa.float64(), metadata={"unit": unit}))
        columns.append([value["value"] if value else None for value in found])
        if any(value and value["censored"] for value in found):
            fields.append(pa.field(_free(f"{column}_censored", taken), pa.bool_()))
            columns.append([bool(value and value["censored"]) for value in found])
    arrays = [
        column if isinstance(column, pa.Array) else pa.array(column, field.type)
        for field, column in zip(fields, columns, strict=True)
    ]
    written = BytesIO()
    about = {"campaign": str(campaign.pk), "question": campaign.question}
    parquet.write_table(pa.Table.from_arrays(arrays, schema=pa.schema(fields, about)), written)
    return written.getvalue()


def _of_one_type(levels: list[Any]) -> Any:
    kinds = {type(level) for level in levels if level is not None}
    if kinds == {int, float}:
        return pa.array([None if level is None else float(level) for level in levels])
    if len(kinds) > 1 or (kinds == {int} and any(abs(level or 0) >= 2**63 for level in levels)):
        return pa.array([None if level is None else str(level) for level in levels], pa.string())
    return pa.array(levels)


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name
