"""Keep one attempt: renew its leases, watch for cancellation and limits, pass progress on.

A thread of the worker's child. It stops the load at its own monotonic deadline, the time to live minus a
margin after the last confirmed renewal, whatever the database does.

It applies the limits of its own run, time budget and quiet hours, so that they hold where dispatch does not
look. It limits the length of each step, too: a step that takes too long is stopped, and where that fails,
because a thread hangs, the keeper has the outcome stored and the whole process killed.
"""

import logging
import threading
from collections.abc import Callable
from contextvars import copy_context
from datetime import UTC, datetime
from math import inf
from typing import TypeVar

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection

from campaigns.execution import progress
from campaigns.execution.leases import renew
from campaigns.kinds.programs.deadline import monotonic
from campaigns.kit import redaction
from campaigns.kit.mappings import ProgramProgress
from campaigns.kit.units import written
from campaigns.models import Attempt
from campaigns.planning.lifecycle.stopping import apply_limits

LOOK_SECONDS = 0.4
LIMITS_SECONDS = 1.0
"""Seconds between two checks of the limits."""
STOP_SECONDS = 30.0
"""Seconds that a step may take to end after it was stopped."""
HUNG_SECONDS = 10.0
"""Seconds after the end of its time from which a step counts as hung."""
RETRY_SECONDS = 0.5
NOT_RENEWED = "the lease could not be renewed in time"

log = logging.getLogger(__name__)
Result = TypeVar("Result")


class LeaseLost(Exception):
    """No renewal was confirmed in time, or another worker holds the lease; the load was stopped."""


class Keeper:
    """A context manager around everything that uses the target.

    claimed_at: monotonic seconds from before the claim. late: the load was stopped because a step took too
    long. when_hung: called where a step does not end even then; it does not return. every_moment: called while the database answers.
    """

    def __init__(self, attempt: Attempt, claimed_at: float) -> None:
        self.attempt = attempt
        self.late = False
        self.when_hung: Callable[[], None] = lambda: None
        self.every_moment: Callable[[], None] = lambda: None
        self._step, self._step_seconds, self._step_ends_at = "", inf, inf
        self._stepping = threading.RLock()
        self.cancelled = threading.Event()
        self.why = ""
        self.lost = False
        self.interrupted = False
        self._done = threading.Event()
        self._certain_until = claimed_at + settings.LEASE_SECONDS - settings.LEASE_MARGIN_SECONDS
        self._renew_at = claimed_at + settings.RENEW_SECONDS  # a claim from far away takes seconds
        self._limits_at = monotonic() + LIMITS_SECONDS
        self._thread = threading.Thread(
            target=copy_context().run, args=(self._keep,), name="keeper", daemon=True
        )
        self._progress: ProgramProgress = {}
        self._unwritten = self._written = False

    def __enter__(self) -> "Keeper":
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._done.set()
        self._thread.join(timeout=5)
        if self._written:
            progress.forget(self.attempt.pk)

    def lease_seconds(self) -> float:
        """Return how long the lease is certain; 0 or less: stop at once."""
        return 0.0 if self.lost else self._certain_until - monotonic()

    def report(self, values: ProgramProgress, *, at_once: bool = True) -> None:
        """Store the progress of the attempt; unless `at_once`, in a moment, where it lasts that long."""
        self._progress |= redaction.redact_all(values)
        self._unwritten = True
        if at_once:
            self._write_progress()

    def _write_progress(self) -> None:
        self._unwritten, self._written = False, True
        progress.write(self.attempt.pk, {**self._progress, "at": datetime.now(UTC).isoformat()})

    def begin(self, step: str, seconds: float) -> None:
        """Watch a step that may take so many seconds, until the next one begins."""
        with self._stepping:
            self._step, self._step_seconds = step, seconds
            self._step_ends_at = monotonic() + seconds

    def rest(self) -> None:
        """Stop watching steps: nothing loads the target."""
        self.begin("", inf)

    def patiently(self, action: Callable[[], Result]) -> Result:
        """Act on the database; while it is away try again, as long as the lease lasts.

        Raise LeaseLost where it did not return in time.
        """
        while True:
            try:
                return action()
            except (OperationalError, InterfaceError) as error:
                connection.close()
                if self.lease_seconds() <= 0:
                    raise LeaseLost(f"the database did not answer: {error}") from error
                log.warning("Attempt %s waits for the database: %s", self.attempt.pk, error)
                self._done.wait(RETRY_SECONDS)

    def _keep(self) -> None:
        try:
            while not self._done.wait(LOOK_SECONDS):
                try:
                    self._mind()
                    self.every_moment()
                    if self._unwritten:
                        self._write_progress()
                except (DatabaseError, InterfaceError) as error:
                    connection.close()
                    log.warning("Attempt %s: the lease is not renewed: %s", self.attempt.pk, error)
                self._stop_where_the_lease_is_over()
                self._watch_step()
        finally:
            connection.close()

    def _mind(self) -> None:
        """Check once, first the own deadline: an expired lease is not renewed.

        This process may have been stopped for longer than the lease.
        """
        self._stop_where_the_lease_is_over()
        if self.lost:
            return
        if monotonic() >= self._renew_at:
            self._renew()
            self._renew_at = monotonic() + settings.RENEW_SECONDS
        if not self.cancelled.is_set() and monotonic() >= self._limits_at:
            self._limits_at = monotonic() + LIMITS_SECONDS
            apply_limits(self.attempt.pk)
        if not self.lost:
            self._look()

    def _stop_where_the_lease_is_over(self) -> None:
        if self.lease_seconds() <= 0 and not self.lost:
            self._stop(NOT_RENEWED, lost=True)

    def _renew(self) -> None:
        began = monotonic()
        if not renew(self.attempt):
            self._stop("somebody else holds the target's lease", lost=True)
            return
        self._certain_until = began + settings.LEASE_SECONDS - settings.LEASE_MARGIN_SECONDS

    def _look(self) -> None:
        """Read whether somebody requested the end. A missing row counts as lost."""
        requested = (
            Attempt.objects.filter(pk=self.attempt.pk, state=Attempt.State.RUNNING)
            .values_list(
                "cancel_requested_at",
                "interrupted_at",
                "run__reason",
                "run__campaign__state_reason",
            )
            .first()
        )
        if requested is None:
            self._stop("the attempt was taken as lost", lost=True)
        elif requested[0] is not None:
            self._stop(requested[2] or requested[3] or "cancelled")
        elif requested[1] is not None:
            self.interrupted = True
            self._stop(requested[2] or "the worker was shut down")

    def _watch_step(self) -> None:
        """Stop a step when its time is over; have the process killed where the step hangs."""
        with self._stepping:
            over = monotonic() - self._step_ends_at
            if over > HUNG_SECONDS:
                self.when_hung()
            elif over > 0 and not self.cancelled.is_set():
                self.late = True
                self._stop(f"{self._step} took longer than {written(self._step_seconds)}")

    def _stop(self, why: str, *, lost: bool = False) -> None:
        if self.cancelled.is_set():
            return
        with self._stepping:
            if self._step:  # an outcome that waits for the database may wait on
                self._step_ends_at = min(self._step_ends_at, monotonic() + STOP_SECONDS)
            self.why, self.lost = why, lost
            self.cancelled.set()
