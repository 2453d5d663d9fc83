"""Serve as one generator of a run: claim its row, supervise its program, store its results.

Nobody waits for this task; the row has everything that others need to know.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import sleep

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models.functions import Now

from campaigns.execution import machine, progress
from campaigns.execution.generators.hold import Hold
from campaigns.execution.generators.messages import TooLarge, pack_outcome, unpack_order
from campaigns.execution.leases import lease_host
from campaigns.execution.parcels import key_of_attempt, opened_for_attempt
from campaigns.execution.workplace import NoWorkplace, workplace
from campaigns.kinds.programs.health import is_local
from campaigns.kinds.programs.program import ProgramFailed, run_program
from campaigns.kinds.registry import UnknownKind, driver_of
from campaigns.kit import log_context, redaction
from campaigns.kit.encryption import SecretUnreadable
from campaigns.kit.mappings import JsonObject, ProgramRequest
from campaigns.kit.redaction import storable
from campaigns.models import Attempt, Generator, GeneratorLease, TargetLease
from campaigns.planning.configurations import run_values
from campaigns.targets.saving import as_driver_sees_it

PAUSE_SECONDS = 0.5
BROKE = (NoWorkplace, ProgramFailed, SecretUnreadable, TooLarge, UnknownKind, OSError)

log = logging.getLogger(__name__)


def generate(generator_pk: int, worker: str, host: str, key: str = "") -> None:
    """Claim a generator's row and run its program; do nothing where the message is old.

    key: of its attempt, for a worker without encryption keys.
    """
    generator = claim_generator(generator_pk, worker, host)
    if generator is None:
        return
    run = generator.attempt.run
    log_context.add(attempt=generator.attempt_id, campaign=run.campaign_id, run=run.position)
    log.info("Generator %s is claimed.", generator.number)
    with Hold(generator) as hold:
        end = _outcome(generator, hold, key)
        _close(generator, end)
    log.info("Generator %s ended: %s. %s", generator.number, end["state"], end["reason"])


@transaction.atomic
def claim_generator(generator_pk: int, worker: str, host: str) -> Generator | None:
    """Claim a row for this worker; None where the message is old, or the host measures another run.

    A row that is not claimed stays wanted, with the reason.
    """
    wanted = Generator.objects.filter(pk=generator_pk, state=Generator.State.WANTED, stop_at=None)
    attempt = (
        Attempt.objects.select_for_update(of=("self",), no_key=True)
        .filter(generators__in=wanted, state=Attempt.State.RUNNING)
        .first()
    )
    if attempt is None:
        return None
    leases = TargetLease.objects.filter(attempt=attempt, token=attempt.token, expires_at__gt=Now())
    lease = leases.first()
    if lease is None:
        return None
    generators = Generator.objects.select_related(
        "attempt__run__campaign__target", "attempt__run__cell__target"
    )
    if not lease_host(generators.get(pk=generator_pk).attempt, host):
        holder = GeneratorLease.objects.filter(host=host).values_list("holder", flat=True).first()
        wanted.update(reason=f"{host} is measuring {holder or 'something else'}")
        return None
    if not wanted.update(
        state=Generator.State.CLAIMED,
        claimed_at=Now(),
        worker=worker,
        host=host,
        reason="",
        expires_at=lease.expires_at,
    ):
        return None
    return generators.get(pk=generator_pk)


def stop_generators_of(worker: str) -> int:
    """Stop the runs whose generators a worker serves, since it shuts down; they will be repeated."""
    mine = Generator.objects.filter(worker=worker, state__in=Generator.LOADING)
    running = Attempt.objects.filter(
        pk__in=mine.values("attempt"), state=Attempt.State.RUNNING, interrupted_at=None
    )
    return running.update(interrupted_at=Now())


def _outcome(generator: Generator, hold: Hold, key: str) -> JsonObject:
    """Open its secrets and run its program; return the fields of the row that describe the end."""
    try:
        with opened_for_attempt(generator.attempt_id, key):
            return _outcome_of_program(generator, hold)
    except SecretUnreadable as error:
        return _ended(Generator.State.FAILED, str(error))


def _outcome_of_program(generator: Generator, hold: Hold) -> JsonObject:
    """Run the program until it ends; return the fields of the row that describe the end."""
    target = generator.attempt.run.target
    assert target is not None  # noqa: S101 - for the type checker: it is leased
    try:
        as_driver_sees_it(target)  # registers its secrets, so that no message quotes them
        _require_machine(generator)
        order = unpack_order(generator.request, key_of_attempt(generator.attempt_id))
        with _with_directory(order.request, generator.attempt_id) as request:
            outcome = run_program(
                generator.module,
                request,
                cancelled=hold.cancelled,
                lease_seconds=hold.lease_seconds,
                deadline_seconds=order.deadline_seconds,
                progress=partial(_write, generator),
                ready=hold.ready,
                start_at=hold.start_at,
            )
        parcels = {} if outcome.cancelled else pack_outcome(outcome)
    except BROKE as error:
        return _ended(Generator.State.FAILED, str(error))
    except Exception as bug:
        _close(generator, _ended(Generator.State.FAILED, f"an error of perfdash itself: {bug!r}"))
        raise
    if hold.late:
        return _ended(Generator.State.LATE, hold.why)
    if not (outcome.cancelled or hold.started):
        return _ended(Generator.State.FAILED, "its program ended before it was told to begin")
    if outcome.cancelled:
        return _ended(Generator.State.FAILED, hold.why or "it was stopped") | hold.stopped_by_run
    here = {"target_is_here": float(is_local(target.base_url))}
    return _ended(Generator.State.DONE, "") | parcels | {"health_figures": here}


def _ended(state: Generator.State, reason: str) -> JsonObject:
    return {"state": state, "reason": storable(redaction.redact(reason))}


def _write(generator: Generator, values: JsonObject) -> None:
    """Store the progress of the program; the run's keeper adds it to that of the others."""
    progress.write(progress.of_generator(generator.pk), redaction.redact_all(values))


@contextmanager
def _with_directory(request: ProgramRequest, attempt: int) -> Iterator[ProgramRequest]:
    """Yield the request with a directory of this machine, where the run's own one is on another."""
    directory = request.get("directory")
    if directory is None or Path(directory).parent.is_dir():
        yield request
        return
    with workplace(Path(settings.WORK_DIRECTORY), attempt) as here:
        here.mkdir()
        yield {**request, "directory": str(here)}


def _require_machine(generator: Generator) -> None:
    """Raise OSError where this machine cannot generate its share of the load."""
    run = generator.attempt.run
    driver = driver_of(run.campaign.kind)
    requested = driver.concurrency(run_values(run.campaign, run.cell.levels_by_factor))
    shares = Generator.objects.filter(attempt=generator.attempt_id, part=generator.part).count()
    share = None if requested is None else -(-requested // shares)
    judgement = machine.judge(machine.look(Path(settings.WORK_DIRECTORY)), share)
    if judgement.problems:
        raise OSError(" ".join(judgement.problems))


def _close(generator: Generator, end: JsonObject) -> None:
    """Store the end, waiting for a database that is away; nothing loads the target any more."""
    mine = Generator.objects.filter(pk=generator.pk, state__in=Generator.OPEN)
    while True:
        try:
            mine.update(**end, finished_at=Now())
        except (OperationalError, InterfaceError) as error:
            connection.close()
            log.warning("Generator %s waits for the database: %s", generator.number, error)
            sleep(PAUSE_SECONDS)
        else:
            return
