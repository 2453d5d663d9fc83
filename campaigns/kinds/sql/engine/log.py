"""Fold the raw log of pgbench into counts of HDR histograms, while it is written. No clock, no network.

A line is `client transaction time script epoch µs`, then `lag` where a rate is offered, and `retries` where there may be
some; `time` is a word for a transaction that has no time. All instants are µs since the epoch.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from campaigns.kit import histogram
from campaigns.kit.mappings import JsonObject

Lines = NDArray[np.int64]
SKIPPED, SERIALIZATION, DEADLOCK, FAILED = -1, -2, -3, -4
WORDS = (
    (b" skipped ", SKIPPED),
    (b" serialization ", SERIALIZATION),
    (b" deadlock ", DEADLOCK),
    (b" failed ", FAILED),
)
"""Stand in place of the time of a transaction that was not done."""
CLIENT, TIME, SCRIPT, EPOCH, MICROSECONDS = 0, 2, 3, 4, 5
MILLION = 1_000_000
MOST_SECONDS = 7 * 86_400
"""Beyond the longest run: an instant after it is an error."""


class BadLog(Exception):
    """The log of pgbench is not what is expected of its version."""


class Histogram:
    """The counts of one quantity, with its exact sum and extreme. Values are in µs."""

    def __init__(self) -> None:
        self.counts = histogram.no_counts()
        self.number = self.total = self.most = self.dropped = 0

    def add(self, values: Lines) -> None:
        """Add values."""
        if values.size:
            self.dropped += histogram.add_nanoseconds(self.counts, values * 1000)
            self.number += int(values.size)
            self.total += int(values.sum())
            self.most = max(self.most, int(values.max()))

    def result(self) -> JsonObject:
        """Return the encoded counts, with number, mean and maximum."""
        return {
            "encoded": histogram.encode_counts(self.counts).decode("ascii"),
            "count": self.number,
            "dropped": self.dropped,
            "mean_us": self.total / self.number if self.number else None,
            "max_us": self.most,
        }


class Log:
    """The log of a whole run, of all threads and processes.

    clients: how many there are. scripts: names. begin: when the clients begin, where that is known beforehand; else it
    is taken from the first line. seconds: how long after the warm-up the last transaction may begin; None: any time.
    late_us: answers within it are good.
    """

    def __init__(
        self,
        clients: int,
        scripts: Sequence[str],
        *,
        offered: bool,
        retries: bool,
        warm_up_seconds: float,
        seconds: float | None,
        late_us: int | None = None,
        begin: int | None = None,
    ) -> None:
        self.columns = 6 + offered + retries
        self.offered, self.retries = offered, retries
        self.scripts = scripts
        self.warm_up_us = int(warm_up_seconds * MILLION)
        self.window_us = None if seconds is None else int(seconds * MILLION)
        self.late_us = late_us
        self.begin = begin
        self.begin_is_known = begin is not None
        self.lasted_us: int | None = None
        self.last_end = 0
        self.lines = self.measured = self.good = self.retried = 0
        self.before = self.after = 0
        self.words = dict.fromkeys((SKIPPED, SERIALIZATION, DEADLOCK, FAILED), 0)
        self.all_words = dict(self.words)
        self.response, self.service, self.lag = Histogram(), Histogram(), Histogram()
        self.by_script = [Histogram() for _ in scripts]
        self.of_clients = np.zeros(clients, dtype=np.int64)
        self.per_second = np.zeros(0, dtype=np.int64)

    def take(self, text: bytes, client: int | None = None) -> None:
        """Fold whole lines. client: whose log it is, where each process has one client. Raise BadLog."""
        if not text:
            return
        for word, number in WORDS:
            if word in text:
                text = text.replace(word, b" %d " % number)
        try:
            values = np.fromstring(text, dtype=np.int64, sep=" ")
        except ValueError:
            values = np.empty(0, dtype=np.int64)
        if values.size != text.count(b"\n") * self.columns:
            line = text.partition(b"\n")[0][:100].decode(errors="replace")
            raise BadLog(
                f"a line of the log has not {self.columns} numbers as those of pgbench 15: {line!r}"
            )
        lines: Lines = values.reshape(-1, self.columns)
        self._fold(lines, lines[:, CLIENT] if client is None else None, client)

    def _fold(self, lines: Lines, clients: Lines | None, client: int | None) -> None:
        time = lines[:, TIME]
        ends = lines[:, EPOCH] * MILLION + lines[:, MICROSECONDS]
        begins = ends - np.maximum(time, 0)
        if self.begin is None:
            self.begin = int(begins.min())
        self.lines += len(lines)
        for word in self.all_words:
            self.all_words[word] += int(np.count_nonzero(time == word))
        since = self.begin + self.warm_up_us
        # Threads write into one pipe: the log's first lines need not be those of the first transactions.
        counts = ends >= since if self.warm_up_us or self.begin_is_known else ends > 0
        self.before += int(len(lines) - np.count_nonzero(counts))
        if self.window_us is not None:
            late = begins >= since + self.window_us
            self.after += int(np.count_nonzero(late))
            counts &= ~late
        if not counts.all():
            lines, time, ends = lines[counts], time[counts], ends[counts]
            clients = None if clients is None else clients[counts]
        if not lines.size:
            return
        self.last_end = max(self.last_end, int(ends.max()))
        done = time >= 0
        for word in self.words:
            self.words[word] += int(np.count_nonzero(time == word))
        if not done.all():
            lines, time, ends = lines[done], time[done], ends[done]
            clients = None if clients is None else clients[done]
        self._add(lines, time, ends - since, clients, client)

    def _add(
        self, lines: Lines, time: Lines, since: Lines, clients: Lines | None, client: int | None
    ) -> None:
        """Add the transactions that were done in the window. since: µs from its begin to their ends."""
        self.measured += len(lines)
        self.response.add(time)
        if self.late_us is not None:
            self.good += int(np.count_nonzero(time <= self.late_us))
        if self.offered:
            self.lag.add(lines[:, 6])
            self.service.add(time - lines[:, 6])
        if self.retries:
            self.retried += int(np.count_nonzero(lines[:, -1]))
        if len(self.by_script) > 1:
            for number, each in enumerate(self.by_script):
                each.add(time[lines[:, SCRIPT] == number])
        if clients is None:
            self.of_clients[client] += len(lines)
        else:
            self.of_clients += np.bincount(clients, minlength=len(self.of_clients))
        if not len(lines):
            return
        seconds = np.maximum(since, 0) // MILLION
        if int(seconds.max()) > MOST_SECONDS:
            raise BadLog("an instant of the log lies a week after its begin: the clock was set")
        new = np.bincount(seconds)
        if new.size > self.per_second.size:
            self.per_second = np.concatenate(
                [self.per_second, np.zeros(new.size - self.per_second.size, dtype=np.int64)]
            )
        self.per_second[: new.size] += new

    @property
    def seconds(self) -> float:
        """The seconds that the measured transactions took, from the end of the warm-up to the last end.

        Where the begin is known, at least the window: who ended early was not there all along. In an open loop the window: who is
        answered late has not stretched the time in which others were due. `ends_after` shortens it, and tells in a closed loop that
        nothing more was done in it.
        """
        if self.begin is None or not self.last_end:
            return 0.0
        took, window = self.last_end - self.begin - self.warm_up_us, self.window_us or 0
        if not window:
            return took / MILLION
        lasted = self.lasted_us
        there = min(window, window if lasted is None else lasted - self.warm_up_us)
        if self.offered:
            return max(1, there) / MILLION
        known = self.begin_is_known or lasted is not None
        return (max(took, there) if known else took) / MILLION

    def ends_after(self, seconds: float) -> None:
        """Take note of how long transactions began: pgbench counts its time from before it connects."""
        self.lasted_us = int(seconds * MILLION)

    def result(self) -> JsonObject:
        """Return all counts."""
        named: dict[str, Histogram] = {"response": self.response}
        if self.offered:
            named |= {"lag": self.lag, "service": self.service}
        if len(self.by_script) > 1:
            for name, each in zip(self.scripts, self.by_script, strict=True):
                named[f"response:{name}"] = each
        return {
            "lines": self.lines,
            "measured": self.measured,
            "before": self.before,
            "after": self.after,
            "good": self.good,
            "retried": self.retried,
            "seconds": self.seconds,
            "skipped": self.words[SKIPPED],
            "failures": _failures(self.words),
            "all_skipped": self.all_words[SKIPPED],
            "all_failures": _failures(self.all_words),
            "of_clients": self.of_clients.tolist(),
            "per_second": self.per_second.tolist(),
            "histograms": {name: each.result() for name, each in named.items() if each.number},
        }


def _failures(words: dict[int, int]) -> dict[str, int]:
    names = {SERIALIZATION: "serialization", DEADLOCK: "deadlock", FAILED: "server"}
    return {name: words[word] for word, name in names.items() if words[word]}
