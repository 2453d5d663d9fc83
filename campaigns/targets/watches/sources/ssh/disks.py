"""Disks and file systems: which devices count, what is mounted on them, how full they are. Pure."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from campaigns.targets.watches.sources.ssh.proc import (
    disk_names,
    mounted,
    number,
    numbers,
    printable,
)

MOST_MOUNTS = 40
IMAGES = re.compile(r"/(snap|var/lib/snapd|boot/efi)(/|$)")


@dataclass(frozen=True, slots=True)
class FileSystem:
    """A file system on a disk. free: its share that users may still write. failed: read-only though mounted to be written."""

    mount: str
    free: float
    read_only: bool
    failed: bool


def file_systems(parts: Mapping[str, str]) -> dict[str, FileSystem]:
    """Return the file systems by mount point, each once: the shortest mount point of a device."""
    found: dict[str, FileSystem] = {}
    for room in sorted(_rooms(parts), key=lambda room: len(room.mount)):
        if room.blocks > 0 and not IMAGES.match(room.mount) and room.device not in found:
            found[room.device] = FileSystem(
                printable(room.mount),
                min(room.free / room.blocks, 1.0),
                read_only=room.read_only or room.inner,
                failed=room.inner and not room.read_only,
            )
    return {each.mount: each for each in list(found.values())[:MOST_MOUNTS]}


class Room(NamedTuple):
    """A mount: its device, blocks and those that users may still write; read-only, and whether its file system is."""

    device: str
    mount: str
    blocks: float
    free: float
    read_only: bool
    inner: bool


def _rooms(parts: Mapping[str, str]) -> Iterator[Room]:
    for line in parts.get("mounts", "").split("\n"):
        words = line.split(" ", 2)
        sizes = numbers(words[:2]) if len(words) == 3 else None
        if sizes is not None:
            for device, mount, read_only, inner in mounted(words[2]):
                yield Room(device, mount, sizes[0], sizes[1], read_only, inner)
    known = {row[1]: row for row in mounted(parts.get("/proc/self/mountinfo", ""))}
    for line in parts.get("df", "").split("\n"):
        words = line.split(None, 5)
        if len(words) == 6 and words[0].startswith("/dev/") and words[5] in known:
            device, mount, read_only, inner = known[words[5]]
            if (sizes := numbers([words[1], words[3]])) is not None:
                yield Room(device, mount, sizes[0], sizes[1], read_only, inner)


def labels(parts: Mapping[str, str]) -> dict[str, str]:
    """Return the labels of the devices that count: disks, and volumes with a mount, such as "sda (/boot, /var)".

    Partitions are parts of their disk: their mounts stand with it. A disk under volumes has the mounts of these.
    """
    numbers_of = _device_numbers(parts.get("/proc/diskstats", ""))
    known = set(disk_names(parts.get("/proc/diskstats", "")))
    parents = _parents(parts)
    points: dict[str, list[str]] = {}
    lines = [line.split(" ", 2)[-1] for line in parts.get("mounts", "").split("\n")]
    text = "\n".join(lines) if "mounts" in parts else parts.get("/proc/self/mountinfo", "")
    for device, mount, _, _ in mounted(text):
        name, seen = numbers_of.get(device, ""), set[str]()
        below = [name] if name else []
        while below:
            each = below.pop()
            if each in seen:
                continue
            seen.add(each)
            points.setdefault(each, []).append(printable(mount, 40))
            below += parents.get(each, [])
    partitions = {each for each, above in parents.items() if any(_is_part(each, disk) for disk in above)}  # fmt: skip
    found = {}
    for name in known - partitions:
        mounts = sorted(set(points.get(name, ())), key=lambda each: (len(each), each))[:2]
        if mounts or not name.startswith(("dm-", "md")):
            found[name] = f"{name} ({', '.join(mounts)})"[:100] if mounts else name
    return found


def _is_part(name: str, disk: str) -> bool:
    return bool(re.fullmatch(re.escape(disk) + r"p?\d+", name))


def _device_numbers(text: str) -> dict[str, str]:
    rows = [line.split() for line in text.split("\n")]
    return {f"{row[0]}:{row[1]}": row[2] for row in rows if len(row) >= 14 and number(row[0])}


def _parents(parts: Mapping[str, str]) -> dict[str, list[str]]:
    """Return what each partition or volume lies on."""
    parents: dict[str, list[str]] = {}
    for line in parts.get("disks", "").split("\n"):
        disk, *below = line.split() or [""]
        for each in below:
            if _is_part(each, disk):
                parents.setdefault(each, []).append(disk)
            else:
                parents.setdefault(disk, []).append(each)
    for line in parts.get("sys", "").split("\n"):
        if match := re.fullmatch(r"/sys/block/([^/]+)/slaves/([^/]+)", line):
            parents.setdefault(match[1], []).append(match[2])
        elif match := re.fullmatch(r"/sys/block/([^/]+)/([^/]+)/partition", line):
            parents.setdefault(match[2], []).append(match[1])
    return parents
