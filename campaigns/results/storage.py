"""How much of the database campaigns use, by kind of data. Reads only, and decompresses nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import BigIntegerField, F, Func, Model, Sum

from campaigns.kit.rights import visible
from campaigns.models import (
    AttemptOutput,
    Campaign,
    Distribution,
    Finding,
    Measurement,
    RawSamples,
    Series,
    WatchedSeries,
)

SAMPLES, SERIES, DISTRIBUTIONS = "raw samples", "series", "distributions"
MEASUREMENTS, FINDINGS, OUTPUTS = "measurements", "findings", "outputs"
WATCHED = "watched series"
KINDS = (SAMPLES, SERIES, DISTRIBUTIONS, MEASUREMENTS, FINDINGS, OUTPUTS, WATCHED)
PACKED: Mapping[str, tuple[type[Model], str, str]] = {
    SAMPLES: (RawSamples, "columns", "attempt__run__campaign"),
    SERIES: (Series, "values", "attempt__run__campaign"),
    DISTRIBUTIONS: (Distribution, "encoded", "attempt__run__campaign"),
    FINDINGS: (Finding, "result", "campaign"),
    OUTPUTS: (AttemptOutput, "content", "attempt__run__campaign"),
    WATCHED: (WatchedSeries, "values", "watched__attempt__run__campaign"),
}
VALUES_BY_CAMPAIGN = """
    SELECT r.campaign_id, counted.runs * avg(v.values)
    FROM (SELECT campaign_id, count(*) AS runs FROM campaigns_run GROUP BY campaign_id) counted
    JOIN campaigns_run r ON r.campaign_id = counted.campaign_id AND r.position % greatest(1, counted.runs / 50) = 0
    CROSS JOIN LATERAL (
        SELECT count(*) AS values FROM campaigns_attempt a JOIN campaigns_measurement m ON m.attempt_id = a.id
        WHERE a.run_id = r.id
    ) v
    GROUP BY r.campaign_id, counted.runs
    HAVING sum(v.values) > 0
"""


@dataclass(frozen=True, slots=True)
class Used:
    """Bytes that a campaign takes in the database, by kind of data, compressed."""

    campaign: Campaign
    bytes: Mapping[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """The bytes of all kinds."""
        return sum(self.bytes.values())

    @property
    def by_kind(self) -> list[int]:
        """The bytes in the order of KINDS."""
        return [self.bytes.get(kind, 0) for kind in KINDS]


def used_by_campaigns(user: User) -> list[Used]:
    """Return the use of each campaign that a user may see, the largest first.

    A row of measurements is small: it counts as the average row with its index.
    """
    result: dict[int, dict[str, int]] = {}
    for kind, (model, column, path) in PACKED.items():
        size = Func(F(column), function="pg_column_size", output_field=BigIntegerField())
        rows = model._default_manager.order_by().values_list(path).annotate(total_bytes=Sum(size))
        for campaign, count in rows:
            result.setdefault(campaign, {})[kind] = count
    counts = values_by_campaign()
    each = _bytes_of_table(Measurement) / max(1, sum(counts.values()))
    for campaign, count in counts.items():
        result.setdefault(campaign, {})[MEASUREMENTS] = round(count * each)
    seen = visible(Campaign.objects.only("name", "archived_at").order_by(), user)
    used = [Used(campaign, result[campaign.pk]) for campaign in seen if campaign.pk in result]
    return sorted(used, key=lambda one: (-one.total, one.campaign.pk))


def values_by_campaign() -> dict[int, int]:
    """Return the number of stored values of each campaign, of one with many runs estimated from some 50 of them.

    To count millions of values would take seconds.
    """
    with connection.cursor() as cursor:
        cursor.execute(VALUES_BY_CAMPAIGN)
        return {campaign: round(count) for campaign, count in cursor.fetchall()}


def database_bytes() -> int:
    """Return the size of the database, with indexes and all other tables."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        return int(cursor.fetchone()[0])


def _bytes_of_table(model: type[Model]) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_total_relation_size(%s::regclass)", [model._meta.db_table])
        return int(cursor.fetchone()[0])
