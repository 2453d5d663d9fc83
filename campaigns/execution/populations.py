"""Register the hosts of populations, and delete them at their servers. Some hosts at a time are registered and stored together.

Dispatch claims a population on a server that nobody measures, and sends a message; while the claim lasts no run begins there. A
worker that is lost does not renew its claim, and the next one goes on: hosts of a part that was not stored are deleted first.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from secrets import token_hex
from time import perf_counter_ns

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now

from campaigns.execution.workplace import workplace
from campaigns.kinds.base import Cancelled, Context, DriverError, HostIdentity, ParametersRefused
from campaigns.kinds.base import Target as TargetView
from campaigns.kinds.programs.deadline import monotonic
from campaigns.kinds.registration.katello import KatelloServer
from campaigns.kinds.registration.program.identities import forget, stored_identities
from campaigns.kinds.registration.requests import REGISTERS, again, registering
from campaigns.kit.database_clock import database_now
from campaigns.kit.encryption import SecretUnreadable
from campaigns.kit.mappings import ProgramRequest
from campaigns.kit.network import NetworkError
from campaigns.kit.redaction import storable
from campaigns.models import Population, PopulationPart, Target, TargetLease
from campaigns.targets import quiet
from campaigns.targets.populations.identities import (
    PART,
    identities_of,
    numbers_of,
    prefix_of,
    prefix_of_part,
    sealed,
)
from campaigns.targets.saving import as_driver_sees_it, rules_for

PART_SECONDS = 1800.0
"""The longest that the registration of one part may take."""
DELETION_SECONDS = 1800.0
AT_ONCE = 16
"""Hosts that register at a time: it is no load test."""
ROUNDS = 3
"""How often those of a part that failed try again."""
MOST_TRIES = 5
"""After so many failures in a row nobody goes on by himself."""
PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 20.0, 600.0
"""From a failure to the next try; it doubles."""
DOUBLINGS = 5
"""After so many the pause is the longest; a deletion is tried without an end."""
OWN_ERROR = "An error of perfdash itself:"
IN_THE_LOG = "The log of the worker has it whole."

log = logging.getLogger(__name__)
server = KatelloServer()


class QuietHoursBegan(Exception):
    """Nobody loads the server now; what is left is registered afterwards."""


class ClaimLost(Exception):
    """Another worker has the population by now, or somebody wants something else of it."""


def hosts_of(target: Target, number: int, most: int) -> list[HostIdentity]:
    """Return the first `most` hosts of a population of a target, for a run. Raise DriverError, SecretUnreadable."""
    ready = target.populations.filter(state=Population.State.READY)
    row = ready.filter(pk=number).first()
    if row is None:
        known = ", ".join(str(pk) for pk in ready.values_list("pk", flat=True)) or "none"
        raise DriverError(
            f"“{target}” has no population {number} that is ready; there are: {known}. Register one on the target's page."
        )
    if most > row.hosts:
        raise DriverError(f"Population {number} has {row.hosts} hosts, and {most} are asked for.")
    return identities_of(row, most)


def claim_populations() -> list[int]:
    """Claim and return the populations that somebody is to work on now; see `dispatch`, which calls it alone."""
    leased = TargetLease.objects.exclude(attempt=None).values("address")
    free = Population.objects.filter(
        Q(due_at=None) | Q(due_at__lte=Now()),
        Q(claimed_until=None) | Q(claimed_until__lt=Now()),
        state__in=Population.AT_WORK,
    ).exclude(target__address__in=leased)
    claimed, busy, now = [], addresses_at_work(), database_now()
    for row in free.select_related("target"):
        if row.target.address not in busy and not quiet.on_by(row.target, now):
            busy.add(row.target.address)
            claimed.append(row.pk)
            Population.objects.filter(pk=row.pk).update(
                claim=token_hex(8), claimed_until=Now() + timedelta(seconds=settings.LEASE_SECONDS)
            )
    return claimed


def addresses_at_work() -> set[str]:
    """Return the servers at which hosts of a population are registered or deleted now."""
    at_work = Population.objects.filter(claimed_until__gte=Now(), state__in=Population.AT_WORK)
    return set(at_work.values_list("target__address", flat=True))


def attend_in_thread(pk: int) -> None:
    """Work on a population, beside: other messages do not wait. The process ends without waiting for it."""
    threading.Thread(target=attend, args=(pk,), name="population", daemon=True).start()


def attend(pk: int) -> None:
    """Register or delete the hosts of a population that dispatch has claimed; a late message does nothing."""
    try:
        claim = _Claim.of(pk)
        if claim is not None:
            with claim:
                _attend(claim)
    except (DatabaseError, InterfaceError) as error:
        log.warning("Population %s waits for the database: %s", pk, error)
    finally:
        connection.close()


class _Claim:
    """The claim of one worker, renewed in a thread. cancelled: set once it is lost."""

    def __init__(self, row: Population) -> None:
        self.row = row
        self.cancelled = threading.Event()
        self._ended = threading.Event()
        self._until = monotonic() + settings.LEASE_SECONDS
        self._thread = threading.Thread(target=self._keep, name="claim", daemon=True)

    @classmethod
    def of(cls, pk: int) -> "_Claim | None":
        """Take over what dispatch has claimed; None where another worker has, or nobody claimed it."""
        row = Population.objects.select_related("target").filter(pk=pk).first()
        if row is None:
            return None
        token = token_hex(16)
        mine = Population.objects.filter(
            pk=pk, claim=row.claim, claimed_until__gte=Now(), state=row.state
        )
        until = Now() + timedelta(seconds=settings.LEASE_SECONDS)
        if len(row.claim) != 16 or not mine.update(claim=token, claimed_until=until):
            return None
        row.claim = token
        return cls(row)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *exc_info: object) -> None:
        self._ended.set()
        self._thread.join()
        mine = Population.objects.filter(pk=self.row.pk, claim=self.row.claim)
        mine.update(claim="", claimed_until=None)

    def lease_seconds(self) -> float:
        """Return how long the claim is certain."""
        return 0.0 if self.cancelled.is_set() else self._until - monotonic()

    def update(self, **columns: object) -> None:
        """Change columns of the row. Raise ClaimLost."""
        if not self._mine().update(**columns):
            raise ClaimLost

    def _mine(self) -> QuerySet[Population]:
        return Population.objects.filter(pk=self.row.pk, claim=self.row.claim, state=self.row.state)

    def _keep(self) -> None:
        try:
            while not self._ended.wait(settings.LEASE_SECONDS / 4):
                began = monotonic()
                try:
                    until = Now() + timedelta(seconds=settings.LEASE_SECONDS)
                    if not self._mine().update(claimed_until=until):
                        self.cancelled.set()
                        return
                    self._until = began + settings.LEASE_SECONDS
                except (DatabaseError, InterfaceError) as error:
                    connection.close()
                    log.warning("A claim of %s is not renewed: %s", self.row, error)
        finally:
            connection.close()


def _attend(claim: _Claim) -> None:
    """Do what the row asks for, and note how that ended."""
    row = claim.row
    try:
        if row.state == Population.State.MAKING:
            _register(claim)
            claim.update(state=Population.State.READY, problem="", tries=0)
        else:
            _delete(claim)
    except (ClaimLost, Cancelled, QuietHoursBegan):
        return
    except (DriverError, NetworkError, SecretUnreadable, OSError) as error:
        _note_failure(claim, str(error), _is_lasting(error))
    except (OperationalError, InterfaceError):
        raise  # the database is away: nothing can be noted there
    except Exception as error:
        log.exception("%s: an error of perfdash itself", row)
        _note_failure(claim, f"{OWN_ERROR} {type(error).__name__}: {error}. {IN_THE_LOG}")


def _is_lasting(error: Exception) -> bool:
    """Return whether another try cannot succeed."""
    return isinstance(error, ParametersRefused) or bool(getattr(error, "lasting", False))


def _note_failure(claim: _Claim, problem: str, lasting: bool = False) -> None:
    """Note why it failed, and when the next try is. One that cannot succeed, or failed often, waits for a person."""
    row = claim.row
    failed = Population.objects.filter(pk=row.pk).values_list("tries", flat=True).first()
    if failed is None:
        return  # somebody let it be forgotten meanwhile
    tries = failed + 1
    pause = min(LONGEST_PAUSE_SECONDS, PAUSE_SECONDS * 2 ** min(failed, DOUBLINGS))
    columns: dict[str, object] = {
        "problem": storable(problem)[:2000],
        "tries": tries,
        "due_at": Now() + timedelta(seconds=pause),
    }
    if row.state == Population.State.MAKING and (lasting or tries >= MOST_TRIES):
        columns["state"] = Population.State.FAILED
    try:
        claim.update(**columns)
    except ClaimLost:
        return


def _register(claim: _Claim) -> None:
    """Register all parts that are not stored. Raise ClaimLost, Cancelled, QuietHoursBegan, DriverError."""
    row = claim.row
    stored = set(row.parts.values_list("number", flat=True))
    missing = [part for part in range(-(-row.hosts // PART)) if part not in stored]
    with _context(claim, PART_SECONDS) as (target, context):
        server.known(target, _parameters(row), context)
        for part in missing:
            if quiet.on_by(row.target, database_now()):
                raise QuietHoursBegan
            server.remove_named(target, prefix_of_part(row, part), context)
            identities = _registered(row, part, target, context)
            _store(claim, part, identities)
            forget(context.directory)


def _registered(
    row: Population, part: int, target: TargetView, context: Context
) -> list[HostIdentity]:
    """Register the hosts of a part, and return their identities. Raise DriverError where some fail."""
    numbers = list(numbers_of(row, part))
    request = _request(row, target, context)
    at_once = min(AT_ONCE, context.most_concurrent or AT_ONCE)
    left, failures = numbers, {}
    for round_ in range(ROUNDS):
        context.check()
        outcome = context.generate(
            REGISTERS, [again(request, left, at_once, round_, PART_SECONDS)], PART_SECONDS + 60
        )
        rows = outcome.samples
        failed = [
            number
            for number, failure in zip(rows.get("number", ()), rows.get("failure", ()), strict=True)
            if failure
        ]
        failures = dict(outcome.result.get("examples") or {})
        left = sorted({*failed, *(set(left) - set(rows.get("number", ())))})
        if not left:
            break
    if left:
        why = next(iter(failures.values()), "no reason is known")
        raise DriverError(f"{len(left)} of {len(numbers)} hosts did not register: {why}")
    known = {each.name: each for each in stored_identities(context.directory)}
    identities = [known.get(f"{request['prefix']}{n:05d}.{request['domain']}") for n in numbers]
    return [
        HostIdentity(each.uuid, each.certificate, each.key, each.name)
        for each in identities
        if each is not None
    ]


def _store(claim: _Claim, part: int, identities: list[HostIdentity]) -> None:
    """Store a part. Raise ClaimLost, and store nothing then; the next worker deletes its hosts."""
    with transaction.atomic():
        claim.update(registered=F("registered") + len(identities), tries=0, problem="")
        PopulationPart.objects.create(
            population=claim.row,
            number=part,
            hosts=len(identities),
            identities=sealed(claim.row, identities),
        )


def _delete(claim: _Claim) -> None:
    """Delete the hosts at the server, then the row. Raise ClaimLost, Cancelled, DriverError."""
    name = str(claim.row)  # a row that is deleted has no number
    with _context(claim, DELETION_SECONDS) as (target, context):
        removed = server.remove_named(target, prefix_of(claim.row), context)
    with transaction.atomic():
        claim.update(registered=0)
        claim.row.delete()
    log.info("%s is deleted, with %d hosts at its server", name, removed)


def _request(row: Population, target: TargetView, context: Context) -> ProgramRequest:
    request = registering(target, _parameters(row), context, PART_SECONDS)
    return {**request, "prefix": prefix_of(row)}


def _parameters(row: Population) -> dict[str, object]:
    """Return the parameters of the kind `registration` by which the hosts register."""
    return {
        "hosts": row.hosts,
        "organization": row.organization,
        "activation_keys": row.activation_keys,
        "profile": "rhsm-1.30",
        "packages": 0,
        "start": "barrier",
        "ramp_seconds": 0.0,
        "timeout_seconds": 180.0,
    }


@contextmanager
def _context(claim: _Claim, seconds: float) -> Iterator[tuple[TargetView, Context]]:
    """Yield the target and a context, with a directory that holds keys until the block is left."""
    row = claim.row
    target = as_driver_sees_it(row.target)
    with workplace(settings.WORK_DIRECTORY, row.pk) as directory:
        yield (
            target,
            Context(
                cancelled=claim.cancelled,
                lease_seconds=claim.lease_seconds,
                progress=lambda values: None,
                say=lambda text: log.info("%s: %s", row, text),
                clock=perf_counter_ns,
                directory=directory,
                rules=rules_for(row.target),
                deadline_seconds=seconds,
                sender=f"perfdash population/{row.pk}",
                most_concurrent=row.target.max_concurrency,
                most_per_second=row.target.max_requests_per_second,
            ),
        )
