"""End the load of a run as soon as its outcome is certain. The one place with these rules; drivers wrap their load in `cut_short`.

too much failed         more units have failed than may fail of all that are planned; where their number is unknown, so many that
the share that fails is above the limit for certain
two failed checks       the target says twice in a row that it is not healthy, or twice gives no answer to the question while nothing
else is answered either: an overloaded server lets its health check wait, too, and goes on
"""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, replace
from math import sqrt
from queue import Empty, Queue
from typing import Any

from campaigns.kinds.base.errors import Cancelled, DriverError
from campaigns.kinds.base.values import Context, Health, Measured
from campaigns.kit.mappings import ProgramProgress

LEAST_UNITS = 50
"""Units that have ended from which on a share is judged, where the number of planned ones is unknown."""
Z_ONE_IN_A_THOUSAND = 3.0902
"""The quantile .999 of the normal distribution."""
CHECK_SECONDS, ANSWER_SECONDS = 15.0, 20.0
"""Seconds between two health checks, and those after which one is without an answer."""
ROUNDING = 1e-9
CUT_SHORT = "Cut short"
"""How the reason of such a run begins."""

Count = Callable[[ProgramProgress], tuple[int, int]]
"""Returns from a progress report how many units were done, and how many failed."""

log = logging.getLogger(__name__)


def wilson_low(failed: int, ended: int, z: float = Z_ONE_IN_A_THOUSAND) -> float:
    """Return the lower end of Wilson's interval of a share."""
    share, square = failed / ended, z * z
    spread = z * sqrt(share * (1 - share) / ended + square / (4 * ended * ended))
    return max(0.0, (share + square / (2 * ended) - spread) / (1 + square / ended))


def is_certain(failed: int, ended: int, planned: int | None, most: float) -> bool:
    """Return whether more fails than may, however the rest ends. planned: None: their number is unknown."""
    if planned is not None:
        return failed > most * planned + ROUNDING
    return ended >= LEAST_UNITS and wilson_low(failed, ended) > most


@dataclass(eq=False)
class CutShort(Exception):
    """The load was ended early. planned: None: unknown. unhealthy: what two health checks said; empty where too much failed."""

    done: int
    failed: int
    planned: int | None
    unhealthy: str = ""

    def measured(self, units: str) -> Measured:
        """Return the result of the run: counts, and no values. units: their plural, such as hosts.

        Units that had not ended count as done where too much had failed: nobody knows how they would have ended. Where the target
        was not healthy any more they count as failed.
        """
        ended = self.done + self.failed
        whole = ended if self.planned is None else self.planned
        failed = whole - self.done if self.unhealthy else self.failed
        return Measured(
            values={},
            health=Health("healthy", (), {}),
            units_done=whole - failed,
            units_failed=failed,
            failures={"cut short": failed},
            failure=f"{CUT_SHORT}: {self._why(units)}.",
            pauses="the target failed two health checks in a row" if self.unhealthy else "",
        )

    def _why(self, units: str) -> str:
        if self.unhealthy:
            whole = "" if self.planned is None else f" of {self.planned}"
            return (
                f"the target failed two health checks in a row after {self.done}{whole} {units}, the last one: "
                f"{self.unhealthy.rstrip('.')}"
            )
        if self.planned is None:
            return (
                f"{self.failed} of {self.done + self.failed} {units} had failed, so for certain (99.9 %) more fail "
                "than may"
            )
        return f"{self.failed} of {self.planned} {units} had failed, more than may fail in the whole run"


class _Watch(threading.Event):
    """A flag that is set where the run is cancelled, and where its outcome is certain."""

    def __init__(self, context: Context, planned: int | None, count: Count, most: float) -> None:
        super().__init__()
        self.context, self.planned, self.count, self.most = context, planned, count, most
        self.done = self.failed = 0
        self.answers = 0.0
        self.certain = False
        self.unhealthy = ""
        self.over = threading.Event()

    def is_set(self) -> bool:
        """Return whether the load has to end."""
        return super().is_set() or self.context.cancelled.is_set()

    def look(self, values: ProgramProgress) -> None:
        """Take note of a progress report, and pass it on."""
        if not super().is_set():
            self.done, self.failed = self.count(values)
            self.answers = _sum(values)
            if is_certain(self.failed, self.done + self.failed, self.planned, self.most):
                self.certain = True
                self.set()
        self.context.progress(values)

    def check_health(self, ask: Callable[[], str]) -> None:
        """Ask for the health of the target until the load is over; end it after two bad answers in a row."""
        bad, before = 0, self.answers
        while not self.over.wait(CHECK_SECONDS):
            begun = self.answers
            reason, silent = _asked(ask)
            if self.over.is_set():
                return
            if not reason or (silent and self.answers > begun):
                bad = 0
                continue
            bad = 1 if bad and silent and self.answers > before else bad + 1
            before = begun
            if bad == 2:
                self.unhealthy = reason
                self.set()
                return


@contextmanager
def cut_short(context: Context, planned: int | None, count: Count) -> Iterator[Context]:
    """Give a context whose load ends as soon as the outcome is certain. Raise CutShort then.

    planned: the number of units; None where it is unknown. The given context has to be used for the load, with its `cancelled` and
    `progress`. Nothing is watched where the campaign sets no `most_failed`.
    """
    if context.most_failed is None:
        yield context
        return
    watch = _Watch(context, planned, count, context.most_failed)
    if context.ask_health is not None:
        run = copy_context().run
        threading.Thread(
            target=run, args=(watch.check_health, context.ask_health), name="health", daemon=True
        ).start()
    try:
        yield replace(context, cancelled=watch, progress=watch.look)
    except Cancelled:
        if context.cancelled.is_set() or not (watch.certain or watch.unhealthy):
            raise
        raise CutShort(watch.done, watch.failed, planned, watch.unhealthy) from None
    finally:
        watch.over.set()


def _asked(ask: Callable[[], str]) -> tuple[str, bool]:
    """Return why the target is not healthy, and whether it gave no answer at all. A question is left to its own time limit."""
    answers = Queue[tuple[str, bool]](1)

    def answer() -> None:
        try:
            answers.put((ask(), False))
        except DriverError as error:
            answers.put((str(error), True))
        except Exception:
            log.exception("The health of the target cannot be asked for.")
            answers.put(("", False))

    threading.Thread(target=copy_context().run, args=(answer,), name="asks", daemon=True).start()
    try:
        return answers.get(timeout=ANSWER_SECONDS)
    except Empty:
        return f"it gave no answer within {ANSWER_SECONDS:g} s", True


def _sum(values: Mapping[str, Any]) -> float:
    """Return a number that grows whenever the target answers anything: all counts, without times."""
    total = 0.0
    for name, value in values.items():
        if name.endswith("seconds") or isinstance(value, bool):
            continue
        if isinstance(value, int | float):
            total += value
        elif isinstance(value, list):
            total += sum(each for each in value if isinstance(each, int | float))
    return total
