"""Read JMeter's result files: CSV with or without a header, and XML; one run for each label."""

import re
from itertools import chain
from typing import NoReturn
from xml.parsers import expat

from campaigns.kit.errors import BadFile
from campaigns.results.readers.base import (
    MOST_LINE_BYTES,
    Builder,
    Options,
    Read,
    Scalar,
    Source,
    refuse,
)
from campaigns.results.readers.base.building import MOST_CELLS
from campaigns.results.readers.base.streams import Stream, stream_metrics
from campaigns.results.readers.base.tables import Table, rows
from campaigns.results.readers.base.texts import EARLIEST, LATEST, clean, number_of

HEADLESS = re.compile(rb"\d{13},\d{1,9},[^\n]*,(?:true|false),", re.ASCII)


DEFAULT = [
    "timeStamp",
    "elapsed",
    "label",
    "responseCode",
    "responseMessage",
    "threadName",
    "dataType",
    "success",
    "failureMessage",
    "bytes",
    "sentBytes",
    "grpThreads",
    "allThreads",
    "URL",
    "Latency",
    "IdleTime",
    "Connect",
]
WITHOUT_URL = [name for name in DEFAULT if name != "URL"]
NEEDED = ("timeStamp", "elapsed", "label", "success")

TRUTH = {"true": True, "false": False}
LONGEST_MS = 1e12

ROOT = "testResults"
SAMPLES = ("sample", "httpSample")
MOST_DEPTH = 50


class JmeterJtl:
    """The label is a factor where there are several."""

    name = "jmeter_jtl"
    label = "JMeter"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether there is its root element, its first columns, or a line that begins with an instant."""
        begin = head.removeprefix(b"\xef\xbb\xbf")
        header = begin.partition(b"\n")[0]
        return (
            (_is_xml(begin) and b"<testResults" in head)
            or (b"timeStamp" in header and b"elapsed" in header and not _is_xml(begin))
            or HEADLESS.match(begin) is not None
        )

    def read(self, source: Source, options: Options) -> Read:
        """Read every sample, and group them by label."""
        builder = Builder(self.name, self.label, work=("label",))
        builder.declare(*stream_metrics())
        samples = Samples()
        if _is_xml(source.head.removeprefix(b"\xef\xbb\xbf")):
            read_xml(source, samples)
        else:
            read_table(source, samples)
        for label, stream in samples.streams.items():
            levels: dict[str, Scalar] = {"label": label} if len(samples.streams) > 1 else {}
            stream.into(builder, levels)
        if samples.threads:
            builder.note("threads, most", samples.threads)
        if samples.nested:
            builder.drop(f"{samples.nested:,} samples inside others are left out: they are parts.")
        builder.drop("Latency is JMeter's elapsed time; time to the first byte is left out.")
        return builder.build(
            name="JMeter",
            question="How fast does the server answer each request?",
            primary=["latency_p95", "latency_mean"],
            tags=("jmeter",),
        )


def _is_xml(begin: bytes) -> bool:
    return begin.lstrip()[:1] == b"<"


reader = JmeterJtl()


class Samples:
    """Streams by label, in the order of the file. nested: samples that were left out."""

    def __init__(self) -> None:
        self.streams: dict[str, Stream] = {}
        self._by_label: dict[str, Stream] = {}
        self.threads = 0
        self.nested = 0

    def add(
        self,
        where: str,
        *,
        began: str,
        elapsed: str,
        label: str,
        success: str,
        size: str,
        threads: str,
    ) -> None:
        """Add a sample as the file has it: milliseconds since 1970, milliseconds, and bytes."""
        start, took = _number(began, "timeStamp", where), _number(elapsed, "elapsed", where)
        if not EARLIEST <= start / 1000 < LATEST or took > LONGEST_MS:
            refuse(
                where, f"The timeStamp {began[:40]} or elapsed {elapsed[:40]} is none of a test."
            )
        good = TRUTH.get(success) if success in TRUTH else TRUTH.get(success.strip().lower())
        if good is None:
            refuse(where, f"success is “{success[:40]}”; it must be true or false.")
        received = _number(size, "bytes", where) if size else 0.0
        self._stream(label, where).add(start / 1000, took / 1000, not good, min(received, 1e15))
        if threads.isascii() and threads.isdigit():
            self.threads = max(self.threads, int(threads[:9]))

    def _stream(self, label: str, where: str) -> Stream:
        """Return the stream of a label; labels that are equal after cleaning share one."""
        result = self._by_label.get(label)
        if result is None:
            if len(self._by_label) >= MOST_CELLS:
                refuse(where, f"More than {MOST_CELLS} labels; give samples of one kind one label.")
            result = self.streams.setdefault(clean(label, 500), Stream())
            self._by_label[label] = result
        return result


def _number(text: str, name: str, where: str) -> float:
    if len(text) < 16 and text.isascii() and text.isdigit():
        return float(text)
    number = number_of(text)
    if number is None or number < 0:
        refuse(where, f"{name}: “{text[:40]}” is no number from 0.")
    return number


def read_table(source: Source, samples: Samples) -> None:
    """Read every line into `samples`."""
    lines = rows(source, _delimiter(source.head))
    where, first = next(lines, ("", [""]))
    named = "timeStamp" in [name.strip() for name in first]
    table = Table(first if named else _default(first, where))
    table.need(NEEDED, "switch jmeter.save.saveservice on for it.")
    places = [table.names.index(name) for name in NEEDED]
    size, threads = (table.place(name) for name in ("bytes", "allThreads"))
    for place, fields in lines if named else chain([(where, first)], lines):
        table.check(place, fields)
        began, elapsed, label, success = (fields[each] for each in places)
        samples.add(
            place,
            began=began,
            elapsed=elapsed,
            label=label,
            success=success,
            size=fields[size] if size is not None else "",
            threads=fields[threads] if threads is not None else "",
        )


def _delimiter(head: bytes) -> str:
    line = head.partition(b"\n")[0]
    return max(",;\t", key=lambda each: line.count(each.encode()))


def _default(first: list[str], where: str) -> list[str]:
    fitting = [columns for columns in (DEFAULT, WITHOUT_URL) if len(first) == len(columns)]
    if not fitting:
        refuse(
            where or "line 1",
            f"There are no names of columns, and {len(first)} fields; JMeter's default has "
            f"{len(DEFAULT)}. Save it with jmeter.save.saveservice.print_field_names=true.",
        )
    return fitting[0]


def read_xml(source: Source, samples: Samples) -> None:
    """Read every sample right below the root into `samples`."""
    reading = _Reading(samples)
    value = 0
    try:
        for piece in source.pieces():
            reading.parser.Parse(piece, False)
            value += len(piece)
            if value - reading.reached > MOST_LINE_BYTES + len(piece):
                refuse(reading.where(), "An element is longer than a million bytes.")
        reading.parser.Parse(b"", True)
    except expat.ExpatError as error:
        refuse(f"line {error.lineno}", f"This is not XML: {expat.ErrorString(error.code)}.")
    except (ValueError, LookupError) as error:
        if isinstance(error, BadFile):
            raise
        refuse(reading.where(), "The encoding of the XML is not known; save it as UTF-8.")


class _Reading:
    def __init__(self, samples: Samples) -> None:
        self.samples, self.depth, self.reached = samples, 0, 0
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = False
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.StartDoctypeDeclHandler = self._doctype

    def where(self) -> str:
        return f"line {self.parser.CurrentLineNumber}"

    def _doctype(self, *_: object) -> NoReturn:
        refuse(self.where(), "The XML has a DOCTYPE, which JMeter does not write; take it out.")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self.reached = self.parser.CurrentByteIndex
        self.depth += 1
        if self.depth == 1 and name != ROOT:
            refuse(self.where(), f"The root is <{name[:80]}>; JMeter's is <{ROOT}>.")
        if self.depth > MOST_DEPTH:
            refuse(self.where(), f"Elements are nested deeper than {MOST_DEPTH}.")
        if name in SAMPLES and self.depth == 2:
            self._sample(attributes)
        elif name in SAMPLES:
            self.samples.nested += 1

    def _end(self, _: str) -> None:
        self.reached = self.parser.CurrentByteIndex
        self.depth -= 1

    def _sample(self, attributes: dict[str, str]) -> None:
        missing = [name for name in ("ts", "t", "lb", "s") if name not in attributes]
        if missing:
            refuse(self.where(), f"The sample has no attribute {', '.join(missing)}.")
        self.samples.add(
            self.where(),
            began=attributes["ts"],
            elapsed=attributes["t"],
            label=attributes["lb"],
            success=attributes["s"],
            size=attributes.get("by", ""),
            threads=attributes.get("na", ""),
        )
