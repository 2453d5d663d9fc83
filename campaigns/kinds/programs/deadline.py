"""The clock that leases are judged by within one machine, and an end that the kernel enforces.

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
    """Return the seconds since the machine was started, those that it slept included."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class _Sigevent(ctypes.Structure):
    _fields_: ClassVar = [
        ("value", ctypes.c_void_p),
        ("signo", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("rest", ctypes.c_char * 48),
    ]


class _Itimerspec(ctypes.Structure):
    _fields_: ClassVar = [
        (name, ctypes.c_long) for name in ("every_s", "every_ns", "at_s", "at_ns")
    ]


class Deadline:
    """Lets the kernel send SIGKILL to this process at an instant, which may be put off.

    A process that is stopped ends then too: it cannot wake up and go on with what it was about to
    send. Raise OSError where the kernel gives no timer.
    """

    def __init__(self) -> None:
        """Make the timer; it does not run yet."""
        self._libc = _with_timers()
        self._timer = ctypes.c_void_p()
        asked = _Sigevent(signo=signal.SIGKILL, notify=SIGEV_SIGNAL)
        self._do(
            "timer_create", time.CLOCK_BOOTTIME, ctypes.byref(asked), ctypes.byref(self._timer)
        )

    def at(self, instant: float) -> None:
        """Put the end at `instant` of `monotonic`; one that is past ends the process at once."""
        seconds, fraction = divmod(max(instant, 0.001), 1)
        when = _Itimerspec(at_s=int(seconds), at_ns=int(fraction * 1e9))
        self._do("timer_settime", self._timer, TIMER_ABSTIME, ctypes.byref(when), None)

    def _do(self, name: str, *arguments: object) -> None:
        if getattr(self._libc, name)(*arguments) != 0:
            raise OSError(ctypes.get_errno(), f"{name} failed: {os.strerror(ctypes.get_errno())}")


def _with_timers() -> ctypes.CDLL:
    """Return the C library that has the timers; before glibc 2.34 they stood in a second one."""
    libc = ctypes.CDLL(None, use_errno=True)
    return libc if hasattr(libc, "timer_create") else ctypes.CDLL("librt.so.1", use_errno=True)
