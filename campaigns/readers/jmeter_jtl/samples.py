"""Samples of JMeter, by label."""

from campaigns.readers.base import refuse
from campaigns.readers.base.building import MOST_CELLS
from campaigns.readers.base.streams import Stream
from campaigns.readers.base.texts import clean, instant_at, number_of

TRUTH = {"true": True, "false": False}


class Samples:
    """Streams by label, in the order of the file. nested: samples that were left out."""

    def __init__(self) -> None:
        self.streams: dict[str, Stream] = {}
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
        if instant_at(start / 1000) is None or took > 1e12:
            refuse(
                where, f"The timeStamp {began[:40]} or elapsed {elapsed[:40]} is none of a test."
            )
        if success.strip().lower() not in TRUTH:
            refuse(where, f"success is “{success[:40]}”; it must be true or false.")
        name = clean(label, 500)
        if name not in self.streams and len(self.streams) >= MOST_CELLS:
            refuse(where, f"More than {MOST_CELLS} labels; give samples of one kind one label.")
        failed = not TRUTH[success.strip().lower()]
        received = (number_of(size) or 0.0) if size else 0.0
        self.streams.setdefault(name, Stream()).add(
            start / 1000, took / 1000, failed, max(0.0, min(received, 1e15))
        )
        if threads.isascii() and threads.isdigit():
            self.threads = max(self.threads, int(threads[:9]))


def _number(text: str, name: str, where: str) -> float:
    number = number_of(text)
    if number is None or number < 0:
        refuse(where, f"{name}: “{text[:40]}” is no number from 0.")
    return number
