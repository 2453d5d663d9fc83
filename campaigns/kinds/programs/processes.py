"""Read from /proc what the processes of an engine have used: this one, and its children.

Standard library only. A process that ended counts until it is waited for.
"""

import os
import resource
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

CPUCLOCK_SCHED = 2


def cpu_seconds(children: Sequence[int] = ()) -> float:
    """Return the CPU time of this process and of `children` (numbers of processes), all threads."""
    return time.process_time() + sum(map(cpu_seconds_of, children))


def most_descriptors(children: Sequence[int] = ()) -> int:
    """Return the most descriptors that one of them has open, without the one for counting."""
    most = 0
    for process in ("self", *map(str, children)):
        try:
            most = max(most, len(os.listdir(f"/proc/{process}/fd")) - (process == "self"))
        except (FileNotFoundError, PermissionError, ProcessLookupError):
            continue  # it has ended
        except OSError:
            return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return most


def peak_memory_bytes(children: Sequence[int] = ()) -> int:
    """Return the sum of their peaks of resident memory; shared memory counts in each.

    Not `ru_maxrss`, which begins with the peak of the parent process.
    """
    own = _peak_of("self") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return own + sum(_peak_of(str(child)) for child in children)


def cpu_seconds_of(process: int) -> float:
    """Read a process's CPU clock (clock_getcpuclockid(3)); 0 where it has ended."""
    with suppress(OSError):
        return time.clock_gettime((~process << 3) | CPUCLOCK_SCHED)
    return 0.0


def _peak_of(process: str) -> int:
    with suppress(OSError):  # no descriptor may be left to open it
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0
