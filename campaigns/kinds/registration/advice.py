"""What is known of how a Foreman is to be set up, against what an operator says of one. Pure.

The installer's own formula for Puma's workers, the ranges that the tuning guide advises, and how many
connections of the database that takes.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SPARE_THREADS = 4
"""Connections that one Puma worker may open beside those of its threads."""
THREADS_OF_THE_GUIDE = 16


@dataclass(frozen=True, slots=True)
class Tuning:
    """A tuning profile: for up to so many hosts; memory in GiB, advised workers at 16 threads."""

    name: str
    memory: int
    cores: int
    fewest: int
    most: int
    connections: int


TUNINGS = (
    Tuning("default", 20, 4, 4, 6, 500),
    Tuning("medium", 32, 8, 8, 12, 1000),
    Tuning("large", 64, 16, 12, 18, 1000),
    Tuning("extra-large", 128, 32, 16, 24, 1000),
    Tuning("extra-extra-large", 256, 48, 20, 26, 1000),
)


def workers_of_installer(cpus: float, memory_gib: float) -> int:
    """Return the workers that the installer chooses by itself, at least 1."""
    return max(1, math.floor(min(100.0, cpus * 1.5, memory_gib - 1.5)))


def connections_of(workers: int, threads: int) -> int:
    """Return the most connections that so many workers may open to the database."""
    return workers * (threads + SPARE_THREADS)


def tuning_of(cpus: float) -> Tuning:
    """Return the largest tuning profile that so many cores are enough for; the smallest below it."""
    fitting = [tuning for tuning in TUNINGS if tuning.cores <= cpus]
    return fitting[-1] if fitting else TUNINGS[0]


def warnings_of(settings: Mapping[str, Any]) -> list[str]:
    """Return what does not fit together; of what is not known nothing is said.

    settings: puma_workers, puma_threads, db_pool, db_connections, cpus and memory_gib.
    """
    workers, threads = _whole(settings, "puma_workers"), _whole(settings, "puma_threads")
    cpus, memory = _number(settings, "cpus"), _number(settings, "memory_gib")
    found = []
    if workers and threads:
        found += _of_connections(workers, threads, settings, cpus)
    pool = _whole(settings, "db_pool")
    if pool and threads and pool < threads:
        found.append(
            f"db_pool {pool} is less than puma_threads {threads}: threads wait for a connection, and "
            "fail after 5 s. Raise db_pool."
        )
    if cpus and memory:
        found += _of_formula(cpus, memory, workers)
    return found


def _of_connections(
    workers: int, threads: int, settings: Mapping[str, Any], cpus: float | None
) -> list[str]:
    most = _whole(settings, "db_connections")
    whose = "the database allows"
    if most is None:
        tuning = tuning_of(cpus or 0)
        most, whose = tuning.connections, f"the tuning profile {tuning.name} allows"
    needed = connections_of(workers, threads)
    if needed <= most:
        return []
    return [
        f"{workers} workers with {threads} threads may open {needed:,} connections to the database "
        f"({workers} x ({threads} + {SPARE_THREADS})), and {whose} {most:,}. Raise max_connections, or "
        "lower puma_workers or puma_threads."
    ]


def _of_formula(cpus: float, memory: float, workers: int | None) -> list[str]:
    tuning, formula = tuning_of(cpus), workers_of_installer(cpus, memory)
    advised = f"{tuning.fewest} to {tuning.most}"
    found = []
    if not tuning.fewest <= formula <= tuning.most:
        found.append(
            f"The installer's own formula gives {formula} workers for {cpus:g} CPUs and {memory:g} GiB "
            f"(min(CPU x 1.5, GiB - 1.5)); the tuning profile {tuning.name} advises {advised} at "
            f"{THREADS_OF_THE_GUIDE} threads."
        )
    if workers and workers > memory:
        found.append(
            f"{workers} workers need about {workers} GiB, and there are {memory:g}: it will swap."
        )
    return found


def _number(settings: Mapping[str, Any], name: str) -> float | None:
    try:
        value = float(settings[name])
    except (KeyError, TypeError, ValueError):
        return None
    return value if math.isfinite(value) and value > 0 else None


def _whole(settings: Mapping[str, Any], name: str) -> int | None:
    value = _number(settings, name)
    return int(value) if value is not None and value.is_integer() else None
