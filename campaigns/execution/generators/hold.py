"""Supervise one generator's program: end it with the run's lease, stop or start it on request.

A thread of the worker. The lease belongs to the run, whose own keeper renews it; this one only reads how
long it lasts, so that no generator outlives the run. It writes that instant into its row, which bounds the
end of its load for everybody else.
"""

import logging
import threading
from contextvars import copy_context
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.db.models.functions import Now

from campaigns.execution.keeper import LOOK_SECONDS, NOT_RENEWED
from campaigns.kinds.programs.deadline import monotonic
from campaigns.kit.mappings import Json, JsonObject
from campaigns.models import Attempt, Generator

START_LOOK_SECONDS = 0.1
"""Seconds between two looks for the start, once the program is ready."""
LEAST_AHEAD_SECONDS = 0.05
"""The start must be so far ahead for the program to learn of it in time."""
RENEW = """
    UPDATE campaigns_generator generator SET expires_at = lease.expires_at
    FROM campaigns_targetlease lease
    WHERE generator.id = %s AND generator.state IN ('claimed', 'ready', 'started')
    AND lease.attempt_id = generator.attempt_id AND lease.token = %s
    RETURNING extract(epoch FROM lease.expires_at - clock_timestamp())::float8
"""

log = logging.getLogger(__name__)

TRIPS = 15


class Hold:
    """A context manager around the program.

    why: why the program was stopped. late: because it could not begin with the others. stopped_by_run: the
    fields of the row that record that the run itself was stopped.
    """

    def __init__(self, generator: Generator) -> None:
        self.generator = generator
        self.cancelled = threading.Event()
        self.why = ""
        self.late = False
        self.stopped_by_run: JsonObject = {}
        self._ready = threading.Event()
        self._offset: ClockOffset | None = None
        self._start_at: float | None = None
        self._certain_until = 0.0
        self._renew_at = 0.0
        self._done = threading.Event()
        self._thread = threading.Thread(
            target=copy_context().run, args=(self._keep,), name="hold", daemon=True
        )

    def __enter__(self) -> "Hold":
        """Read the row once, so that the program has a lease to begin with."""
        self._try(self._mind)
        self._stop_where_the_lease_is_over()
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._done.set()
        self._thread.join(timeout=5)

    def lease_seconds(self) -> float:
        """Return how long the run's lease is certain; 0 or less: stop at once."""
        return self._certain_until - monotonic()

    def ready(self, values: Json) -> None:
        """Record that the program is prepared."""
        self._ready.set()

    def start_at(self) -> float | None:
        """Return the instant of `monotonic` at which the program begins; None while it is unknown."""
        if self._start_at is not None and monotonic() > self._start_at - LEAST_AHEAD_SECONDS:
            self._come_late(monotonic() - self._start_at)
            return None
        return self._start_at

    @property
    def started(self) -> bool:
        """Return whether the instant of the start was known here."""
        return self._start_at is not None

    def _keep(self) -> None:
        try:
            while not self._done.wait(self._pause()):
                self._try(self._mind)
                self._stop_where_the_lease_is_over()
        finally:
            connection.close()

    def _pause(self) -> float:
        waits = self._ready.is_set() and self._start_at is None
        return START_LOOK_SECONDS if waits else LOOK_SECONDS

    def _try(self, action: Any) -> None:
        try:
            action()
        except (DatabaseError, InterfaceError) as error:
            connection.close()
            log.warning("Generator %s hears nothing of its run: %s", self.generator.pk, error)

    def _mind(self) -> None:
        if self.cancelled.is_set():
            return
        if monotonic() >= self._renew_at:
            self._renew()
            self._renew_at = monotonic() + settings.RENEW_SECONDS
        self._look()

    def _renew(self) -> None:
        began = monotonic()
        with connection.cursor() as cursor:
            cursor.execute(RENEW, [self.generator.pk, self.generator.attempt.token])
            row = cursor.fetchone()
        if row is None or row[0] is None:
            self._stop("the run has ended, or lost its lease")
            return
        self._certain_until = began + row[0] - settings.LEASE_MARGIN_SECONDS

    def _look(self) -> None:
        """Read whether the end or the start was requested. A missing row means the end."""
        row = Generator.objects.select_related("attempt").filter(pk=self.generator.pk).first()
        if row is None or row.attempt.state != Attempt.State.RUNNING:
            self._stop("the run has ended")
        elif row.attempt.cancel_requested_at or row.attempt.interrupted_at:
            self.stopped_by_run = {"stop_at": Now()}
            self._stop("the run was told to stop")
        elif row.stop_at or row.state not in Generator.LOADING:
            self._stop(row.reason or "the run needs it no more")
        elif self._ready.is_set() and self._offset is None:
            self._report_ready()
        elif self._offset is not None and self._start_at is None and row.start_at is not None:
            self._begin(self._offset.here(row.start_at))

    def _report_ready(self) -> None:
        offset = measure_offset()
        mine = Generator.objects.filter(pk=self.generator.pk, state=Generator.State.CLAIMED)
        mine.update(
            state=Generator.State.READY,
            ready_at=Now(),
            clock_offset_seconds=offset.wall,
            clock_uncertainty_seconds=offset.uncertainty,
        )
        self._offset = offset

    def _begin(self, start_at: float) -> None:
        ahead = start_at - monotonic()
        if ahead < LEAST_AHEAD_SECONDS:
            self._come_late(-ahead)
            return
        mine = Generator.objects.filter(pk=self.generator.pk, state=Generator.State.READY)
        mine.update(state=Generator.State.STARTED)  # before the clock runs
        self._start_at = start_at

    def _come_late(self, seconds: float) -> None:
        self.late = True
        self._stop(
            f"it heard of the start {max(0.0, seconds):.1f} s late: its machine, or its way to the "
            "database, stood still"
        )

    def _stop_where_the_lease_is_over(self) -> None:
        if self.lease_seconds() <= 0:
            self._stop(NOT_RENEWED)

    def _stop(self, why: str) -> None:
        if not self.cancelled.is_set():
            self.why = why
            self.cancelled.set()


@dataclass(frozen=True, slots=True)
class ClockOffset:
    """Seconds to add to a clock of this machine to get the database's.

    monotonic: for `deadline.monotonic`; wall: for the time of day, with which people compare hosts.
    uncertainty: half of the shortest round trip, the largest possible error.
    """

    monotonic: float
    wall: float
    uncertainty: float

    def here(self, instant: datetime) -> float:
        """Return an instant of the database's clock as one of `deadline.monotonic`."""
        return instant.timestamp() - self.monotonic


def measure_offset(trips: int = TRIPS) -> ClockOffset:
    """Measure the offset several times, and return that of the shortest round trip."""
    return min((_trip() for _ in range(trips)), key=lambda offset: offset.uncertainty)


def _trip() -> ClockOffset:
    with connection.cursor() as cursor:
        wall, before = datetime.now(UTC).timestamp(), monotonic()
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
        row = cursor.fetchone()
        half = (monotonic() - before) / 2
    return ClockOffset(row[0] - (before + half), row[0] - (wall + half), half)
