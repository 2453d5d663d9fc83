"""Decode what the samplers print: bounded, as latin-1, with a frame that is cut off or broken left out. Pure."""

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

MOST_OF_FRAME = 1 << 20
MOST_OF_RUN = 64 << 20
AT_ONCE_SECONDS = 0.05
CODING = "latin-1"
HEADER = re.compile(rb"perfdash F (\d{1,9}) (\d{1,12}\.\d{6}) (\d{1,12}\.\d{3}) (\d{1,9}\.\d{4})\n")
BEGINS = b"perfdash F "
LONGEST_HEADER = 100
CGROUP_LINE = re.compile(r"(/sys/fs/cgroup/.*/[a-z._]+):(.*)")
LINE = re.compile(r"(/[^:]+):(.*)")


class TooMuch(Exception):
    """The sampler printed more than a run may bring."""


@dataclass(frozen=True, slots=True)
class Raw:
    """A frame as it came: texts by path. cpu: processor seconds of the sampler so far, where it knows them.

    at_once: clock and uptime were read in one moment, so that they can be held against each other.
    """

    at: float
    uptime: float | None
    received: float
    parts: Mapping[str, str]
    cpu: float | None = None
    at_once: bool = True


class Decoder(Protocol):
    """Turns pieces of a stream into frames."""

    dropped: int
    """Frames that were left out."""

    def feed(self, data: bytes, received: float) -> Iterable[Raw]:
        """Yield the frames that are whole with this piece. Raise TooMuch."""


class PythonDecoder:
    """Of the program `on_target`: frames of zlib with their length."""

    def __init__(self) -> None:
        self.dropped, self.total, self._skip, self._rest = 0, 0, 0, b""

    def feed(self, data: bytes, received: float) -> Iterator[Raw]:
        """Yield the frames that are whole with this piece. Raise TooMuch."""
        self.total += len(data)
        if self.total > MOST_OF_RUN:
            raise TooMuch
        self._rest += data
        while self._rest:
            if self._skip:
                left = self._skip - len(self._rest)
                self._rest, self._skip = self._rest[self._skip :], max(left, 0)
                continue
            begin = self._rest.find(BEGINS)
            if begin < 0:  # what the shell of the login printed
                self._rest = self._rest[-len(BEGINS) :]
                return
            header = HEADER.match(self._rest, begin)
            if header is None:
                if len(self._rest) - begin < LONGEST_HEADER and b"\n" not in self._rest[begin:]:
                    return
                self._rest = self._rest[begin + len(BEGINS) :]
                continue
            length, end = int(header[1]), header.end()
            if length > MOST_OF_FRAME:
                self._rest, self._skip = self._rest[end:], length
                self.dropped += 1
                continue
            if len(self._rest) < end + length:
                return
            packed, self._rest = self._rest[end : end + length], self._rest[end + length :]
            parts = _parts_of(packed)
            if parts is None:
                self.dropped += 1
                continue
            at, uptime, cpu = float(header[2]), float(header[3]), float(header[4])
            yield Raw(at, uptime, received, parts, cpu)


def _parts_of(packed: bytes) -> dict[str, str] | None:
    """Return the texts of a frame; None for a broken or too large one."""
    engine = zlib.decompressobj()
    try:
        data = engine.decompress(packed, MOST_OF_FRAME)
    except zlib.error:
        return None
    if not engine.eof:
        return None
    parts: dict[str, str] = {}
    at = 0
    while at < len(data):
        end = data.find(b"\n", at)
        size, _, path = data[at : max(end, at)].partition(b" ")
        if end < 0 or not size.isdigit() or len(size) > 9 or end + 1 + int(size) > len(data):
            return None
        parts[path.decode(CODING)] = data[end + 1 : end + 1 + int(size)].decode(CODING)
        at = end + 1 + int(size)
    return parts


class ShellDecoder:
    """Of the script for `sh`: lines with their path, between lines with a token."""

    def __init__(self, token: str) -> None:
        self.dropped, self.total = 0, 0
        self._token, self._rest, self._size = token.encode(), b"", 0
        self._at: float | None = None
        self._uptimes: list[float] = []
        self._lines: list[bytes] = []

    def feed(self, data: bytes, received: float) -> Iterator[Raw]:
        """Yield the frames that are whole with this piece. Raise TooMuch."""
        self.total += len(data)
        if self.total > MOST_OF_RUN:
            raise TooMuch
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._rest = self._rest[:MOST_OF_FRAME]
        for line in lines:
            if line.startswith(self._token + b" F "):
                self.dropped += self._at is not None
                clock, *uptimes = line[len(self._token) + 3 :].split(b" ")
                self._at, self._lines, self._size = _seconds(clock), [], 0
                self._uptimes = [each for each in map(_seconds, uptimes) if each is not None]
            elif self._at is None:
                continue
            elif line == self._token + b" E":
                yield self._frame(self._at, received)
                self._at = None
            else:
                self._size += len(line) + 1
                self._lines.append(line)
                if self._size > MOST_OF_FRAME:
                    self._at, self._lines = None, []
                    self.dropped += 1

    def _frame(self, at: float, received: float) -> Raw:
        parts: dict[str, list[str]] = {}
        token, section = self._token.decode() + " S", ""
        for each in self._lines:
            line = each.decode(CODING)
            if line.startswith(token):
                section = line[len(token) :].strip()
            elif section:
                parts.setdefault(section, []).append(line)
            elif match := CGROUP_LINE.fullmatch(line) or LINE.fullmatch(line):
                parts.setdefault(match[1], []).append(match[2])
        texts = {path: "\n".join(lines) for path, lines in parts.items()}
        # Around the clock, for which `date` has to be started: on a busy machine that takes a while.
        uptime = sum(self._uptimes) / 2 if len(self._uptimes) == 2 else None
        at_once = uptime is not None and self._uptimes[1] - self._uptimes[0] <= AT_ONCE_SECONDS
        return Raw(at, uptime, received, texts, at_once=at_once)


def _seconds(text: bytes) -> float | None:
    """Return the seconds of a text; None for something else. A `date` without fractions prints %N as it is."""
    match = re.fullmatch(rb"(\d{1,12}(?:\.\d{1,9})?)(?:\.%?N)?", text)
    return float(match[1]) if match else None
