"""A limit of the processor time of one request, so that nobody's text or plan holds up the pages of others.

It counts this thread's own time: work that waits, or that a busy machine delays, does not use it up.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from time import thread_time
from typing import TypeVar

Item = TypeVar("Item")
MOST_SECONDS = 20.0
"""Far above what is usual: checking 500 cells with a scenario of 256 kB takes some 3 s."""


class TooLong(ValueError):
    """The work took more processor time than it may; the message says what to do."""


@dataclass(slots=True)
class ProcessorTime:
    """The processor time of this thread from now on. Ask between steps that are bounded themselves.

    what, advice: of the message: what takes the time, and how it would take less.
    """

    what: str
    advice: str
    seconds: float = MOST_SECONDS
    began: float = field(default_factory=lambda: thread_time())

    def check(self) -> None:
        """Raise TooLong once the time is used up."""
        if thread_time() - self.began > self.seconds:
            raise TooLong(
                f"{self.what} took more than {self.seconds:g} s of processor time, and was ended. {self.advice}"
            )

    def each(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield items as long as there is time. Raise TooLong."""
        for item in items:
            self.check()
            yield item
