"""Read the queue gauges of HAProxy and Puma, whatever brings their answers. Pure."""

import csv
from collections import defaultdict
from collections.abc import Mapping
from math import isfinite
from typing import Any

from campaigns.targets.watches.base import Key
from campaigns.targets.watches.catalog import QUEUE_ROLES, THREADS, THROTTLE

MOST_QUEUES = 64
MOST_COUNT = 1e15


def queue_values(
    role: str,
    name: str,
    *,
    busy: float | None = None,
    limit: float | None = None,
    waiting: float | None = None,
    errors: float | None = None,
    requests: float | None = None,
) -> dict[Key, float]:
    """Return the values of one queue under its label: the role, then the name. What is None is left out."""
    if role not in QUEUE_ROLES:
        raise ValueError(role)
    text = "".join(part if part.isprintable() else "?" for part in name)
    label = f"{role} {text}".strip()[:100]
    named = {
        "queue.busy": busy,
        "queue.limit": limit,
        "queue.waiting": waiting,
        "queue.errors": errors,
        "queue.requests": requests,
    }
    return {Key(quantity, label): value for quantity, value in named.items() if value is not None}


def count_of(value: object) -> float | None:
    """Return a count that a server wrote, as number or text; None where it is none."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if isfinite(number) and 0 <= number <= MOST_COUNT else None


def haproxy_values(text: str) -> dict[Key, float]:
    """Return the queues in HAProxy's statistics as CSV. Raise ValueError where the text is none.

    A backend's servers are one queue: their `maxconn` are its limit, where each of them has one, and requests that
    wait for the backend or for a server wait in it. A frontend's limit is its own `maxconn`.
    """
    if not text.startswith("# pxname,svname,"):
        raise ValueError("no statistics of HAProxy")
    try:
        rows = list(csv.DictReader(text[2:].splitlines()))
    except csv.Error as error:
        raise ValueError(str(error)) from None
    values: dict[Key, float] = {}
    of_backends: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    queues = 0
    for row in rows:
        name, kind = str(row.get("pxname") or ""), row.get("type")
        if kind == "2" and _is_up(row):
            of_backends[name].append(row)
        if kind not in ("0", "1") or not name or queues >= MOST_QUEUES:
            continue
        queues += 1
        if kind == "0":
            values |= queue_values(
                THROTTLE,
                f"{name} (frontend)",
                busy=count_of(row.get("scur")),
                limit=count_of(row.get("slim")) or None,
                requests=_first(row, "req_tot", "stot"),
            )
        else:
            values |= _backend(name, row, of_backends[name])
    return values


def _is_up(row: Mapping[str, Any]) -> bool:
    return not str(row.get("status") or "").startswith(("DOWN", "MAINT", "NOLB"))


def _first(row: Mapping[str, Any], *names: str) -> float | None:
    return next((count for name in names if (count := count_of(row.get(name))) is not None), None)


def _backend(
    name: str, row: Mapping[str, Any], servers: list[Mapping[str, Any]]
) -> dict[Key, float]:
    limits = [count_of(server.get("slim")) for server in servers]
    whole = all(limits) and bool(limits)
    busy = [count_of(server.get("scur")) or 0.0 for server in servers]
    waiting = [count_of(each.get("qcur")) or 0.0 for each in (row, *servers)]
    return queue_values(
        THROTTLE,
        name,
        busy=sum(busy) if servers else count_of(row.get("scur")),
        limit=sum(limit or 0.0 for limit in limits) if whole else None,
        waiting=sum(waiting),
        errors=count_of(row.get("econ")),
        requests=_first(row, "req_tot", "stot"),
    )


def puma_values(document: object) -> dict[Key, float]:
    """Return the threads of Puma from its control server's statistics. Raise ValueError where they are none."""
    told = document if isinstance(document, dict) else {}
    listed = told.get("worker_status")
    workers = [
        worker["last_status"]
        for worker in (listed if isinstance(listed, list) else [])
        if isinstance(worker, dict) and isinstance(worker.get("last_status"), dict)
    ]
    parts = workers if isinstance(listed, list) else [told]
    busy = limit = waiting = requests = 0.0
    counts_requests = bool(parts)
    known = 0
    for part in parts:
        most, free = count_of(part.get("max_threads")), count_of(part.get("pool_capacity"))
        if most is None or free is None:
            continue  # a worker that starts has told nothing yet
        known += 1
        limit += most
        busy += max(0.0, most - free)
        waiting += count_of(part.get("backlog")) or 0.0
        counted = count_of(part.get("requests_count"))
        counts_requests = counts_requests and counted is not None
        requests += counted or 0.0
    if not known and not isinstance(listed, list):
        raise ValueError("no statistics of Puma")
    if not known:
        return {}
    return queue_values(
        THREADS,
        "puma",
        busy=busy,
        limit=limit,
        waiting=waiting,
        requests=requests if counts_requests else None,
    )
