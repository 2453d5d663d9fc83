"""Metrics that watches of the target give in every kind: its memory, and its CPU time for each unit of work (service demand).

A name says it all, so that it needs no declaration: `watched.memory`, `watched.memory:puma` of a group of processes,
`watched.cpu_per_file`, `watched.cpu_per_file:puma`.
"""

import re
from collections.abc import Iterable, Sequence

from campaigns.kinds.base import Driver, Metric
from campaigns.models import Target
from campaigns.targets.watches.catalog import OTHERS
from campaigns.targets.watches.registry import UnknownSource, source_of
from campaigns.targets.watches.rows import groups_of, watches_in_use

PREFIX = "watched."
MEMORY, MEMORY_PEAK, CPU_PER = f"{PREFIX}memory", f"{PREFIX}memory_peak", f"{PREFIX}cpu_per_"
NAME = re.compile(r"watched\.(memory|memory_peak|cpu_per_([A-Za-z]{1,20}))(?::([^:]{1,60}))?")
PATTERN = r"^watched\.(memory|memory_peak|cpu_per_[A-Za-z]+)(:.+)?$"
"""The same for a JSON Schema."""


def watched_metric(name: str) -> Metric | None:
    """Return the metric of a name; None where it is not one of a watched target."""
    match = NAME.fullmatch(name)
    if match is None:
        return None
    quantity, unit, group = match.groups()
    of = group or "the target"
    if unit:
        return Metric(name, f"CPU of {of} per {unit}", "s", lower_is_better=True)
    what = "peak" if quantity == "memory_peak" else "mean"
    return Metric(name, f"Memory of {of}, {what}", "MB", lower_is_better=True)


def name_of(quantity: str, group: str = "") -> str:
    """Return the name of a metric of the whole target, or of a group of processes."""
    return f"{quantity}:{group}" if group else quantity


def watched_metrics(driver: Driver, targets: Iterable[Target]) -> tuple[Metric, ...]:
    """Return the metrics that the watches of all these targets give, so that one may be primary before any run."""
    each = [_names(driver, target) for target in targets]
    shared = [name for name in each[0] if all(name in other for other in each)] if each else []
    metrics = (watched_metric(name) for name in shared)
    return tuple(metric for metric in metrics if metric is not None)


def choosable_metrics(driver: Driver, targets: Iterable[Target]) -> tuple[Metric, ...]:
    """Return the metrics that a definition may name: those of the kind, and those of watches."""
    return (*driver.metrics, *watched_metrics(driver, targets))


def _names(driver: Driver, target: Target) -> list[str]:
    reads = {each for watch in watches_in_use(target) for each in _reads(watch.source)}
    quantities = [*(f"{CPU_PER}{unit}" for unit in driver.work_units), MEMORY, MEMORY_PEAK]
    names: list[str] = []
    if "machine" in reads:
        names += quantities
    if "groups" in reads:
        groups = [*(group.name for group in groups_of(target)), OTHERS]
        names += [name_of(quantity, group) for quantity in quantities for group in groups]
    return names


def _reads(source: str) -> Sequence[str]:
    try:
        return source_of(source).reads
    except UnknownSource:
        return ()
