"""The metrics of a campaign: those of its kind, or those submitted with its runs."""

from django.db.models import OuterRef, Subquery
from django.forms.utils import pretty_name

from campaigns.kinds.base import Driver, Metric
from campaigns.kinds.registry import UnknownKind, driver_of
from campaigns.models import Attempt, Campaign, DeclaredMetric, Measurement, StoredMetric
from campaigns.planning.criterion import criterion_of

MOST_ANALYSED = 12
"""The most metrics that are summarised by cell: the primary one, and the first declared ones."""


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
        return driver.metrics
    declared = tuple(_metric(each) for each in campaign.metrics.all())
    return declared or (driver.metrics if driver else ())


def analysed_metrics_of(campaign: Campaign) -> tuple[Metric, ...]:
    """Return the primary metric, those of the criterion, and the first others, in their order: MOST_ANALYSED at most."""
    every = metrics_of(campaign)
    if len(every) <= MOST_ANALYSED:
        return every
    bound = {each.metric for each in criterion_of(campaign.criterion).conditions}
    first = {campaign.primary_metric, *bound}
    others = [metric.name for metric in every if metric.name not in first]
    chosen = {*first, *others[: max(0, MOST_ANALYSED - len(first))]}
    return tuple(metric for metric in every if metric.name in chosen)


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
