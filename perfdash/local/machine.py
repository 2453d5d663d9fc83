"""What this machine has to offer, looked at before a start: each shortage with what to do about it.

Nothing is refused but what cannot work. The machine of a single run is checked by its worker.
"""

import os
import resource
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from campaigns.kit import kernel

MB = 1_000_000
FEWEST_OPEN_FILES = 4_096
LEAST_OPEN_FILES = 256
FRESH_DISK_MB = 250  # a new database takes about 70 MB, and its log grows to 80 MB and more
LEAST_DISK_MB = 40  # two pieces of the database's log
LITTLE_DISK_MB = 2_000
LEAST_INODES = 2_000
LITTLE_MEMORY_MB = 1_000
FEW_PORTS = 10_000
PORT_SECONDS = 60
WATCH_SECONDS = 5.0


class MachineRefused(Exception):
    """Something that perfdash needs is missing; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Shortage:
    """One thing that this machine has too little of; `fatal` where nothing could work."""

    text: str
    fatal: bool = False


def prepare(places: Iterable[Path], *, fresh: bool) -> list[str]:
    """Raise the limit of open files, and return what is short. Raise MachineRefused.

    `places` are written to while perfdash runs; `fresh` means that a database has yet to be made.
    """
    kernel.raise_open_files()
    results = [*open_files(), *disks(places, fresh=fresh), *memory(), *local_ports()]
    fatal = [shortage.text for shortage in results if shortage.fatal]
    if fatal:
        raise MachineRefused("\n".join(fatal))
    return [shortage.text for shortage in results]


def open_files() -> Iterator[Shortage]:
    """Look at the limit of open files; every connection of a run is one."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= FEWEST_OPEN_FILES:
        return
    remedy = (
        "raise the hard limit (ulimit -Hn 65536 as root, LimitNOFILE= in a systemd unit,"
        " or nofile in /etc/security/limits.conf)"
    )
    if soft < LEAST_OPEN_FILES:
        yield Shortage(f"A process may open only {soft} files, too few to start; {remedy}.", True)
    else:
        yield Shortage(
            f"A process may open only {soft} files: runs with a concurrency near that fail; {remedy}."
        )


def disks(places: Iterable[Path], *, fresh: bool) -> Iterator[Shortage]:
    """Look at each file system that is written to, once: space, inodes, and whether it takes files."""
    least = FRESH_DISK_MB if fresh else LEAST_DISK_MB
    seen: set[int] = set()
    for place in map(nearest, places):
        device = place.stat().st_dev
        if device in seen:
            continue
        seen.add(device)
        if not os.access(place, os.W_OK):
            yield Shortage(
                f"{place} cannot be written to; make it writable, or name another with --data.",
                True,
            )
            continue
        free = shutil.disk_usage(place).free // MB
        if free < least:
            yield Shortage(
                f"Only {free} MB are free in {place}, and perfdash needs {least} MB to start;"
                " make room there, or name a directory elsewhere with --data.",
                True,
            )
        elif free < LITTLE_DISK_MB:
            yield Shortage(
                f"Only {free} MB are free in {place}: the database stops where they run out,"
                " and downloads of runs fail; make room there."
            )
        system = os.statvfs(place)
        if system.f_files and system.f_favail < LEAST_INODES:
            yield Shortage(
                f"Only {system.f_favail} more files can be made in {place} (inodes);"
                " delete files there that nobody needs."
            )


def disk_is_full(places: Iterable[Path]) -> str:
    """Say where a disk is full, so that a service cannot live through no fault of its own; or nothing."""
    for place in map(nearest, places):
        free = shutil.disk_usage(place).free // MB
        if free < LEAST_DISK_MB:
            return (
                f"Only {free} MB are free in {place}: make room there, and it comes back by itself."
            )
    return ""


class DiskWatch:
    """Says once that a disk is full while perfdash runs, and once that it has room again."""

    def __init__(self, places: Iterable[Path], say: Callable[[str], None]) -> None:
        self.places = list(places)
        self.say = say
        self._full = False
        self._next = 0.0

    def hindrance(self) -> str:
        """Say where a disk is full, or nothing."""
        return disk_is_full(self.places)

    def look(self) -> None:
        """Look, but not more often than every WATCH_SECONDS."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + WATCH_SECONDS
        hindrance = self.hindrance()
        if hindrance and not self._full:
            self.say(f"The disk is full. {hindrance} Until then no run begins.")
        elif self._full and not hindrance:
            self.say("There is room on the disk again; everything goes on.")
        self._full = bool(hindrance)


def memory(root: Path = kernel.ROOT) -> Iterator[Shortage]:
    """Look at what is free of memory, of the machine and of the group that limits us."""
    free = kernel.available_memory(root)
    if free is not None and free // MB < LITTLE_MEMORY_MB:
        yield Shortage(
            f"Only {free // MB} MB of memory are available, and perfdash takes about {LITTLE_MEMORY_MB} MB:"
            " the kernel may kill parts of it; end other programs, or raise the container's limit."
        )


def local_ports(root: Path = kernel.ROOT) -> Iterator[Shortage]:
    """Look at the ports from which connections leave: each is blocked for a while after its use."""
    ports = kernel.local_ports(root)
    if ports is None:
        return
    free = ports.every - ports.waiting
    if free < FEW_PORTS:
        yield Shortage(
            f"Only {free} of {ports.every} local ports are free: a run that opens more than"
            f" {max(free, 0) // PORT_SECONDS} connections a second runs out of them; wait a minute where"
            ' other load ran, or widen them: sysctl -w net.ipv4.ip_local_port_range="15000 64999".'
        )


def nearest(place: Path) -> Path:
    """Give the directory itself, or what of its parents is there already."""
    return next(parent for parent in (place, *place.parents) if parent.exists())
