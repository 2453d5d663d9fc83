"""The metrics of a campaign: those of its kind, or those submitted with its runs."""

from collections.abc import Sequence

from django.db.models import OuterRef, Subquery
from django.forms.utils import pretty_name

from campaigns.kinds.base import Driver, Metric
from campaigns.kinds.registry import UnknownKind, driver_of
from campaigns.models import Attempt, Campaign, DeclaredMetric, Measurement, StoredMetric
from campaigns.planning.criterion import criterion_of
from campaigns.planning.watched_metrics import (
    CPU_PER,
    MEMORY,
    PREFIX,
    name_of,
    watched_metric,
    watched_metrics,
)

MOST_ANALYSED = 12
"""The most metrics that are summarised by cell: the primary one, and the first declared ones."""
MOST_WATCHED = 8
"""The most metrics of watches that are summarised by cell, beside them."""
FIRST_ATTEMPTS = 20
"""Attempts in which is looked for metrics of watches: a group of processes may be absent from one."""


def driver_if_known(kind: str) -> Driver | None:
    """Return the driver of a kind; None where it is not installed any more."""
    try:
        return driver_of(kind)
    except UnknownKind:
        return None


def metrics_of(campaign: Campaign) -> tuple[Metric, ...]:
    """Return the metrics submitted with its runs, in the order of their declaration, else those of its kind."""
    driver = driver_if_known(campaign.kind)
    if driver is not None and driver.executable:
        return (*driver.metrics, *_watched(campaign))
    declared = tuple(_metric(each) for each in campaign.metrics.all())
    return declared or (driver.metrics if driver else ())


def choosable_metrics_of(campaign: Campaign) -> tuple[Metric, ...]:
    """Return the metrics that an amendment may name: besides those of the campaign, those of its targets' watches."""
    driver = driver_if_known(campaign.kind)
    known = metrics_of(campaign)
    if driver is None or not driver.executable:
        return known
    names = {metric.name for metric in known}
    watched = watched_metrics(driver, campaign.targets)
    return (*known, *(metric for metric in watched if metric.name not in names))


def analysed_metrics_of(campaign: Campaign) -> tuple[Metric, ...]:
    """Return the primary metric, those of the criterion, and the first others, in their order: MOST_ANALYSED at most."""
    all_of_them = metrics_of(campaign)
    first = _named(campaign)
    every = [metric for metric in all_of_them if not metric.name.startswith(PREFIX)]
    chosen = {metric.name for metric in every}
    if len(every) > MOST_ANALYSED:
        others = [metric.name for metric in every if metric.name not in first]
        chosen = {*first, *others[: max(0, MOST_ANALYSED - len(first))]}
    chosen |= first | _watched_first(campaign, all_of_them)
    return tuple(metric for metric in all_of_them if metric.name in chosen)


def _named(campaign: Campaign) -> set[str]:
    """Return the primary metric, and those of the criterion."""
    bound = {each.metric for each in criterion_of(campaign.criterion).conditions}
    return {campaign.primary_metric, *bound}


def _watched_first(campaign: Campaign, metrics: Sequence[Metric]) -> set[str]:
    """Return the metrics of watches that are summarised: CPU for each unit of work, of the target and its groups, and memory."""
    names = [metric.name for metric in metrics if metric.name.startswith(PREFIX)]
    driver = driver_if_known(campaign.kind)
    if not names or driver is None:
        return set()
    demand = name_of(f"{CPU_PER}{driver.work_units[0]}")
    order = [demand, MEMORY, *(name for name in names if name.startswith(f"{demand}:"))]
    return set([name for name in order if name in names][:MOST_WATCHED])


def _watched(campaign: Campaign) -> tuple[Metric, ...]:
    """Return the metrics of watches: those that the definition names, and those that the first runs have."""
    named = [name for name in sorted(_named(campaign)) if watched_metric(name)]
    metrics = (watched_metric(name) for name in dict.fromkeys([*named, *_watched_names(campaign)]))
    return tuple(metric for metric in metrics if metric is not None)


def _watched_names(campaign: Campaign) -> list[str]:
    """Return the names of the metrics of watches by the first attempts, those with the largest values of a group first.

    Where no run anywhere was watched, this is one look at a small table.
    """
    stored = dict(StoredMetric.objects.filter(name__startswith=PREFIX).values_list("pk", "name"))
    if not stored or campaign.pk is None:
        return []
    attempts = Attempt.objects.filter(
        run__campaign=campaign, state=Attempt.State.ACCEPTED
    ).order_by("run__position", "number")
    first = list(attempts.values_list("pk", flat=True)[:FIRST_ATTEMPTS])
    values = Measurement.objects.filter(attempt__in=first, metric__in=list(stored))
    sums: dict[str, float] = {}
    for key, value in values.values_list("metric_id", "value"):
        sums[stored[key]] = sums.get(stored[key], 0.0) + value
    return sorted(sums, key=lambda name: (name.partition(":")[0], ":" in name, -sums[name], name))


def metric_of(campaign: Campaign, name: str) -> Metric:
    """Return a metric by its name; an undeclared one is described by its values."""
    driver = driver_if_known(campaign.kind)
    declared = {metric.name: metric for metric in driver.metrics} if driver else {}
    if not (driver is not None and driver.executable):
        submitted = campaign.metrics.filter(name=name).first()
        if submitted is not None:
            return _metric(submitted)
    if name in declared:
        return declared[name]
    if watched := watched_metric(name):
        return watched
    stored = _stored(campaign, name)
    return Metric(
        name=name,
        label=pretty_name(name),
        unit=stored.unit if stored else "",
        lower_is_better=stored is None or stored.lower_is_better is not False,
    )


def _stored(campaign: Campaign, name: str) -> StoredMetric | None:
    """Return by what unit and direction a value of the campaign is stored, looked up attempt by attempt.

    A join with the values would read those of other campaigns, which may be millions.
    """
    metrics = StoredMetric.objects.in_bulk(
        StoredMetric.objects.filter(name=name).values_list("pk", flat=True)
    )
    if not metrics:
        return None
    values = Measurement.objects.filter(attempt=OuterRef("pk"), metric__in=list(metrics))
    attempts = Attempt.objects.filter(run__campaign=campaign).order_by("run__position", "number")
    found = attempts.annotate(key=Subquery(values.order_by().values("metric_id")[:1]))
    key = found.exclude(key=None).values_list("key", flat=True).first()
    return None if key is None else metrics[key]


def _metric(declared: DeclaredMetric) -> Metric:
    return Metric(
        name=declared.name,
        label=declared.label,
        unit=declared.unit,
        lower_is_better=declared.lower_is_better is not False,
        directed=declared.lower_is_better is not None,
        fidelity=declared.fidelity,
    )
