"""Read hey, `-o csv`: a line for each answered request, summed up here; one run for each output in the file."""

from campaigns.results.readers.base import Builder, Options, Read, ReadMetric, Source, refuse
from campaigns.results.readers.base import metrics as common
from campaigns.results.readers.base.streams import Stream, stream_metrics
from campaigns.results.readers.base.tables import Table, rows
from campaigns.results.readers.base.texts import number_of

HEADING = b"response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code"
NEEDED = ("response-time", "status-code", "offset")
STEP = 1e-4
"""Seconds: hey prints four decimals."""


class HeyCsv:
    """One output is one run; hey prints neither the address nor its settings."""

    name = "hey_csv"
    label = "hey, single samples"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether there is its heading."""
        return HEADING in head

    def read(self, source: Source, options: Options) -> Read:
        """Read every request of every output in the file."""
        builder = Builder(self.name, self.label)
        builder.declare(
            ReadMetric(
                common.FAILED_SHARE, "Failed, of answered requests", "share", True, "aggregated"
            ),
            *stream_metrics(),
        )
        for stream in _streams(source):
            stream.into(builder, {})
        builder.drop(
            "hey prints no address and no setting: all outputs in the file are runs of one setting. It does not "
            "write requests without an answer into its CSV; its printed output counts them."
        )
        return builder.build(
            name="hey",
            question="How fast does the server answer?",
            primary=[common.percentile(95), common.MEAN, common.RATE],
            tags=("hey", "closed loop"),
        )


def _streams(source: Source) -> list[Stream]:
    """Return the requests of each output; a heading begins one. Raise BadFile for a heading without its columns."""
    streams: list[Stream] = []
    table: Table | None = None
    for where, fields in rows(source):
        if fields[0].strip() == NEEDED[0]:
            table = Table(fields)
            table.need(NEEDED, "use hey 0.1.3 or newer.")
            streams.append(Stream(STEP))
            continue
        numbers = [number_of(text) for text in fields]
        if table is None or len(fields) != len(table.names) or None in numbers:
            source.unknown(int(where.removeprefix("line ")))
            continue
        took, code, began = (numbers[table.names.index(name)] or 0.0 for name in NEEDED)
        if min(took, began) < 0 or not 100 <= code <= 999:
            source.unknown(int(where.removeprefix("line ")))
            continue
        streams[-1].add(began, took, code >= 400)
    filled = [stream for stream in streams if stream.seconds]
    if not filled:
        refuse("", "No request was answered: there is no line below the heading of hey's CSV.")
    if len(filled) < len(streams):
        source.note(f"{len(streams) - len(filled)} outputs of hey without a request are left out.")
    return filled


reader = HeyCsv()
