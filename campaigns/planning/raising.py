"""Which setting to raise in a clone, so that it shows whether a resource that binds is what limits.

perfdash raises what the kind or the target lets it set; anything else is raised by hand.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django import forms

from campaigns.kit.numbers import plain
from campaigns.models import Campaign
from campaigns.planning.metrics import driver_if_known
from campaigns.stats.binding import Resource
from campaigns.targets.variables import variables_of

FACTOR = 2
"""How many times the highest value a clone measures besides."""
WORDS: Mapping[Resource, Sequence[str]] = {
    Resource.CPU: ("cpus", "cores", "vcpu"),
    Resource.CORE: ("content_workers", "puma_workers", "workers", "processes"),
    Resource.QUOTA: ("cpu_quota", "cpu_limit", "cpus"),
    Resource.MEMORY: ("memory", "memory_limit", "memory_high", "memory_gib"),
    Resource.LISTEN_QUEUE: ("somaxconn", "backlog"),
    Resource.CONNECTIONS: ("db_pool", "pool_size", "max_connections", "db_connections"),
    Resource.DATABASE_IO: ("shared_buffers",),
    Resource.THREADS: (
        "puma_threads", "threads_max", "puma_workers", "httpd_workers", "max_request_workers", "threads", "workers",
    ),
    Resource.SLOTS: ("pulp_workers", "content_workers", "sidekiq_workers", "dynflow_workers", "workers"),
    Resource.DESCRIPTORS: ("nofile", "limit_nofile", "open_files"),
    Resource.THROTTLE: ("maxconn", "pool_size", "default_pool_size", "rate_limit", "download_concurrency"),
}  # fmt: skip
"""Names of parameters and settings that give more of a resource; a name that ends with one counts, too."""
NOTHING_BINDS = ("download_concurrency", "content_workers", "concurrency")
"""What is raised where no resource of the target binds: more is asked of it at a time."""
BY_HAND: Mapping[Resource, str] = {
    Resource.CPU: "give the target more cores",
    Resource.CORE: "run more processes of that program, or give the target faster cores",
    Resource.QUOTA: "raise the CPU quota of that service",
    Resource.STEAL: "move the target to a host with less to do",
    Resource.MEMORY: "give the target more memory, or the service a higher limit",
    Resource.DISK: "move the data to a faster disk",
    Resource.STORAGE: "move the data to faster storage",
    Resource.NETWORK: "give the target a faster network",
    Resource.LISTEN_QUEUE: "raise net.core.somaxconn, and the backlog of the server",
    Resource.CONNECTIONS: "raise max_connections, or the size of the pool",
    Resource.LOCKS: "spread the work over more rows, or ask for less at a time",
    Resource.DATABASE_WAITS: "spread the work over more of the database, or ask for less at a time",
    Resource.DATABASE_IO: "move the database to a faster disk, or give it more shared_buffers",
    Resource.DATABASE_CPU: "give the database more cores",
    Resource.THREADS: "give the application more threads or processes",
    Resource.SLOTS: "start more workers",
    Resource.DESCRIPTORS: "raise the limit of open files of that service",
    Resource.SOCKETS: "widen net.ipv4.ip_local_port_range, or keep connections open",
    Resource.THROTTLE: "raise the limit that was set",
}


@dataclass(frozen=True, slots=True)
class Raise:
    """What to raise to test whether a resource limits. name: of the parameter or setting; empty: by hand, as `text` says."""

    name: str
    text: str


def raises_of(campaign: Campaign, bound: Iterable[Resource], *, none_seen: bool) -> list[Raise]:
    """Return what a clone of a campaign can raise for each resource that binds, or where nothing was seen to bind."""
    driver = driver_if_known(campaign.kind)
    if driver is None or not driver.executable:
        return []
    variables = variables_of(driver, campaign.target)
    resources = list(dict.fromkeys(bound))
    numbers = [
        name
        for name, field in variables.fields.items()
        if name in variables.factors
        and isinstance(field, forms.IntegerField | forms.FloatField)
        and driver.role(name) in ("setting", "load")
    ]
    of_target = [
        name
        for name in numbers
        if driver.role(name) == "setting" and name not in driver.may_be_load
    ]
    result = []
    for each in resources:
        name = _first(of_target, WORDS.get(each, ()))
        result.append(Raise(name, _text(name)) if name else Raise("", BY_HAND[each]))
    if not resources and none_seen and (name := _first(numbers, NOTHING_BINDS)):
        result.append(Raise(name, _text(name)))
    return list(dict.fromkeys(result))


def raised_levels(field: forms.Field, numbers: Sequence[float]) -> list[str]:
    """Return two levels of a field as text: the highest of some values, and FACTOR times as much, or the most that is possible.

    Empty where no value is known, or it is the most.
    """
    highest = max(numbers, default=0.0)
    raised = highest * FACTOR
    most = getattr(field, "max_value", None)
    if most is not None:
        raised = min(raised, float(most))
    return [plain(highest), plain(raised)] if raised > highest else []


def _first(names: Sequence[str], words: Sequence[str]) -> str:
    """Return the first name that is one of some words, or ends with it; empty without one."""
    return next(
        (name for word in words for name in names if name == word or name.endswith(f"_{word}")), ""
    )


def _text(name: str) -> str:
    return f"raise {name.replace('_', ' ')}"
