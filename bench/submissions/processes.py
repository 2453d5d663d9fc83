"""What process trees have used: processor time and memory, as the kernel counts them."""

import os
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


def tree(root: int) -> list[int]:
    """A process and everything below it."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))):
            parents[int(entry.name)] = int(fields[1])
    results = [root]
    for pid in results:
        results += [child for child, parent in parents.items() if parent == pid]
    return results


def processor_seconds(root: int) -> float:
    """Used by a tree, with children that have ended and were waited for."""
    return sum(sum(map(int, _stat(pid)[11:15])) for pid in tree(root) if _stat(pid)) / TICKS


def resident_megabytes(root: int) -> float:
    """Held by a tree now; shared pages count in each process."""
    return sum(int(_read(pid, "statm").split()[1]) for pid in tree(root) if _stat(pid)) * PAGE / 1e6


def _stat(pid: int) -> list[str]:
    """Fields from the state on; none of a process that has ended."""
    return _read(pid, "stat").rpartition(")")[2].split()


def _read(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
