"""The XML form, as a stream. A DOCTYPE is refused: JMeter writes none, and entities are its use."""

from typing import NoReturn
from xml.parsers import expat

from campaigns.kit.errors import BadFile
from campaigns.results.readers.base import MOST_LINE_BYTES, Source, refuse
from campaigns.results.readers.jmeter_jtl.samples import Samples

ROOT = "testResults"
SAMPLES = ("sample", "httpSample")
MOST_DEPTH = 50


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
