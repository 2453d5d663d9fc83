"""Plain CSV: with the columns of the published sync runs, or with a mapping of its columns.

A mapping names `factors` (a list of columns; `work`: those of them that name what is done), `metrics` (by column: `unit`, `lower_is_better`,
`label`, `written` as `number` or `H:MM:SS`, `fidelity`, `latency`), and where there are such
columns `started_at`, `finished_at`, `units_done`, `units_failed`, and `state` with the words that
mean `ok`: {"column": "status", "ok": ["passed"]}. `delimiter` is one of , ; | and tab.
"""

import json

from campaigns.kit.errors import BadFile
from campaigns.results.readers.base import Builder, Options, Read, Source, refuse, some
from campaigns.results.readers.base.forms import DELIMITERS, delimiter_of, looks_like_csv
from campaigns.results.readers.base.metrics import DURATION
from campaigns.results.readers.base.tables import Table, rows
from campaigns.results.readers.plain_csv.mapped import Mapped, WrittenOtherwise, mapping_of
from campaigns.results.readers.plain_csv.strict import COLUMNS, BadRows, read_rows

PRESET = ",".join(COLUMNS).encode()


class PlainCsv:
    """The preset reads strictly; a mapping names the columns of factors and metrics."""

    name = "plain_csv"
    label = "CSV"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether there are the columns of the preset; other CSV must be named, with its mapping."""
        return _columns(head) == PRESET

    def read(self, source: Source, options: Options) -> Read:
        """Read by the mapping, or else by the preset."""
        builder = Builder(self.name, self.label)
        if options.mapping:
            mapped = mapping_of(options.mapping)
            return _by_mapping(
                Builder(self.name, self.label, mapped.work, mapped.roles), source, mapped
            )
        if _columns(source.head) != PRESET:
            other = "Give a mapping that names the factors and the metrics."
            refuse(
                "line 1",
                f"The columns are not {','.join(COLUMNS)}. {looks_like_csv(source.head) or other}",
            )
        return _strictly(builder, source)


def _columns(head: bytes) -> bytes:
    line = head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0]
    return b",".join(name.strip() for name in line.split(b","))


def _strictly(builder: Builder, source: Source) -> Read:
    try:
        result = read_rows(source.text().encode())
    except BadRows as bad:
        raise BadFile(
            (f"line {line}" if line else "", text) for line, text in bad.problems
        ) from None
    builder.declare(DURATION)
    for row in sorted(result, key=lambda row: row.started_at):
        builder.run(
            {"concurrency": row.concurrency},
            {"duration": row.seconds},
            started_at=row.started_at,
            finished_at=row.finished_at,
        )
    builder.drop("avg duration is left out: it was checked against the runs, and is their mean.")
    return builder.build(
        name="Sync runs",
        question="Which concurrency is the fastest?",
        primary=["duration"],
        tags=("csv",),
    )


def _by_mapping(builder: Builder, source: Source, mapped: Mapped) -> Read:
    lines = rows(source, mapped.delimiter)
    header = next(lines, ("", [""]))[1]
    table = Table(header)
    first = source.head.decode("utf-8", "replace").partition("\n")[0]
    missing = [name for name in mapped.columns() if name not in table.names]
    if missing and (delimiter := delimiter_of(first, mapped.columns())):
        refuse(
            "line 1",
            f"The columns are separated by {DELIMITERS[delimiter]}: add "
            f'"delimiter": {json.dumps(delimiter)} to the mapping.',
        )
    table.need(mapped.columns(), "the mapping names it.")
    builder.declare(*(metric for metric, _ in mapped.metrics.values()))
    for where, fields in lines:
        if fields == header:
            source.note(f"The columns stand again in {where}: the file has several tables.")
            continue
        try:
            _check(table, where, fields, mapped.delimiter)
            mapped.run(builder, source, table.record(where, fields), where)
        except WrittenOtherwise:
            raise
        except BadFile:
            with source.spare("A line"):
                raise
    left = [name for name in table.names if name not in mapped.columns()]
    if left:
        builder.drop(f"Columns that the mapping does not name are left out: {some(left)}.")
    names = ", ".join(mapped.factors) or "the settings"
    return builder.build(
        name="CSV",
        question=f"How do the measurements depend on {names}?",
        primary=[metric.name for metric, _ in mapped.metrics.values()],
        tags=("csv",),
    )


def _check(table: Table, where: str, fields: list[str], delimiter: str) -> None:
    """Raise BadFile if a line has more or fewer fields than columns; decimal commas make more of them."""
    if delimiter == "," and len(fields) > len(table.names):
        refuse(
            where,
            f"{len(fields)} fields; there are {len(table.names)} columns. Has it decimal commas? Write decimal points, or "
            "put fields with commas in quotes.",
        )
    table.check(where, fields)


reader = PlainCsv()
