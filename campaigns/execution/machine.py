"""Check whether this machine can generate the load of a run, and describe it for readers.

`look` reads the figures; `judge` compares figures only; `require` acts on both before a run begins.
"""

import os
import platform
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil
from django.conf import settings

from campaigns.kinds.base import DriverError
from campaigns.kit import kernel
from campaigns.models import LogLine

MIB = 2**20
DESCRIPTORS_BESIDE = 128
"""Open files of an engine besides its connections."""
MEMORY_BASE = 128 * MIB
MEMORY_A_CONNECTION = MIB // 2
LEAST_DISK = 100 * MIB
GOOD_DISK = 1024 * MIB
THE_KERNELS_OWN_PORTS = 28_232
PACKAGES = ("aiohttp", "uvloop", "requests", "urllib3", "numpy", "scipy")


class MachineTooSmall(DriverError):
    """The generator lacks what the run needs; no request was sent to the target."""

    void = True


@dataclass(frozen=True, slots=True)
class Machine:
    """Free resources: open files for one process, bytes of memory and disk, ephemeral ports."""

    descriptors: int
    memory: int
    ports: int
    disk: int
    directory: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """Sentences: what makes the run impossible, and what may disturb it."""

    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def look(directory: Path) -> Machine:
    """Read the free resources of this machine; `directory` is where downloads go."""
    memory, ports = kernel.available_memory(), kernel.local_ports()
    existing = next(path for path in (directory, *directory.parents) if path.exists())
    return Machine(
        descriptors=kernel.most_open_files(),
        memory=sys.maxsize if memory is None else memory,
        ports=THE_KERNELS_OWN_PORTS if ports is None else ports.free,
        disk=shutil.disk_usage(existing).free,
        directory=str(directory),
    )


def judge(machine: Machine, concurrency: int | None) -> Judgement:
    """Compare free resources with the needs of so many connections; None: a few."""
    requested = concurrency or 1
    problems, warnings = [], []
    if requested + DESCRIPTORS_BESIDE > machine.descriptors:
        problems.append(
            f"{requested:,} connections need more open files than the {machine.descriptors:,} that a "
            "process may have; raise its hard limit (ulimit -Hn, LimitNOFILE=, --ulimit nofile)."
        )
    memory = MEMORY_BASE + requested * MEMORY_A_CONNECTION
    if memory > machine.memory:
        problems.append(
            f"{machine.memory // MIB:,} MiB of memory are free; this needs about "
            f"{memory // MIB:,} MiB. End what else runs on the generator, or take another one."
        )
    elif 2 * memory > machine.memory:
        warnings.append(f"only {machine.memory // MIB:,} MiB of memory are free on the generator")
    if requested > machine.ports:
        problems.append(
            f"{requested:,} connections need more ports than the {machine.ports:,} that are free; "
            "wait a minute for closed ones, or widen net.ipv4.ip_local_port_range."
        )
    elif 2 * requested > machine.ports:
        warnings.append(f"only {machine.ports:,} ports are free on the generator")
    if machine.disk < LEAST_DISK:
        problems.append(
            f"{machine.disk // MIB:,} MiB are free in {machine.directory}; downloads need at least "
            f"{LEAST_DISK // MIB:,} MiB. Make room, or let WORK_DIRECTORY name another place."
        )
    elif machine.disk < GOOD_DISK:
        warnings.append(f"only {machine.disk // MIB:,} MiB are free in {machine.directory}")
    return Judgement(tuple(problems), tuple(warnings))


def require(concurrency: int | None, say: Callable[[str, str], None]) -> None:
    """Raise MachineTooSmall where the load cannot be generated here; log what may disturb it."""
    judgement = judge(look(Path(settings.WORK_DIRECTORY)), concurrency)
    if judgement.problems:
        raise MachineTooSmall(" ".join(judgement.problems))
    for warning in judgement.warnings:
        say(f"may be disturbed: {warning}", LogLine.Tone.BAD)


@cache
def generator_facts() -> Mapping[str, str]:
    """Return processor, memory, kernel, interpreter and libraries of this host, by name."""
    facts = {
        "host": settings.GENERATOR_HOST,
        "processor": _processor(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": f"{psutil.virtual_memory().total / 2**30:.1f} GiB",
        "kernel": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }
    for package in PACKAGES:
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            continue
    return facts


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
