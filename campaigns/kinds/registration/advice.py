"""Compare the settings of a Foreman, as its operator states them, with the advice for them. Pure.

The advice: the installer's own formula for Puma's workers, the ranges of the tuning guide, and the number
of database connections that follows.
"""

import math
import re
from dataclasses import dataclass

from campaigns.kit.mappings import Json, JsonObject, Settings

SPARE_CONNECTIONS = 4
"""Connections that a Puma worker may open besides those of its threads."""
GUIDE_THREADS = 16
OPERATOR_SETTINGS = (
    "puma_workers", "puma_threads", "db_pool", "db_connections", "httpd_workers",
    "candlepin_java_opts", "dynflow_workers", "tuning_profile", "cpus", "memory_gib",
)  # fmt: skip
"""Settings that no API shows: the operator types them in, or they are unknown."""
TYPED_IN, UNKNOWN = "typed in by the operator", "unknown: no API tells it"
SET = "set and read back by perfdash: see the settings of each run"
STATED = re.compile(rf"\b({'|'.join(OPERATOR_SETTINGS)})\b\s*(?:[=:]\s*)?([\w.+-]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Tuning:
    """A tuning profile: memory in GiB, and the advised numbers of workers at 16 threads."""

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
    """Return the number of workers that the installer chooses by default, at least 1."""
    return max(1, math.floor(min(100.0, cpus * 1.5, memory_gib - 1.5)))


def connections_of(workers: int, threads: int) -> int:
    """Return the most connections that workers may open to the database."""
    return workers * (threads + SPARE_CONNECTIONS)


def tuning_of(cpus: float) -> Tuning:
    """Return the largest tuning profile for a number of cores; with too few for any, the smallest one."""
    fitting = [tuning for tuning in TUNINGS if tuning.cores <= cpus]
    return fitting[-1] if fitting else TUNINGS[0]


def warnings_of(settings: Settings) -> list[str]:
    """Return a warning for each pair of settings that do not fit; unknown settings cause none.

    settings: puma_workers, puma_threads, db_pool, db_connections, cpus and memory_gib.
    """
    workers, threads = _whole(settings, "puma_workers"), _whole(settings, "puma_threads")
    cpus, memory = _number(settings, "cpus"), _number(settings, "memory_gib")
    warnings = []
    if workers and threads:
        warnings += _of_connections(workers, threads, settings, cpus)
    pool = _whole(settings, "db_pool")
    if pool and threads and pool < threads:
        warnings.append(
            f"db_pool {pool} is less than puma_threads {threads}: threads wait for a connection, and "
            "fail after 5 s. Raise db_pool."
        )
    if cpus and memory:
        warnings += _of_formula(cpus, memory, workers)
    return warnings


def _of_connections(
    workers: int, threads: int, settings: Settings, cpus: float | None
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
        f"({workers} x ({threads} + {SPARE_CONNECTIONS})), and {whose} {most:,}. Raise max_connections, or "
        "lower puma_workers or puma_threads."
    ]


def _of_formula(cpus: float, memory: float, workers: int | None) -> list[str]:
    tuning, formula = tuning_of(cpus), workers_of_installer(cpus, memory)
    advised = f"{tuning.fewest} to {tuning.most}"
    warnings = []
    if not tuning.fewest <= formula <= tuning.most:
        warnings.append(
            f"The installer's own formula gives {formula} workers for {cpus:g} CPUs and {memory:g} GiB "
            f"(min(CPU x 1.5, GiB - 1.5)); the tuning profile {tuning.name} advises {advised} at "
            f"{GUIDE_THREADS} threads."
        )
    if workers and workers > memory:
        warnings.append(
            f"{workers} workers need about {workers} GiB, and there are {memory:g}: it will swap."
        )
    return warnings


def _number(settings: Settings, name: str) -> float | None:
    try:
        value = float(settings[name])
    except (KeyError, TypeError, ValueError):
        return None
    return value if math.isfinite(value) and value > 0 else None


def _whole(settings: Settings, name: str) -> int | None:
    value = _number(settings, name)
    return int(value) if value is not None and value.is_integer() else None


def typed_in(settings: Settings, hardware: str) -> JsonObject:
    """Return what the operator states: the target's settings, else text like “puma_workers 4” in `hardware`."""
    stated = {match[1].lower(): match[2].rstrip(".") for match in STATED.finditer(hardware)}
    for name in OPERATOR_SETTINGS:
        value = settings.get(name)
        if value not in (None, "") and not isinstance(value, dict | list):
            stated[name] = value
    return stated


def operator_facts(typed: Json, wanted: Settings) -> dict[str, str]:
    """Return each operator setting with its source. wanted: settings that a run puts in force."""
    facts = dict.fromkeys(OPERATOR_SETTINGS, UNKNOWN)
    facts |= {name: f"{value} ({TYPED_IN})" for name, value in typed.items()}
    return facts | {name: SET for name in OPERATOR_SETTINGS if name in wanted}
