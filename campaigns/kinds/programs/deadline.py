"""The clock of leases within one machine, and a deadline that the kernel enforces.

Standard library only. CLOCK_BOOTTIME is shared by all processes, is never set, and goes on while the
machine sleeps: a lease that ran out meanwhile has run out when it wakes up.
"""

import ctypes
import os
import signal
import time
from typing import ClassVar

TIMER_ABSTIME = 1
SIGEV_SIGNAL = 0


def monotonic() -> float:
    """Return the seconds since the machine was started, sleep included."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class _Sigevent(ctypes.Structure):
    _fields_: ClassVar = [
        ("value", ctypes.c_void_p),
        ("signo", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("rest", ctypes.c_char * 48),
    ]


class Itimerspec(ctypes.Structure):
    """The struct itimerspec of timerfd_settime(2) and timer_settime(2)."""

    _fields_: ClassVar = [
        (name, ctypes.c_long) for name in ("every_s", "every_ns", "at_s", "at_ns")
    ]


class Deadline:
    """A timer by which the kernel sends SIGKILL to this process at an instant, which may be postponed.

    It ends a stopped process, too, which therefore cannot wake up and go on sending. Raise OSError where
    the kernel provides no timer.
    """

    def __init__(self) -> None:
        """Make the timer; it does not run yet."""
        self._libc = _with_timers()
        self._timer = ctypes.c_void_p()
        event = _Sigevent(signo=signal.SIGKILL, notify=SIGEV_SIGNAL)
        self._do(
            "timer_create", time.CLOCK_BOOTTIME, ctypes.byref(event), ctypes.byref(self._timer)
        )

    def at(self, instant: float) -> None:
        """Set the deadline to `instant` of `monotonic`; a past one ends the process at once."""
        seconds, fraction = divmod(max(instant, 0.001), 1)
        when = Itimerspec(at_s=int(seconds), at_ns=int(fraction * 1e9))
        self._do("timer_settime", self._timer, TIMER_ABSTIME, ctypes.byref(when), None)

    def _do(self, name: str, *arguments: object) -> None:
        if getattr(self._libc, name)(*arguments) != 0:
            raise OSError(ctypes.get_errno(), f"{name} failed: {os.strerror(ctypes.get_errno())}")


def _with_timers() -> ctypes.CDLL:
    """Return the C library with the timers, which is librt before glibc 2.34."""
    libc = ctypes.CDLL(None, use_errno=True)
    return libc if hasattr(libc, "timer_create") else ctypes.CDLL("librt.so.1", use_errno=True)
