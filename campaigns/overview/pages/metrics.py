"""/metrics for Prometheus, computed from the database and cached for a few seconds."""

import platform
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from secrets import compare_digest
from time import monotonic

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, transaction
from django.db.models import Count, F, QuerySet
from django.db.models.functions import Coalesce, Extract, Now
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry, Metric
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    InfoMetricFamily,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector

from campaigns.kit import broker
from campaigns.kit.messages import ANALYSIS, CONTROL
from campaigns.models import (
    Alert,
    Announcement,
    Attempt,
    Campaign,
    Channel,
    Delivery,
    Dispatcher,
    GeneratorLease,
    Line,
    Run,
    TargetLease,
)
from campaigns.planning.workers import present_by_pool

CACHE_SECONDS = 5.0
"""A bound on the load by frequent scrapes: it must not disturb runs on this machine."""
FORWARDED = ("X-Forwarded-For", "X-Forwarded-Proto", "X-Real-IP", "Forwarded", "Via")
"""Headers that only a proxy sends."""
REFUSED = (
    "Metrics are for this machine and for the owner of the installation. Elsewhere, set "
    "PERFDASH_METRICS_TOKEN and send `Authorization: Bearer` with it.\n"
)

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
    """A lease with its holder's age, and its remaining time (less than 0: it has expired)."""

    of: str
    name: str
    held_seconds: float
    left_seconds: float


@dataclass(frozen=True, slots=True)
class Figures:
    """All metrics at one instant; times in seconds."""

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
    lines: dict[str, int]
    alerts: dict[tuple[str, str], int]
    line_overdue_seconds: float
    dispatched_seconds_ago: float | None


def figures() -> Figures:
    """Query the metrics. Raise DatabaseError where the database is unavailable or takes over LONGEST_SECONDS."""
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
            lines=_by_state(Line.objects.all(), Line.State.values),
            alerts=_open_alerts(),
            line_overdue_seconds=_most_overdue(),
            dispatched_seconds_ago=Dispatcher.objects.values_list(
                Extract(Now() - F("ticked_at"), "epoch"), flat=True
            ).first(),
        )


@contextmanager
def _briefly() -> Iterator[None]:
    """Read one snapshot in a transaction with a short time limit, so that it delays nobody."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [f"{LONGEST_SECONDS}s"])
        yield


def _by_state(rows: QuerySet, states: list[str]) -> dict[str, int]:
    """Return the number of rows in each state, also 0."""
    counted = dict(rows.order_by().values_list("state").annotate(Count("pk")))
    return {state: counted.get(state, 0) for state in states}


def _oldest_delivery() -> float:
    """Return how long the oldest message has waited; 0 where none waits."""
    waiting = Delivery.objects.filter(state=Delivery.State.WAITING).order_by("created_at")
    age = waiting.values_list(Extract(Now() - F("created_at"), "epoch"), flat=True).first()
    return float(age or 0)


def _open_alerts() -> dict[tuple[str, str], int]:
    """Return the number of open alerts by evidence and handling."""
    rows = Alert.objects.filter(closed_at=None).order_by().values_list("evidence", "handling")
    return {
        (evidence, handling): number for evidence, handling, number in rows.annotate(Count("pk"))
    }


def _most_overdue() -> float:
    """Return for how long the line has been due that nobody has looked at for longest; 0 where none is."""
    due = Line.objects.filter(state=Line.State.ON, due_at__lt=Now()).order_by("due_at")
    age = due.values_list(Extract(Now() - F("due_at"), "epoch"), flat=True).first()
    return float(age or 0)


def _queues() -> Iterator[Queue]:
    """Return the planned runs by the target of each: a campaign may have several."""
    rows = (
        Run.objects.filter(state=Run.State.PLANNED, campaign__target__isnull=False)
        .exclude(campaign__state__in=Campaign.CLOSED)
        .order_by()
        .values_list(
            Coalesce("cell__target__name", "campaign__target__name"),
            "campaign__pool",
            "campaign__state",
        )
        .annotate(waiting=Count("pk"))
    )
    return (Queue(*row) for row in rows)


def _leases(rows: QuerySet, of: str, name: str) -> Iterator[HeldLease]:
    """Return the leases that are held, with the time since their attempt was queued or claimed."""
    since = F("attempt__queued_at") if of == "target" else F("attempt__claimed_at")
    held = rows.exclude(attempt=None).values_list(
        name, Extract(Now() - since, "epoch"), Extract(F("expires_at") - Now(), "epoch")
    )
    for row_name, age, left in held:
        yield HeldLease(of, row_name, float(age or 0), float(left or 0))


@login_not_required
@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Return all figures in Prometheus's text format, to those who may see them."""
    if not _may_see(request):
        refusal = HttpResponse(REFUSED, status=401, content_type="text/plain; charset=utf-8")
        refusal.headers["WWW-Authenticate"] = 'Bearer realm="perfdash metrics"'
        return refusal
    return HttpResponse(_cache.page(), content_type=CONTENT_TYPE_PLAIN_0_0_4)


def _may_see(request: HttpRequest) -> bool:
    """Return whether the request has the token or, if none is set, comes from this machine.

    The owner of the installation may always see the metrics, since they are of all teams. Behind a proxy
    all requests come from its machine, so the machine then permits nothing.
    """
    text = request.headers.get("Authorization", "").split()
    if settings.METRICS_TOKEN:
        if len(text) == 2 and text[0].lower() == "bearer":
            return compare_digest(text[1].encode(), settings.METRICS_TOKEN.encode())
    elif _is_local(request):
        return True
    return isinstance(request.user, User) and request.user.is_superuser


def _is_local(request: HttpRequest) -> bool:
    if settings.BEHIND_PROXY or any(name in request.headers for name in FORWARDED):
        return False
    try:
        return ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False


class _Cache:
    """Holds the last page for CACHE_SECONDS; one request at a time makes a new one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._page = b""
        self._until = 0.0

    def page(self) -> bytes:
        with self._lock:
            if monotonic() >= self._until:
                registry = CollectorRegistry()
                registry.register(_Perfdash())
                self._page = generate_latest(registry)
                self._until = monotonic() + CACHE_SECONDS
            return self._page


class _Perfdash(Collector):
    """Queries the metrics at every collection."""

    def describe(self) -> Iterable[Metric]:
        return ()  # else registering would collect

    def collect(self) -> Iterator[Metric]:
        yield InfoMetricFamily(
            "perfdash_build",
            "Versions.",
            {"version": settings.VERSION, "python": platform.python_version()},
        )
        try:
            result = figures()
        except DatabaseError:
            connection.close()
            result = None
        yield _one("perfdash_database_up", "1 where the database answered.", result is not None)
        if result is not None:
            yield from _of_database(result)
        pools = {CONTROL, ANALYSIS, *(result.workers if result else ()), *_pools(result)}
        yield from _of_broker(sorted(pools))


_cache = _Cache()


def _of_database(result: Figures) -> Iterator[Metric]:
    queue = GaugeMetricFamily(
        "perfdash_queue_runs",
        "Planned runs, by target, pool and the state of their campaigns.",
        labels=["target", "pool", "campaign_state"],
    )
    for waiting in result.queues:
        queue.add_metric([waiting.target, waiting.pool, waiting.campaign_state], waiting.runs)
    yield queue
    held = GaugeMetricFamily(
        "perfdash_lease_held_seconds",
        "Age of each lease that is held: of targets and of generator hosts.",
        labels=["of", "name"],
    )
    left = GaugeMetricFamily(
        "perfdash_lease_expires_seconds",
        "Seconds until each lease that is held ends, unless renewed; below 0 it has lapsed.",
        labels=["of", "name"],
    )
    for lease in result.leases:
        held.add_metric([lease.of, lease.name], lease.held_seconds)
        left.add_metric([lease.of, lease.name], lease.left_seconds)
    yield held
    yield left
    attempts = CounterMetricFamily(
        "perfdash_attempts", "Attempts on record, by state.", labels=["state"]
    )
    for state, number in result.attempts.items():
        attempts.add_metric([state], number)
    yield attempts
    yield _by("perfdash_runs", "Runs, by state.", "state", result.runs)
    yield _by("perfdash_campaigns", "Campaigns, by state.", "state", result.campaigns)
    yield _by("perfdash_lines", "Lines, by state.", "state", result.lines)
    alerts = GaugeMetricFamily(
        "perfdash_alerts", "Open alerts, by evidence and handling.", labels=["evidence", "handling"]
    )
    for labels, number in result.alerts.items():
        alerts.add_metric(list(labels), number)
    yield alerts
    yield _one(
        "perfdash_line_overdue_seconds",
        "How long the line that is due has waited to be looked at.",
        result.line_overdue_seconds,
    )
    yield _by("perfdash_workers", "Workers present, by pool.", "pool", result.workers)
    yield _one(
        "perfdash_analyses_waiting", "Campaigns with data to analyse.", result.analyses_waiting
    )
    yield _one(
        "perfdash_announcements_unread",
        "Announcements of which no deliveries were made yet.",
        result.announcements_unread,
    )
    yield _by("perfdash_deliveries", "Messages to people, by state.", "state", result.deliveries)
    yield _one(
        "perfdash_delivery_oldest_seconds",
        "How long the oldest message has waited.",
        result.oldest_delivery_seconds,
    )
    yield _one(
        "perfdash_channels_switched_off",
        "Channels that were switched off because nothing came through.",
        result.channels_off,
    )
    if result.dispatched_seconds_ago is not None:
        yield _one(
            "perfdash_dispatch_age_seconds",
            "Seconds since dispatch last looked.",
            float(result.dispatched_seconds_ago),
        )


def _of_broker(pools: list[str]) -> Iterator[Metric]:
    lengths = broker.queue_lengths(pools)
    yield _one("perfdash_broker_up", "1 where the broker answered.", lengths is not None)
    if lengths is not None:
        yield _by("perfdash_broker_messages", "Messages that wait, by queue.", "queue", lengths)


def _pools(result: Figures | None) -> set[str]:
    return {waiting.pool for waiting in result.queues} if result else set()


def _one(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, value=value)


def _by(name: str, text: str, label: str, values: dict[str, int]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, text, labels=[label])
    for key, number in values.items():
        family.add_metric([key], number)
    return family
