"""Single requests in the order of a file: the runs that follow one another in it, and the lines that are left out."""

from array import array
from collections.abc import Iterator
from statistics import median

from campaigns.results.readers.base.problems import refuse
from campaigns.results.readers.base.source import Source
from campaigns.results.readers.base.streams import Stream
from campaigns.results.readers.base.texts import clean

PAUSE_SECONDS = 30.0
PAUSES = 10
"""A test is over where nothing happens for PAUSE_SECONDS, and PAUSES times as long as typically."""
BACK_SECONDS = 60.0
"""Several generators of one test write in turn, each a minute late at most: time may go back by that."""
MOST_DIFFERENCES = 10_000
MORE_LOAD = 1.25
"""Runs of which one had so many times the load of another one are not of one setting."""
LATEST = 100
"""Samples among which the one is that a later line is about."""
PLACES = 3
COUNTS = {2: "Two", 3: "Three", 4: "Four", 5: "Five", 6: "Six"}
UNKNOWN, GOOD, FAILED = -1, 0, 1


class LeftOut:
    """Lines or samples that are left out for what is in them: how many, and why the first one is."""

    def __init__(self) -> None:
        self.count = 0
        self.first: tuple[str, str] = ("", "")

    def add(self, where: str, reason: str) -> None:
        """Leave out what is at `where`."""
        self.count += 1
        if self.count == 1:
            self.first = where, reason

    def told(self, source: Source, kept: int) -> None:
        """Note what was left out. Raise BadFile if nothing was kept."""
        where, reason = self.first
        if self.count and not kept:
            refuse(where, reason)
        if self.count == 1:
            source.note(clean(f"{where[:1].upper()}{where[1:]} is left out. {reason}", 300))
        elif self.count:
            text = f"{self.count:,} lines are left out, the first is {where}. {reason}"
            source.note(clean(text, 300))


class Samples:
    """The requests of a file, each of a cell (a number). Times in seconds; instants in seconds since 1970."""

    def __init__(self) -> None:
        self.step = 0.0
        """To which the tool rounds instants, in seconds."""
        self._began, self._seconds, self._sizes = array("d"), array("d"), array("d")
        self._cells, self._lines, self._loads = array("l"), array("l"), array("l")
        self._states = array("b")
        self._begins: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self._began)

    def add(
        self,
        line: int,
        cell: int,
        began: float,
        seconds: float,
        failed: bool | None,
        size: float = 0.0,
        load: int = 0,
    ) -> None:
        """Add one request. failed: None if the file does not say. size: bytes received. load: users at that time, or 0."""
        self._began.append(began)
        self._seconds.append(seconds)
        self._sizes.append(size)
        self._cells.append(cell)
        self._lines.append(line)
        self._loads.append(load)
        self._states.append(UNKNOWN if failed is None else int(failed))

    def mark_last(self, cell: int, failed: bool) -> None:
        """Say whether the last request of a cell failed, if it is among the last few and is not known yet."""
        for index in range(len(self) - 1, max(-1, len(self) - LATEST), -1):
            if self._cells[index] == cell and self._states[index] == UNKNOWN:
                self._states[index] = int(failed)
                return

    def begin(self, reason: str, index: int | None = None) -> None:
        """Begin a run with the next sample, or with that of an index.

        reason: “line 12 is a second header”; empty if the file itself calls it another run.
        """
        self._begins.setdefault(len(self) if index is None else index, reason)

    def runs(self, source: Source) -> list[tuple[dict[int, Stream], int]]:
        """Return the streams of each run by cell, and its load if that is not the same in all runs, else 0.

        Note where runs begin. Raise BadFile if that is not certain.
        """
        self._find_begins()
        indexes = sorted(index for index in self._begins if 0 < index < len(self))
        bounds = list(zip([0, *indexes], [*indexes, len(self)], strict=True))
        loads = [max(self._loads[first:end], default=0) for first, end in bounds]
        differ = 0 < MORE_LOAD * min(loads) <= max(loads)
        reasons = [reason for index in indexes if (reason := self._begins[index])]
        if reasons:
            more = f"; and {len(reasons) - PLACES:,} more" if len(reasons) > PLACES else ""
            setting = " of one setting" if len(reasons) == len(indexes) and not differ else ""
            text = f"{COUNTS.get(len(bounds), f'{len(bounds):,}')} runs{setting}: "
            source.note(clean(f"{text}{'; '.join(reasons[:PLACES])}{more}.", 500))
        return [
            (self._streams(first, end), load if differ else 0)
            for (first, end), load in zip(bounds, loads, strict=True)
        ]

    def _streams(self, first: int, end: int) -> dict[int, Stream]:
        streams: dict[int, Stream] = {}
        for index in range(first, end):
            stream = streams.get(self._cells[index])
            if stream is None:
                stream = streams[self._cells[index]] = Stream(self.step)
            state = self._states[index]
            stream.add(
                self._began[index],
                self._seconds[index],
                None if state == UNKNOWN else state == FAILED,
                self._sizes[index],
            )
        return streams

    def _find_begins(self) -> None:
        """Find pauses, and places where the time goes back."""
        longest = max(PAUSE_SECONDS, PAUSES * self._typical())
        latest, spans = float("-inf"), [[float("inf"), float("-inf")]]
        backward: list[tuple[int, float]] = []
        for index in range(len(self)):
            began, ended = self._began[index], self._began[index] + self._seconds[index]
            if index in self._begins:
                latest = float("-inf")
            elif began - latest > longest and index:
                pause = began - latest
                self._begins[index] = (
                    f"nothing was asked for {pause:,.0f} s before line {self._lines[index]}"
                )
                latest = ended
            elif latest - ended > BACK_SECONDS:
                backward.append((index, latest - ended))
                self._begins[index] = (
                    f"the time goes back by {latest - ended:,.0f} s in line {self._lines[index]}"
                )
                spans.append([float("inf"), float("-inf")])
                latest = ended
            latest = max(latest, ended)
            spans[-1][0], spans[-1][1] = min(spans[-1][0], began), max(spans[-1][1], ended)
        self._check_order(spans, backward)

    def _check_order(self, spans: list[list[float]], backward: list[tuple[int, float]]) -> None:
        """Raise BadFile if what is on both sides of a place where the time goes back is of one time."""
        for number, (index, seconds) in enumerate(backward, 1):
            ours = spans[number]
            if any(ours[0] < end and begin < ours[1] for begin, end in spans[:number]):
                refuse(
                    f"line {self._lines[index]}",
                    f"The time goes back by {seconds:,.0f} s, into that of samples above. If these are two "
                    "tests, import each file by itself; if they are one, sort the lines by time.",
                )

    def _typical(self) -> float:
        """Return the median of the seconds between two samples."""
        if len(self) < 2:
            return 0.0
        stride = max(1, len(self) // MOST_DIFFERENCES)
        return median(self._differences(stride))

    def _differences(self, stride: int) -> Iterator[float]:
        for index in range(1, len(self), stride):
            yield abs(self._ended(index) - self._ended(index - 1))

    def _ended(self, index: int) -> float:
        return self._began[index] + self._seconds[index]
