"""Celery's face: each task takes a primary key and calls one or two functions."""

import ctypes
import logging
import os
import platform
import signal
import threading
from time import sleep
from typing import Any

from celery import Task, shared_task
from celery.signals import worker_process_init, worker_ready, worker_shutting_down
from django.db import DatabaseError, close_old_connections, connection
from django.db.models.functions import Now

from campaigns import analysis, execution
from campaigns import dispatch as dispatching
from campaigns.models import Campaign, Target, Worker

SEEN_SECONDS = 5
PR_SET_PDEATHSIG = 1

log = logging.getLogger(__name__)


@shared_task(name="campaigns.execute_attempt", bind=True)
def execute_attempt(self: Task, attempt: int) -> None:
    """Execute one attempt on this host, then look what may start next."""
    close_old_connections()
    try:
        run = execution.execute(attempt, self.request.hostname or "worker", platform.node())
        if run is not None and dispatching.block_ended(run):
            dispatching.request_analysis(run.campaign)
    finally:
        connection.close()
        dispatch()


@shared_task(name="campaigns.dispatch")
def dispatch() -> None:
    """Look what may start. While the database is away there is nothing to be done."""
    try:
        close_old_connections()
        dispatching.dispatch()
    except DatabaseError as error:
        connection.close()
        log.warning("Dispatch waits for the database: %s", error)


@shared_task(name="campaigns.analyse")
def analyse(campaign: int) -> None:
    """Compute the findings of a campaign, then let the next run start."""
    close_old_connections()
    try:
        analysis.analyse(Campaign.objects.get(pk=campaign))
    finally:
        dispatch()


@shared_task(name="campaigns.probe_target")
def probe_target(target: int) -> None:
    """Probe one target."""
    close_old_connections()
    execution.probe(Target.objects.get(pk=target))


@shared_task(name="campaigns.probe_targets")
def probe_targets() -> None:
    """Probe all targets that nobody measures."""
    close_old_connections()
    execution.probe_all()


@worker_process_init.connect
def die_with_the_parent(**kwargs: Any) -> None:
    """A child without its worker would go on measuring where nobody can stop it."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == 1:
        os.kill(os.getpid(), signal.SIGKILL)


@worker_ready.connect
def begin_to_say_that_i_live(sender: Any, **kwargs: Any) -> None:
    """Renew this worker's row from a thread of its own, as long as the process lives."""
    pools = sorted(queue.name for queue in sender.task_consumer.queues)
    threading.Thread(
        target=_say_that_i_live, args=(sender.hostname, pools), name="i-live", daemon=True
    ).start()


def _say_that_i_live(name: str, pools: list[str]) -> None:
    while True:
        try:
            Worker.objects.update_or_create(
                name=name, defaults={"host": platform.node(), "pools": pools, "seen_at": Now()}
            )
        except DatabaseError as error:
            log.warning("Worker %s cannot say that it lives: %s", name, error)
        finally:
            connection.close()
        sleep(SEEN_SECONDS)


@worker_shutting_down.connect
def interrupt(sender: Any, **kwargs: Any) -> None:
    """Stop what this worker measures, so that a shutdown does not wait for a long run."""
    try:
        execution.interrupt_worker(str(sender))
        Worker.objects.filter(name=str(sender)).delete()
    except DatabaseError as error:
        log.warning("Worker %s could not interrupt its run: %s", sender, error)
    finally:
        connection.close()
