"""Disks and file systems: which devices count, what is mounted on them, how full they are. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

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
    found: dict[str, tuple[str, FileSystem]] = {}
    rows = sorted(_rooms(parts), key=lambda row: len(row[1]))
    for device, mount, blocks, free, read_only, inner in rows:
        if blocks > 0 and not IMAGES.match(mount) and device not in found:
            label = printable(mount)
            state = FileSystem(label, min(free / blocks, 1.0), read_only or inner, inner and not read_only)  # fmt: skip
            found[device] = (label, state)
    return dict(list(found.values())[:MOST_MOUNTS])


def _rooms(parts: Mapping[str, str]) -> list[tuple[str, str, float, float, bool, bool]]:
    """Return device, mount point, blocks, free blocks, read-only, and whether the file system itself is."""
    rows = []
    for line in parts.get("mounts", "").split("\n"):
        blocks, free, *rest = line.split(" ", 2)[:3] if line.count(" ") > 2 else ["", ""]
        sizes = numbers([blocks, free])
        if sizes and rest:
            rows += [(dev, mount, *sizes, ro, inner) for dev, mount, ro, inner in mounted(rest[0])]
    if "df" in parts:
        mounts = {mount: (dev, ro, inner) for dev, mount, ro, inner in mounted(parts.get("/proc/self/mountinfo", ""))}  # fmt: skip
        for line in parts["df"].split("\n"):
            words = line.split(None, 5)
            if len(words) == 6 and words[0].startswith("/dev/") and words[5] in mounts:
                dev, ro, inner = mounts[words[5]]
                if (sizes := numbers([words[1], words[3]])) is not None:
                    rows.append((dev, words[5], sizes[0], sizes[1], ro, inner))
    return rows  # type: ignore[return-value]


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
