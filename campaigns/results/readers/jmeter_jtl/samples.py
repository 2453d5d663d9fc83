"""Samples of JMeter, by label."""

from campaigns.results.readers.base import refuse
from campaigns.results.readers.base.building import MOST_CELLS
from campaigns.results.readers.base.streams import Stream
from campaigns.results.readers.base.texts import EARLIEST, LATEST, clean, number_of

TRUTH = {"true": True, "false": False}
LONGEST_MS = 1e12


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
        """Add a sample as it is written: milliseconds since 1970, milliseconds, and bytes."""
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
        """The stream of a label; two that look alike, once cleaned, are one."""
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
