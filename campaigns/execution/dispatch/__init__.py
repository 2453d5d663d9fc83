"""Decide which run may start now, and send it to a worker.

Dispatch looks for free targets that have a planned run, leases them and queues the run. It may run at any
time, any number of times: after each run, after everything that a person starts, and by beat every few
seconds, so that an emptied broker heals. `lost_workers` takes leases back, also after the clock was set
back; `limits` applies time budgets and quiet hours; `closing` ends campaigns; `analyses` decides when one
is analysed; `queueing` leases targets (by `execution.leases`), queues runs and requests manual steps; `due`
sends messages to the generators of a run and has settings restored. Tasks go out by `kit.messages`.

Everybody else locks rows in the order campaign, run, attempt, leases. Dispatch waits for no lock: it skips
a locked row, which is being changed, until the next time.
"""

import logging
from time import sleep

from django.db import connection, transaction
from django.db.models.functions import Now

from campaigns.execution.dispatch.analyses import due_analyses, due_for_runs, forget_sent
from campaigns.execution.dispatch.closing import close_campaigns
from campaigns.execution.dispatch.due import (
    ask_generators,
    claim_restorations,
    due_generators,
    forget_messages,
)
from campaigns.execution.dispatch.limits import end_used_up_budgets, interrupt_where_not_allowed
from campaigns.execution.dispatch.lost_workers import holding, take_back_lost
from campaigns.execution.dispatch.queueing import queue_runs
from campaigns.execution.parcels import key_of_attempt
from campaigns.execution.populations import claim_populations
from campaigns.kit.database_clock import database_now
from campaigns.kit.messages import ANALYSIS, CONTROL, send
from campaigns.models import Attempt, TargetLease
from campaigns.planning.analyses import holding_runs_back

__all__ = [
    "ask_generators",
    "dispatch",
    "request_dispatch",
    "send_again",
]

log = logging.getLogger(__name__)

ONE_DISPATCHER = 7_363_001  # key of the advisory lock
WAIT_SECONDS = 2.0
STUCK_SECONDS = 15


def dispatch() -> None:
    """Take lost leases back, close what has ended, start what may start.

    A broker that is away is no error: a queued attempt is sent again when its lease has expired.
    """
    with transaction.atomic():
        if not alone():
            log.warning("Another dispatch has not ended yet; a later one will look again.")
            return
        if not holding():
            take_back_lost()
        now = database_now()
        end_used_up_budgets(now)
        interrupt_where_not_allowed(now)
        close_campaigns()
        analyses = due_for_runs()
        generators = due_generators()
        changed = claim_restorations()
        populations = claim_populations()
        attempts = [] if holding_runs_back().exists() else list(queue_runs())
        files, others = due_analyses()
    for campaign in (*analyses, *others):
        send("campaigns.analyse", campaign, ANALYSIS)
    for target in changed:
        send("campaigns.restore_settings", target, CONTROL)
    for population in populations:
        send("campaigns.attend_population", population, CONTROL)
    for submission in files:
        send("campaigns.read_file", submission, ANALYSIS)
    for generator, pool, attempt in generators:
        send("campaigns.generate", generator, pool, key_of_attempt(attempt))
    for attempt, pool in attempts:
        send("campaigns.execute_attempt", attempt, pool, key_of_attempt(attempt))


@transaction.atomic
def send_again(pools: list[str]) -> None:
    """Mark the queued attempts of these pools to be sent again, since the broker may have lost them."""
    leases = TargetLease.objects.select_for_update(of=("self",), no_key=True, skip_locked=True)
    queued = leases.filter(attempt__state=Attempt.State.QUEUED, attempt__pool__in=pools)
    keys = list(queued.values_list("pk", flat=True))
    TargetLease.objects.filter(pk__in=keys).update(expires_at=Now())
    forget_messages(pools)
    if ANALYSIS in pools:
        forget_sent()


def request_dispatch() -> None:
    """Have a control worker run dispatch."""
    send("campaigns.dispatch", None, CONTROL)


def alone() -> bool:
    """Become the only dispatcher until the transaction ends. False: another one has not ended.

    The database cuts off a dispatcher that is stopped in the middle after STUCK_SECONDS.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('idle_in_transaction_session_timeout', %s, true)",
            [f"{STUCK_SECONDS}s"],
        )
        for _ in range(20):
            cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [ONE_DISPATCHER])
            if cursor.fetchone() == (True,):
                return True
            sleep(WAIT_SECONDS / 20)
    return False
