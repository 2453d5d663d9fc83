"""Figures of the whole, for monitoring: a handful of counting queries, whatever there is. Reads only."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import connection, transaction
from django.db.models import Count, F, Q, QuerySet
from django.db.models.functions import Extract, Now

from campaigns.models import (
    Announcement,
    Attempt,
    Campaign,
    Channel,
    Delivery,
    Dispatcher,
    GeneratorLease,
    Run,
    TargetLease,
)
from campaigns.planning.workers import present_by_pool

LONGEST_SECONDS = 2


@dataclass(frozen=True, slots=True)
class Queue:
    """Planned runs of the campaigns in one state, for one target and pool."""

    target: str
    pool: str
    campaign_state: str
    runs: int


@dataclass(frozen=True, slots=True)
class HeldLease:
    """A lease with its holder's age, and how long it still lasts (less than 0: it has lapsed)."""

    of: str
    name: str
    held_seconds: float
    left_seconds: float


@dataclass(frozen=True, slots=True)
class Figures:
    """Everything, at one instant; times in seconds."""

    queues: tuple[Queue, ...]
    leases: tuple[HeldLease, ...]
    attempts: dict[str, int]
    runs: dict[str, int]
    campaigns: dict[str, int]
    analyses_waiting: int
    announcements_unread: int
    deliveries: dict[str, int]
    oldest_delivery_seconds: float
    channels_off: int
    workers: dict[str, int]
    dispatched_seconds_ago: float | None


def figures() -> Figures:
    """Count. Raise DatabaseError where the database is away, or takes longer than LONGEST_SECONDS."""
    with _briefly():
        return Figures(
            queues=tuple(_queues()),
            leases=(
                *_leases(TargetLease.objects.all(), "target", "address"),
                *_leases(GeneratorLease.objects.all(), "generator", "host"),
            ),
            attempts=_by_state(Attempt.objects.all(), Attempt.State.values),
            runs=_by_state(Run.objects.all(), Run.State.values),
            campaigns=_by_state(Campaign.objects.all(), Campaign.State.values),
            analyses_waiting=Campaign.objects.filter(analysis_requested_at__isnull=False).count(),
            announcements_unread=Announcement.objects.filter(read_at=None).count(),
            deliveries=_by_state(Delivery.objects.all(), Delivery.State.values),
            oldest_delivery_seconds=_oldest_delivery(),
            channels_off=Channel.objects.filter(is_on=False).exclude(off_reason="").count(),
            workers=present_by_pool(),
            dispatched_seconds_ago=Dispatcher.objects.values_list(
                Extract(Now() - F("ticked_at"), "epoch"), flat=True
            ).first(),
        )


@contextmanager
def _briefly() -> Iterator[None]:
    """One snapshot, without the chance to hold anybody up for long."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [f"{LONGEST_SECONDS}s"])
        yield


def _by_state(rows: QuerySet, states: list[str]) -> dict[str, int]:
    """Rows in each state, the states without any too."""
    counted = dict(rows.order_by().values_list("state").annotate(Count("pk")))
    return {state: counted.get(state, 0) for state in states}


def _oldest_delivery() -> float:
    """How long the oldest message has waited; 0 where none waits."""
    waiting = Delivery.objects.filter(state=Delivery.State.WAITING).order_by("created_at")
    age = waiting.values_list(Extract(Now() - F("created_at"), "epoch"), flat=True).first()
    return float(age or 0)


def _queues() -> Iterator[Queue]:
    waiting = Count("runs", filter=Q(runs__state=Run.State.PLANNED))
    rows = (
        Campaign.objects.filter(target__isnull=False)
        .exclude(state__in=Campaign.CLOSED)
        .order_by()
        .values_list("target__name", "pool", "state")
        .annotate(waiting=waiting)
        .filter(waiting__gt=0)
    )
    return (Queue(*row) for row in rows)


def _leases(rows: QuerySet, of: str, name: str) -> Iterator[HeldLease]:
    """Those that somebody holds, since their attempt was queued or claimed."""
    since = F("attempt__queued_at") if of == "target" else F("attempt__claimed_at")
    held = rows.exclude(attempt=None).values_list(
        name, Extract(Now() - since, "epoch"), Extract(F("expires_at") - Now(), "epoch")
    )
    for row_name, age, left in held:
        yield HeldLease(of, row_name, float(age or 0), float(left or 0))
