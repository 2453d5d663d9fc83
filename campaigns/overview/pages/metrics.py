"""/metrics for Prometheus: computed from the database when it is asked for, kept for a few seconds."""

import platform
import threading
from collections.abc import Iterable, Iterator
from ipaddress import ip_address
from secrets import compare_digest
from time import monotonic

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.db import DatabaseError, connection
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
from campaigns.overview.figures import Figures, figures

KEPT_SECONDS = 5.0
"""However often somebody asks: what is measured on this machine must not feel it."""
FORWARDED = ("X-Forwarded-For", "X-Forwarded-Proto", "X-Real-IP", "Forwarded", "Via")
"""Headers that only a proxy sends."""
REFUSED = (
    "Metrics are for this machine and for the owner of the installation. Elsewhere, set "
    "PERFDASH_METRICS_TOKEN and send `Authorization: Bearer` with it.\n"
)


@login_not_required
@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Return all figures in Prometheus's text format, to those who may see them."""
    if not _may_see(request):
        refusal = HttpResponse(REFUSED, status=401, content_type="text/plain; charset=utf-8")
        refusal.headers["WWW-Authenticate"] = 'Bearer realm="perfdash metrics"'
        return refusal
    return HttpResponse(_kept.page(), content_type=CONTENT_TYPE_PLAIN_0_0_4)


def _may_see(request: HttpRequest) -> bool:
    """Token where one is set, else this machine; or the owner of the installation: they are of all teams.

    Behind a proxy everybody seems to come from its machine, which is why that opens nothing then.
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


class _Kept:
    """The last page, for everybody who asks within KEPT_SECONDS; one at a time makes a new one."""

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
                self._until = monotonic() + KEPT_SECONDS
            return self._page


class _Perfdash(Collector):
    """Counts anew at every collection."""

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


_kept = _Kept()


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
