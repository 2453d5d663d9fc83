"""The run's side of several generators: request them, start all at one instant, add up their results.

They communicate by rows and the database's clock. From the start to the end of the load nothing is written
here; rows are read, as the keeper reads whether somebody cancelled.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NoReturn

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection, transaction
from django.db.models import Q
from django.db.models.functions import Now

from campaigns.execution import progress
from campaigns.execution.generators.messages import Order, TooLarge, pack_order
from campaigns.execution.generators.totals import Gathered, added_progress
from campaigns.execution.keeper import Keeper, LeaseLost
from campaigns.execution.parcels import key_of_attempt
from campaigns.kinds.base import Cancelled, GeneratorFailed, Measured
from campaigns.kinds.base.generating import POOL, Progress, read_pools
from campaigns.kinds.programs.deadline import monotonic
from campaigns.kinds.programs.program import Outcome
from campaigns.kit.mappings import Parameters, ProgramRequest
from campaigns.kit.units import written
from campaigns.models import Attempt, Generator

MOST_TOLD = 3
LOOK_SECONDS = 0.2
START_MARGIN_SECONDS = 2.0
"""How far ahead the start is set, so that all generators learn of it."""
END_SECONDS = 15.0
"""How much longer than its program a generator may take to store its results."""

TELL_SECONDS = 1.0
"""Seconds between two reports of the common progress."""
HEAR_SECONDS = 2.0
"""Seconds until the keeper learns what its generators have learned."""

Ask = Callable[[int], None]
"""Sends the messages for the wanted generators of an attempt."""


@dataclass(frozen=True, slots=True)
class Party:
    """The generators of one load: `part` of the attempt. cancelled: set where this load has to end, beside the whole run."""

    attempt: Attempt
    part: int
    size: int
    cancelled: threading.Event

    @property
    def rows(self) -> Any:
        """The rows of its generators, by their numbers."""
        return Generator.objects.filter(attempt=self.attempt, part=self.part).order_by("number")


class Gathering:
    """The implementation of `Context.generate` for several generators."""

    def __init__(
        self,
        attempt: Attempt,
        keeper: Keeper,
        parameters: Parameters,
        ask: Ask,
        say: Callable[[str], None],
    ) -> None:
        self.attempt = attempt
        self.keeper = keeper
        self.pools = read_pools(str(parameters.get("generator_pools") or POOL))
        self.ask = ask
        self.say = say
        self.gathered: list[Gathered] = []

    def __call__(
        self,
        module: str,
        requests: Sequence[ProgramRequest],
        deadline_seconds: float,
        tell: Progress,
        cancelled: threading.Event,
    ) -> Outcome:
        """Run a load program with several requests at once; return the sum of their results.

        Raise Cancelled, or GeneratorFailed where a generator did not start, or was lost.
        """
        party = self._ask_for(module, requests, deadline_seconds, cancelled)
        try:
            self._wait_until_ready(party)
            self._set_the_start(party)
            self._wait_until_done(party, deadline_seconds, tell)
        except BaseException:
            self._stop(party)
            raise
        gathered = Gathered(self.keeper.patiently(lambda: list(party.rows)), self.attempt)
        self.keeper.patiently(gathered.store_health)
        self.gathered.append(gathered)
        return gathered.outcome

    def judged(self, measured: Measured) -> Measured:
        """Return the results with the worst verdict on any of the generators."""
        for gathered in self.gathered:
            measured = gathered.judged(measured)
        return measured

    def _ask_for(
        self,
        module: str,
        requests: Sequence[ProgramRequest],
        deadline_seconds: float,
        cancelled: threading.Event,
    ) -> Party:
        whole = deadline_seconds + settings.GENERATORS_SECONDS
        try:
            key = key_of_attempt(self.attempt.pk)
            orders = [pack_order(Order(request, whole), key) for request in requests]
        except TooLarge as error:
            raise GeneratorFailed(str(error)) from error

        @transaction.atomic
        def make() -> Party:
            party = Party(self.attempt, len(self.gathered) + 1, len(orders), cancelled)
            if not party.rows.exists():  # the answer to an earlier try may have been lost
                Generator.objects.bulk_create(
                    Generator(
                        attempt=self.attempt,
                        part=party.part,
                        number=number,
                        pool=self.pools[(number - 1) % len(self.pools)],
                        module=module,
                        request=order,
                    )
                    for number, order in enumerate(orders, start=1)
                )
            return party

        party = self.keeper.patiently(make)
        self.say(f"asks for {party.size} generators of the pools {', '.join(self.pools)}")
        self.keeper.patiently(lambda: self.ask(self.attempt.pk))
        return party

    def _wait_until_ready(self, party: Party) -> None:
        begun = monotonic()
        while True:
            is_late = monotonic() > begun + settings.GENERATORS_SECONDS  # before the last look
            rows = self._look(party)
            ready = [row for row in rows if row.state == Generator.State.READY]
            self.keeper.report({"generators": f"{len(ready)} of {party.size} ready"})
            if len(ready) == party.size:
                return
            if is_late:
                self._too_few(party, rows, len(ready))
            time.sleep(LOOK_SECONDS)

    def _set_the_start(self, party: Party) -> None:
        """Set one start for all. Raise GeneratorFailed where a generator has ended meanwhile."""
        leased = settings.LEASE_SECONDS - settings.LEASE_MARGIN_SECONDS
        margin = timedelta(seconds=min(START_MARGIN_SECONDS, leased / 2))

        @transaction.atomic
        def start() -> None:
            list(party.rows.select_for_update())
            ready = party.rows.filter(
                Q(state=Generator.State.READY) | Q(start_at__isnull=False),
                expires_at__gt=Now() + margin,
            )
            count = ready.count()
            if count < party.size:
                self._too_few(party, list(party.rows), count)
            ready.filter(start_at=None).update(start_at=Now() + margin)

        self.keeper.patiently(start)
        rows = self._look(party)
        worst = max(row.clock_uncertainty_seconds or 0.0 for row in rows)
        self.say(
            f"all {party.size} generators are ready; they begin together at {rows[0].start_at:%H:%M:%S.%f}"
            f" of the database's clock, which each knows to ±{worst * 1000:.1f} ms or better"
        )

    def _wait_until_done(self, party: Party, deadline_seconds: float, tell: Progress) -> None:
        tell_at = 0.0
        until = monotonic() + START_MARGIN_SECONDS + deadline_seconds + END_SECONDS
        while True:
            rows = self._look(party)
            if all(row.state == Generator.State.DONE for row in rows):
                return
            if monotonic() > until:
                row = next(row for row in rows if row.state != Generator.State.DONE)
                raise GeneratorFailed(f"{_named(row, party)} did not end in time.")
            if monotonic() > tell_at:
                tell_at = monotonic() + TELL_SECONDS
                texts = (progress.read(progress.of_generator(row.pk)) for row in rows)
                if parts := [part for part in texts if part]:
                    tell(added_progress(parts))
            time.sleep(LOOK_SECONDS)

    def _look(self, party: Party) -> list[Generator]:
        """Read the rows. Raise Cancelled, or GeneratorFailed where one of them has ended."""
        if party.cancelled.is_set() or self.keeper.cancelled.is_set():
            raise Cancelled
        if self.keeper.lease_seconds() <= 0:
            raise Cancelled
        now = self.keeper.patiently(lambda: list(party.rows.defer("request", "result", "samples")))
        for row in now:
            if row.state in (Generator.State.FAILED, Generator.State.LATE):
                if row.stop_at and self.keeper.cancelled.wait(HEAR_SECONDS):
                    raise Cancelled
                raise GeneratorFailed(f"{_named(row, party)} {_how(row)}: {row.reason}")
        lapsed = party.rows.filter(state__in=Generator.LOADING, expires_at__lt=Now())
        for row in self.keeper.patiently(lambda: list(lapsed.defer("request"))):
            raise GeneratorFailed(
                f"{_named(row, party)} was lost: its worker gave no sign for as long as the lease lasts."
            )
        return now

    def _too_few(self, party: Party, rows: Sequence[Generator], ready: int) -> NoReturn:
        missing = [
            row for row in rows if row.state in (Generator.State.WANTED, Generator.State.CLAIMED)
        ]
        notes = [f"{_named(row, party)} {_missing(row)}." for row in missing[:MOST_TOLD]]
        if more := len(missing) - len(notes):
            notes.append(f"{more} more did not come either.")
        raise GeneratorFailed(
            f"{ready} of {party.size} generators came within {written(settings.GENERATORS_SECONDS)}. "
            + " ".join(notes)
        )

    def _stop(self, party: Party) -> None:
        """Stop all, and return when none of them can load the target any more.

        Where the lease was lost no request is needed: they stop by themselves before it ends.
        """
        rows = party.rows.filter(state__in=Generator.OPEN)
        while self.keeper.lease_seconds() > 0:
            try:
                rows.filter(stop_at=None).update(stop_at=Now())
                loading = rows.filter(state__in=Generator.LOADING).exclude(expires_at__lt=Now())
                if not self.keeper.patiently(loading.exists):
                    return
            except (DatabaseError, InterfaceError, LeaseLost):
                connection.close()
            time.sleep(LOOK_SECONDS)


def _named(row: Generator, party: Party) -> str:
    where = f"{row.worker} on {row.host}" if row.worker else f"pool {row.pool}"
    return f"Generator {row.number} of {party.size} ({where})"


def _how(row: Generator) -> str:
    return "came too late" if row.state == Generator.State.LATE else "failed"


def _missing(row: Generator) -> str:
    if row.state == Generator.State.CLAIMED:
        return "was still preparing itself"
    if row.reason:
        return f"waits: {row.reason}"
    return "was taken by no worker; look whether one runs, and has room (--concurrency)"
