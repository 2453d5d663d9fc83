"""Resources that the kernel has left for this process, and ending a process with its parent.

No Django. Needs Linux; what its kernel does not report, as in some containers, is None.
"""

import ctypes
import os
import resource
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_NAME = 15
PR_SET_CHILD_SUBREAPER = 36
SHUT_RDWR = 2
SYS_PIDFD_GETFD = 438
"""The number of the system call on every architecture that had it from the beginning."""
MOST_OPEN_FILES = 65_536
LIBC = ctypes.CDLL(None, use_errno=True)
ROOT = Path("/")


@dataclass(frozen=True, slots=True)
class LocalPorts:
    """Local ports of outgoing connections, and how many are in use."""

    every: int
    in_use: int
    waiting: int
    """Blocked for a minute after the end of a connection (TIME-WAIT)."""

    @property
    def free(self) -> int:
        return self.every - self.in_use - self.waiting


def die_with_parent(parent: int, death_signal: signal.Signals = signal.SIGKILL) -> None:
    """Let the kernel send `death_signal` when the process `parent` ends; send it now if it has ended.

    The kernel watches the parent's *thread* that forked: fork from one that lives long. Raise
    OSError where the kernel refuses.
    """
    if LIBC.prctl(PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
    if os.getppid() != parent:  # it died before prctl
        os.kill(os.getpid(), death_signal)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends. Raise OSError where the kernel refuses."""
    if LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER) failed")


def hide_process() -> None:
    """Let no other process of this user read this one: its environment, memory and descriptors (prctl(2), PR_SET_DUMPABLE).

    Forked children are hidden, too; a program that is executed is not, until it hides itself. Root reads all the same.
    """
    LIBC.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def name_process(name: str) -> None:
    """Set the name of this process in lists such as that of `ps`: 15 characters of it."""
    LIBC.prctl(PR_SET_NAME, name.encode(), 0, 0, 0)


def shut_down_connections(process: int) -> None:
    """Shut down all sockets of a child, as if the other ends had closed them. Raise OSError where the kernel refuses."""
    handle = os.pidfd_open(process)
    try:
        for name in os.listdir(f"/proc/{process}/fd"):
            with suppress(FileNotFoundError):  # closed meanwhile
                if os.readlink(f"/proc/{process}/fd/{name}").startswith("socket:"):
                    _shut_down(handle, int(name))
    finally:
        os.close(handle)


def _shut_down(handle: int, number: int) -> None:
    descriptor = LIBC.syscall(SYS_PIDFD_GETFD, handle, number, 0)
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), "pidfd_getfd failed")
    LIBC.shutdown(descriptor, SHUT_RDWR)  # an error where it is not connected
    os.close(descriptor)


def most_open_files() -> int:
    """Return how many files and sockets a process may open after `raise_open_files`."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_OPEN_FILES)


def raise_open_files() -> None:
    """Raise the soft limit of open files to `most_open_files`; children inherit it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most_open_files()
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def capabilities(status: Path = ROOT / "proc/self/status") -> int:
    """Return the capabilities in effect, as bits by their numbers (capabilities(7))."""
    lines = (line.split() for line in _read(status).splitlines())
    return next((int(line[1], 16) for line in lines if line[:1] == ["CapEff:"]), 0)


def available_memory(root: Path = ROOT) -> int | None:
    """Return the free memory in bytes: the least of the machine and of each control group."""
    return min((*_machine_memory(root), *_group_memory(root)), default=None)


def local_ports(root: Path = ROOT) -> LocalPorts | None:
    """Return the use of local ports."""
    span = _read(root / "proc/sys/net/ipv4/ip_local_port_range").split()
    if len(span) != 2:
        return None
    lines = _read(root / "proc/net/sockstat").splitlines()
    parts = next((line.split() for line in lines if line.startswith("TCP:")), [])
    sockets = dict(zip(parts[1::2], parts[2::2], strict=False))
    return LocalPorts(
        every=int(span[1]) - int(span[0]) + 1,
        in_use=int(sockets.get("inuse", 0)),
        waiting=int(sockets.get("tw", 0)),
    )


def _machine_memory(root: Path) -> Iterator[int]:
    for line in _read(root / "proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            yield int(line.split()[1]) * 1024


def _group_memory(root: Path) -> Iterator[int]:
    """Yield the free memory of each control group of this process (version 2 and 1), up to the root."""
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        top = root / "sys/fs/cgroup" / ("memory" if controllers else "")
        names = ("memory.max", "memory.current", "inactive_file")
        if controllers:
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        group = top / path.lstrip("/")
        for place in (group, *group.parents):
            if not place.is_relative_to(top):
                break
            yield from _left(place, *names)


def _left(group: Path, limit: str, usage: str, cached: str) -> Iterator[int]:
    most, used = _read(group / limit).strip(), _read(group / usage).strip()
    if not (most.isdigit() and used.isdigit()):
        return
    lines = (line.split() for line in _read(group / "memory.stat").splitlines())
    reclaimable = sum(int(parts[1]) for parts in lines if parts[0] == cached)
    yield int(most) - max(0, int(used) - reclaimable)


def _read(path: Path) -> str:
    """Return the content of a file of the kernel; empty where there is none."""
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
