"""A metric by which the tests store values."""

from campaigns.models import StoredMetric


def metric(
    name: str = "duration", unit: str = "s", *, lower_is_better: bool | None = True
) -> StoredMetric:
    """Return the stored metric."""
    return StoredMetric.objects.get_or_create(
        name=name, unit=unit, lower_is_better=lower_is_better
    )[0]
