"""Execute one attempt from its claim to its end."""

import logging
import os
import signal
import threading
from dataclasses import dataclass, replace
from time import sleep
from typing import NoReturn

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection, transaction
from django.db.models.functions import Now

from campaigns.execution.claim import claim, claim_line
from campaigns.execution.dispatch.succession import claim_next
from campaigns.execution.generators.gathering import Ask
from campaigns.execution.generators.serving import stop_generators_of
from campaigns.execution.keeper import Keeper
from campaigns.execution.run_log import RunLog
from campaigns.execution.steps import Steps
from campaigns.kinds.programs.deadline import monotonic
from campaigns.kit import log_context
from campaigns.kit.encryption import lacked
from campaigns.kit.redaction import storable
from campaigns.models import Attempt, LogLine, Run
from campaigns.planning.analyses import request_analysis_after
from campaigns.results.closing import Fenced, close
from campaigns.results.storing import Outcome, UnknownMetric

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.5, 5.0
FOLLOWED = (Attempt.State.ACCEPTED, Attempt.State.FAILED, Attempt.State.VOID)
BURIAL_SECONDS = 10.0
"""Seconds for storing the outcome of an attempt that hangs."""

log = logging.getLogger(__name__)


def execute_in_a_row(attempt_pk: int, worker: str, host: str, ask: Ask) -> None:
    """Execute an attempt, and then each that is claimed when the one before is closed.

    After the last one an analysis is requested where one is due; the rest is left to dispatch.
    """
    claimed = _claim(attempt_pk, worker, host)
    run: Run | None = None
    while claimed is not None:
        chain = Chain()
        run = _execute(claimed, ask, chain)
        claimed = chain.following
        log_context.clear()
    if run is not None:
        request_analysis_after(run)


@dataclass(frozen=True, slots=True)
class Claimed:
    """An attempt that this worker has claimed. before: an instant of `monotonic` before that."""

    attempt: Attempt
    before: float


@dataclass(slots=True)
class Chain:
    """Takes the attempt that was claimed when another one was closed."""

    following: Claimed | None = None


def execute(
    attempt_pk: int, worker: str, host: str, ask: Ask = lambda attempt_pk: None
) -> Run | None:
    """Claim an attempt, run it, store its outcome. Return its run, or None where it was not claimed.

    ask: sends messages for the generators that an attempt wants. A bug in a driver is stored with the attempt and raised again.
    """
    claimed = _claim(attempt_pk, worker, host)
    return None if claimed is None else _execute(claimed, ask)


def _claim(attempt_pk: int, worker: str, host: str) -> Claimed | None:
    log_context.add(attempt=attempt_pk)
    before = monotonic()
    attempt = claim(attempt_pk, worker, host)
    return None if attempt is None else Claimed(attempt, before)


def _execute(claimed: Claimed, ask: Ask, chain: Chain | None = None) -> Run | None:
    """Run a claimed attempt, store its outcome, and return its run; None where the outcome was dropped.

    chain: takes the attempt that follows; without one none is claimed.
    """
    attempt = claimed.attempt
    log_context.add(attempt=attempt.pk, campaign=attempt.run.campaign_id, run=attempt.run.position)
    log.info("Attempt %s of run %s is claimed.", attempt.number, attempt.run.position)
    keeper = Keeper(attempt, claimed.before)
    steps = Steps(attempt, keeper, ask)
    keeper.when_hung = lambda: _store_and_exit(attempt, keeper, steps)
    with keeper:
        outcome, bug = steps.go()
        keeper.rest()
        steps.log.end()
        run = _close(steps, outcome, chain)
    log.info("Attempt %s of run %s ended: %s.", attempt.number, attempt.run.position, outcome.state)
    if bug is not None:
        raise bug
    return run


def interrupt_worker(worker: str) -> int:
    """Interrupt the attempts of a worker that shuts down; they will be repeated."""
    mine = Attempt.objects.filter(worker=worker, state=Attempt.State.RUNNING)
    return mine.update(interrupted_at=Now()) + stop_generators_of(worker)


def _store_and_exit(attempt: Attempt, keeper: Keeper, steps: Steps) -> NoReturn:
    """Store the outcome of an attempt whose thread hangs, and kill this process.

    A thread cannot be ended; so the lease of the target is not released, but expires a moment after the
    process has ended. Where the outcome cannot be stored soon, the attempt will be lost.
    """
    log.error("Attempt %s hangs (%s); its process is killed.", attempt.pk, keeper.why)
    threading.Timer(BURIAL_SECONDS, _kill_own_process).start()
    try:
        if not keeper.lost:
            steps.log.end()
            _store(attempt, steps.hung(), steps.log, hung=True)
    except Exception:
        log.exception("The outcome of attempt %s cannot be stored.", attempt.pk)
        raise
    finally:
        _kill_own_process()


def _kill_own_process() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    os._exit(1)


def _close(steps: Steps, outcome: Outcome, chain: Chain | None) -> Run | None:
    """Store the outcome, waiting for a database that is away or full for as long as this process lives.

    Nothing loads the target any more, and the fencing token decides who may write: so waiting
    longer than the lease does no harm, it only may come too late.
    """
    pause, attempt, follow = FIRST_PAUSE_SECONDS, steps.attempt, chain is not None
    while True:
        before = monotonic()
        try:
            run, following = _store(attempt, outcome, steps.log, follow=follow)
        except Fenced as fenced:
            log.warning("%s Its outcome (%s) is dropped.", fenced, outcome.state)
            return None
        except (
            UnknownMetric,
            DatabaseError,
            InterfaceError,
            ValueError,
            TypeError,
        ) as error:
            if _passes(error):
                connection.close()
                log.warning("Attempt %s: its outcome waits for the database: %s", attempt.pk, error)
                sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS, settings.LEASE_SECONDS / 4)
                continue
            log.exception("Attempt %s observed what cannot be stored.", attempt.pk)
            if follow:
                follow = False  # it may be the next attempt that cannot
                continue
            less = _without_what_cannot_be_stored(outcome, error)
            if less == outcome:
                raise
            outcome = less
        else:
            if chain is not None and following is not None:
                chain.following = Claimed(following, before)
            return run


def _passes(error: Exception) -> bool:
    """Return whether the error is one of the database's state, not of the outcome.

    By SQLSTATE: an outcome beyond the database's limits (class 54) never passes; a state of the transaction
    (25: read-only, or cut off while this process was stopped) does.
    """
    kind = (getattr(error.__cause__, "sqlstate", None) or "")[:2]
    return (isinstance(error, (OperationalError, InterfaceError)) and kind != "54") or kind == "25"


def _without_what_cannot_be_stored(outcome: Outcome, error: Exception) -> Outcome:
    """Return the outcome without what the watches saw, then without its results, then with state and reason only."""
    if outcome.watched is not None:
        return replace(outcome, watched=None)
    if outcome.measured is None:
        return Outcome(state=outcome.state, reason=outcome.reason)
    reason = f"What was measured cannot be stored: {error}"
    return replace(outcome, state=Attempt.State.VOID, reason=reason, measured=None)


@transaction.atomic
def _store(
    attempt: Attempt,
    outcome: Outcome,
    run_log: RunLog | None = None,
    *,
    hung: bool = False,
    follow: bool = False,
) -> tuple[Run, Attempt | None]:
    """Close the attempt, write into the log, and return the run and, where `follow`, the attempt that was claimed after it."""
    # A secret that was changed meanwhile comes with the next message.
    follow = follow and outcome.state in FOLLOWED and not outcome.traceback
    follow = follow and not outcome.away and not lacked()
    following: Attempt | None = None

    def succeed(run: Run) -> bool:
        nonlocal following
        following = claim_next(attempt, run) if follow else None
        return following is not None

    phase = None if run_log is None else run_log.phase
    run = close(attempt, outcome, hung=hung, phase=phase, succeed=succeed)
    lines = [] if run_log is None else run_log.lines()
    lines.append(_line_of_end(attempt, run, outcome))
    if following is not None:
        lines.append(claim_line(following))
    LogLine.objects.bulk_create(lines)
    return run, following


def _line_of_end(attempt: Attempt, run: Run, outcome: Outcome) -> LogLine:
    text = f"run {run.position} attempt {attempt.number} {outcome.state}"
    if outcome.reason:
        text += f": {outcome.reason}"
    bad = outcome.state != Attempt.State.ACCEPTED
    if bad and run.state == Run.State.PLANNED:
        text = f"{text.rstrip('.')}; it is repeated"
    return LogLine(
        campaign_id=run.campaign_id,
        run=run,
        text=storable(text),
        tone=LogLine.Tone.BAD if bad else LogLine.Tone.PLAIN,
    )
