"""Read JMeter's result files: CSV with or without a header, and XML; one run for each label."""

import re
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
from campaigns.results.readers.base.samples import PAUSES, LeftOut, Samples
from campaigns.results.readers.base.streams import stream_metrics
from campaigns.results.readers.base.tables import Table, lenient_rows
from campaigns.results.readers.base.texts import EARLIEST, LATEST, clean, instant_of, number_of

DELIMITERS = ",;\t|"
STAMP = rb"(?:\d{13}|\d{4}([/.-])\d\d\1\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,6})?)"  # ms, or a date
HEADLESS = re.compile(
    rb'"?' + STAMP + rb'"?([,;\t|])"?-?\d{1,9}"?\2[^\n]*\2"?(?:true|false)"?\2', re.ASCII
)
DATE = re.compile(r"(\d{4})([/.-])(\d\d)\2(\d\d)[ T](\d\d:\d\d:\d\d)(?:[.,](\d{1,6}))?", re.ASCII)
XML = re.compile(rb"^[ \t]{0,9}<(?:\?xml|testResults)", re.MULTILINE)
AS_MS = "Save it with jmeter.save.saveservice.timestamp_format=ms."
SHORTEST_PAUSE = 1.0
MOST_NAMES = 10_000
LINES_BEFORE = 20
"""Of a runner, before the first sample."""


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
        if XML.search(head):
            return b"<testResults" in head
        return any(map(_begins, head.split(b"\n", LINES_BEFORE)[:LINES_BEFORE]))

    def read(self, source: Source, options: Options) -> Read:
        """Read every sample, and group them by run and label."""
        builder = Builder(self.name, self.label, work=("label",))
        builder.declare(*stream_metrics())
        results = Results()
        if XML.search(source.head):
            read_xml(source, results)
        else:
            read_table(source, results)
        results.left.told(source, len(results.samples))
        if results.unsized:
            where, size = results.unsized
            source.note(
                f"The transfer rate is left out. {where}: bytes “{size[:40]}” is no number from 0."
            )
        several = len(results.labels) > 1
        for streams, threads in results.samples.runs(source):
            levels: dict[str, Scalar] = {"threads": threads} if threads else {}
            for number, stream in streams.items():
                if results.unsized:
                    stream.bytes = 0.0
                label = {"label": results.labels[number]} if several else {}
                stream.into(builder, {**levels, **label})
        builder.guess(
            "threads",
            "The file does not say how many threads were asked for: these are the most at once in each run.",
        )
        if results.threads:
            builder.note("threads, most", results.threads)
        if results.nested:
            builder.drop(f"{results.nested:,} samples inside others are left out: they are parts.")
        if results.dated:
            builder.drop("The time stamps do not give their zone; they are taken as UTC.")
        builder.drop("Latency is JMeter's elapsed time; time to the first byte is left out.")
        return builder.build(
            name="JMeter",
            question="How fast does the server answer each request?",
            primary=["latency_p95", "latency_mean"],
            tags=("jmeter",),
        )


reader = JmeterJtl()


class Results:
    """Samples by run and label. nested: those that were left out; dated: whether instants are dates without a zone.

    unsized: where a number of bytes is damaged, and what is there.
    """

    def __init__(self) -> None:
        self.samples = Samples()
        self.left = LeftOut()
        self.labels: list[str] = []
        self._cells: dict[str, int] = {}
        self._by_label: dict[str, int] = {}
        self.nested = 0
        self.dated = False
        self.unsized: tuple[str, str] | None = None
        self._threads = _Threads(self.samples)

    @property
    def threads(self) -> int:
        """The most threads at once."""
        return self._threads.most

    def add(
        self,
        line: int,
        *,
        began: str,
        elapsed: str,
        label: str,
        success: str,
        size: str,
        threads: str,
        thread: str,
    ) -> None:
        """Add a sample as the file has it: an instant, milliseconds, and bytes. One that is damaged is left out."""
        where = f"line {line}"
        start, took = self._instant(began), _number(elapsed)
        good = TRUTH.get(success) if success in TRUTH else TRUTH.get(success.strip().lower())
        if start is None or not EARLIEST <= start < LATEST:
            self.left.add(where, f"The timeStamp {began[:40]} is no instant of a test. {AS_MS}")
        elif took is None or not 0 <= took <= LONGEST_MS:
            self.left.add(where, f"elapsed: “{elapsed[:40]}” is no number from 0.")
        elif good is None:
            self.left.add(where, f"success is “{success[:40]}”; it must be true or false.")
        else:
            received = _number(size) if size.strip() else 0.0
            if received is None or received < 0:
                self.unsized = self.unsized or (where, size)
                received = 0.0
            load = self._threads.watch(line, start, took / 1000, threads, thread)
            self.samples.add(
                line,
                self._cell(label, where),
                start,
                took / 1000,
                not good,
                min(received, 1e15),
                load,
            )

    def is_single(self, line: int, count: str) -> bool:
        """Leave out a line that stands for several samples, or none, and return whether it is of one."""
        if count.strip() in ("", "1"):
            return True
        text = f"It stands for {count[:20]} samples; let JMeter send each sample (mode=Standard)."
        self.left.add(f"line {line}", text)
        return False

    def _instant(self, text: str) -> float | None:
        if len(text) == 13 and text.isascii() and text.isdigit():
            return int(text) / 1000
        if (match := DATE.fullmatch(text.strip())) is None:
            number = number_of(text)
            return number / 1000 if number is not None else None
        year, _, month, day, time, fraction = match.groups()
        instant = instant_of(f"{year}-{month}-{day}T{time}" + (f".{fraction}" if fraction else ""))
        self.dated = True
        if not fraction:
            self.samples.step = 1.0
        return instant.timestamp() if instant else None

    def _cell(self, label: str, where: str) -> int:
        """Return the number of a label; labels that are equal after cleaning share one."""
        cell = self._by_label.get(label)
        if cell is None:
            if len(self._by_label) >= MOST_CELLS:
                refuse(where, f"More than {MOST_CELLS} labels; give samples of one kind one label.")
            cell = self._cells.setdefault(clean(label, 500), len(self._cells))
            if cell == len(self.labels):
                self.labels.append(clean(label, 500))
            self._by_label[label] = cell
        return cell


def _number(text: str) -> float | None:
    return float(text) if text.isdigit() and text.isascii() and len(text) < 16 else number_of(text)


class _Threads:
    """Finds where threads start again: they had become fewer, there was a pause, and threads of the same names become more."""

    def __init__(self, samples: Samples) -> None:
        self._samples = samples
        self.most = 0
        self._forget()

    def _forget(self) -> None:
        self._names: set[str] = set()
        self._peak, self._last, self._count = 0, 0, 0
        self._began, self._latest = float("inf"), float("-inf")
        self._maybe: tuple[int, int, int] | None = None

    def watch(self, line: int, began: float, seconds: float, active: str, name: str) -> int:
        """Take a sample, before it is added, and return its threads. active: threads at that time."""
        if not (active.isascii() and active.isdigit()):
            return 0
        threads = int(active[:9])
        self.most = max(self.most, threads)
        if self._maybe and threads > self._maybe[2]:
            index, at, _ = self._maybe
            self._samples.begin(f"the threads start again in line {at}", index)
            self._forget()
        typical = (self._latest - self._began) / self._count if self._count else 0.0
        paused = began - self._latest > max(SHORTEST_PAUSE, PAUSES * typical)
        if self._count and paused and self._last < self._peak and name in self._names:
            self._maybe = len(self._samples), line, self._last
        if len(self._names) < MOST_NAMES:
            self._names.add(name)
        self._count += 1
        self._peak, self._last = max(self._peak, threads), threads
        self._began, self._latest = min(self._began, began), max(self._latest, began + seconds)
        return threads


def read_table(source: Source, results: Results) -> None:
    """Read every line into `results`."""
    columns: _Columns | None = None
    first: tuple[int, list[str]] | None = None
    for line, fields in lenient_rows(source, results.left, _delimiter(source.head)):
        if _is_header(fields):
            if columns:
                results.samples.begin(f"line {line} is a second header")
            columns = _Columns(Table(fields))
            continue
        if columns is None and (default := _default(fields)):
            columns = _Columns(Table(default))
        if columns is None or len(fields) == 1:
            source.unknown(line)
            first = first or (line, fields)
            continue
        if first and fields == first[1]:
            results.samples.begin(f"line {line} repeats line {first[0]}")
        first = first or (line, fields)
        columns.take(line, fields, results)
    if columns is None:
        line, fields = first or (1, [])
        refuse(
            f"line {line}",
            f"There are no names of columns, and {len(fields)} fields; JMeter's default has {len(DEFAULT)}. "
            "Save it with jmeter.save.saveservice.print_field_names=true.",
        )


class _Columns:
    """The places of the columns that are read."""

    def __init__(self, table: Table) -> None:
        table.need(NEEDED, "switch jmeter.save.saveservice on for it.")
        self._count = len(table.names)
        self._places = [table.names.index(name) for name in NEEDED]
        self._more = [table.place(name) for name in ("bytes", "allThreads", "threadName")]
        self._standing = table.place("SampleCount")

    def take(self, line: int, fields: list[str], results: Results) -> None:
        if len(fields) != self._count:
            text = f"{len(fields)} fields; there are {self._count} columns. Is the file whole?"
            results.left.add(f"line {line}", text)
            return
        if self._standing is not None and not results.is_single(line, fields[self._standing]):
            return
        began, elapsed, label, success = (fields[each] for each in self._places)
        size, threads, thread = ("" if each is None else fields[each] for each in self._more)
        results.add(
            line,
            began=began,
            elapsed=elapsed,
            label=label,
            success=success,
            size=size,
            threads=threads,
            thread=thread,
        )


def _is_header(fields: list[str]) -> bool:
    if fields[0][:1].isdigit():
        return False  # most lines of a large file
    return {"timeStamp", "elapsed"} <= {name.strip() for name in fields}


def _delimiter(head: bytes) -> str:
    lines = head.split(b"\n")
    line = next((line for line in lines if _begins(line)), lines[0])
    return max(DELIMITERS, key=lambda each: line.count(each.encode()))


def _begins(line: bytes) -> bool:
    """Return whether a line is a header, or a sample."""
    named = b"timeStamp" in line and b"elapsed" in line
    return named or HEADLESS.match(line[:10_000]) is not None


def _default(fields: list[str]) -> list[str] | None:
    """Return the names of JMeter's default, if these fields are of it."""
    if len(fields) < len(WITHOUT_URL) or fields[7].strip().lower() not in TRUTH:
        return None
    return next((names for names in (DEFAULT, WITHOUT_URL) if len(fields) == len(names)), None)


def read_xml(source: Source, results: Results) -> None:
    """Read every sample right below a root into `results`; files one after the other are runs."""
    begin = XML.search(source.head)
    before = source.head[: begin.start()] if begin else b""
    for number, line in enumerate(before.split(b"\n")[:-1], 1):
        if line.strip():
            source.unknown(number)
    reading = _Reading(results, source, before.count(b"\n"))
    skipped = len(before)
    for piece in source.pieces():
        reading.take(piece[skipped:])
        skipped = max(0, skipped - len(piece))
    reading.end()


class _Reading:
    """Parses one document after the other; `_lines` are those before."""

    def __init__(self, results: Results, source: Source, lines: int) -> None:
        self.results, self.depth, self.reached = results, 0, 0
        self._source, self._lines, self._given = source, lines, 0
        self._parser = self._new()

    def _new(self) -> expat.XMLParserType:
        parser = expat.ParserCreate("UTF-8")
        parser.buffer_text = False
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.StartDoctypeDeclHandler = self._doctype
        return parser

    def take(self, piece: bytes) -> None:
        """Parse a piece of the file."""
        try:
            self._parser.Parse(piece, False)
            self._given += len(piece)
            if self._given - self.reached > MOST_LINE_BYTES + len(piece):
                refuse(self.where(), "An element is longer than a million bytes.")
        except expat.ExpatError as error:
            at = self._parser.ErrorByteIndex - self._given
            if self.depth or not self._parser.ErrorByteIndex or not 0 <= at < len(piece):
                self._refuse(error)
            self._again(piece[at:])
        except (ValueError, LookupError) as error:
            if isinstance(error, BadFile):
                raise
            refuse(self.where(), "The encoding of the XML is not known; save it as UTF-8.")

    def _again(self, rest: bytes) -> None:
        """Begin another document."""
        line = self.line()
        if not rest.startswith((b"<?xml", b"<" + ROOT.encode())):
            refuse(f"line {line}", "This is not XML: text after the end of the document.")
        self.results.samples.begin(f"line {line} begins another document")
        self._lines, self._given, self.reached = line - 1, 0, 0
        self._parser = self._new()
        self.take(rest)

    def end(self) -> None:
        """Note if the last document has no end."""
        try:
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            if not len(self.results.samples):
                self._refuse(error)
            self._source.note(
                f"The file ends in line {self.line()} without </{ROOT}>: JMeter was stopped, or the file was cut."
            )

    def _refuse(self, error: expat.ExpatError) -> NoReturn:
        line = error.lineno + self._lines
        refuse(f"line {line}", f"This is not XML: {expat.ErrorString(error.code)}.")

    def line(self) -> int:
        return self._parser.CurrentLineNumber + self._lines

    def where(self) -> str:
        return f"line {self.line()}"

    def _doctype(self, *_: object) -> NoReturn:
        refuse(self.where(), "The XML has a DOCTYPE, which JMeter does not write; take it out.")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self.reached = self._parser.CurrentByteIndex
        self.depth += 1
        if self.depth == 1 and name != ROOT:
            refuse(self.where(), f"The root is <{name[:80]}>; JMeter's is <{ROOT}>.")
        if self.depth > MOST_DEPTH:
            refuse(self.where(), f"Elements are nested deeper than {MOST_DEPTH}.")
        if name in SAMPLES and self.depth == 2:
            self._sample(attributes)
        elif name in SAMPLES:
            self.results.nested += 1

    def _end(self, _: str) -> None:
        self.reached = self._parser.CurrentByteIndex
        self.depth -= 1

    def _text(self, text: str) -> None:
        if self.depth == 1 and text.strip():
            self._source.unknown(self.line())

    def _sample(self, attributes: dict[str, str]) -> None:
        missing = [name for name in ("ts", "t", "lb", "s") if name not in attributes]
        if missing:
            text = f"The sample has no attribute {', '.join(missing)}."
            self.results.left.add(self.where(), text)
            return
        if not self.results.is_single(self.line(), attributes.get("sc", "")):
            return
        self.results.add(
            self.line(),
            began=attributes["ts"],
            elapsed=attributes["t"],
            label=attributes["lb"],
            success=attributes["s"],
            size=attributes.get("by", ""),
            threads=attributes.get("na", ""),
            thread=attributes.get("tn", ""),
        )
