"""Celery tasks: each takes a primary key and calls one or two functions."""

import logging
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

from celery import Task, shared_task
from celery.signals import (
    task_postrun,
    task_prerun,
    worker_before_create_process,
    worker_process_init,
    worker_ready,
    worker_shutting_down,
)
from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections, connection
from django.db.models.functions import Now

from campaigns.accounts import notifications, sessions
from campaigns.execution import dispatch as dispatching
from campaigns.execution import parcels, populations, try_settings
from campaigns.execution import try_program as trying_programs
from campaigns.execution.claim import leave_to_others
from campaigns.execution.generators import serving
from campaigns.execution.restore_settings import restore
from campaigns.execution.running import execute_in_a_row, interrupt_worker
from campaigns.kinds.registry import all_kinds
from campaigns.kit import idempotency, kernel, log_context
from campaigns.kit.encryption import SecretUnreadable
from campaigns.kit.events import work_waits
from campaigns.models import Worker
from campaigns.planning import workers
from campaigns.planning.analyses import holds_runs_back, request_analysis
from campaigns.results import retention
from campaigns.results.importing import waiting
from campaigns.reviews.reopening import look_again
from campaigns.targets.credentials.ends import tell_of_ends
from campaigns.targets.populations.asking import delete_too_old
from campaigns.targets.probing import probe_all_in_threads, probe_in_thread

SEEN_SECONDS = 5
LEAST_PRIORITY = 19
OTHER_VERSION = "%s has perfdash %s, the control workers have %s: it gets no runs. Install the same version on all machines."

log = logging.getLogger(__name__)
presences: dict[str, "Presence"] = {}
forked_by = 0  # the process id of the worker, in its children
_looking = threading.Lock()
_again = threading.Event()


@shared_task(name="campaigns.execute_attempt", bind=True)
def execute_attempt(
    self: Task, attempt: int, version: str = settings.VERSION, key: str = ""
) -> None:
    """Execute one attempt on this host, and those that follow at once; then have dispatch look what may start next.

    version: of the sender. key: of the secrets that it may use.
    """
    close_old_connections()
    if is_of_another(version):
        with _without_database():
            leave_to_others(attempt)
        connection.close()
        dispatching.request_dispatch()
        return
    try:
        with parcels.opened_for_attempt(attempt, key):
            execute_in_a_row(
                attempt,
                self.request.hostname or "worker",
                settings.GENERATOR_HOST,
                dispatching.ask_generators,
            )
    except SecretUnreadable as error:
        log.warning("Attempt %s is sent again: %s", attempt, error)
        leave_to_others(attempt)
    finally:
        connection.close()
        dispatching.request_dispatch()


@shared_task(name="campaigns.generate", bind=True)
def generate(self: Task, generator: int, version: str = settings.VERSION, key: str = "") -> None:
    """Be one of the generators of a run, on this host; the row is sent again where it was not claimed."""
    if is_of_another(version):
        return
    close_old_connections()
    try:
        serving.generate(generator, self.request.hostname or "worker", settings.GENERATOR_HOST, key)
    finally:
        connection.close()


@shared_task(name="campaigns.dispatch")
def dispatch() -> None:
    """Look what may start; where this process does so now, once more after it."""
    _again.set()
    while _again.is_set() and _looking.acquire(blocking=False):
        try:
            _again.clear()
            _look()
        finally:
            _looking.release()


@shared_task(name="campaigns.analyse")
def analyse(campaign: int) -> None:
    """Compute the findings of a campaign, unless that was done since; ask for the next run.

    It does not dispatch itself: its process gives way to all others, who would wait for it.
    What computes is loaded here, since the other workers have no use for its memory.
    """
    from campaigns.findings import compute as analysis
    from campaigns.trends import confirming, readings

    close_old_connections()
    try:
        with analysis.claimed(campaign) as mine:
            if mine is not None and holds_runs_back(mine):
                analysis.analyse(mine)
            elif mine is not None:
                give_way(partial(analysis.analyse, mine))
            if mine is not None:
                look_again(mine)
                reading = readings.extend(mine)
                confirming.after_analysis(mine, reading)
    finally:
        dispatching.request_dispatch()


@shared_task(name="campaigns.read_file")
def read_file(submission: int) -> None:
    """Read a file that waits, and have what is in it analysed."""
    close_old_connections()
    received = waiting.read_waiting(submission)
    if received is not None:
        request_analysis(received.campaign)
    dispatching.request_dispatch()


@shared_task(name="campaigns.probe_target")
def probe_target(target: int) -> None:
    """Probe one target, beside: a dispatch that comes meanwhile does not wait."""
    probe_in_thread(target)


@shared_task(name="campaigns.look_at_settings")
def look_at_settings(target: int) -> None:
    """Read the settings of a target back, and log in by SSH."""
    close_old_connections()
    with _without_database():
        try_settings.look_at_settings(target)


@shared_task(name="campaigns.try_program")
def try_program(program: int, key: str = "") -> None:
    """Run the draft of a program once, on this worker or from it."""
    close_old_connections()
    try:
        trying_programs.try_program(program, key)
    finally:
        connection.close()


@shared_task(name="campaigns.restore_settings")
def restore_settings(target: int) -> None:
    """Set back what campaigns that are over have changed on a target, then look what may start."""
    close_old_connections()
    try:
        restore(target)
    finally:
        connection.close()
        _look()


@shared_task(name="campaigns.attend_population")
def attend_population(population: int) -> None:
    """Register or delete the hosts of a population, beside."""
    populations.attend_in_thread(population)


@shared_task(name="campaigns.probe_targets")
def probe_targets() -> None:
    """Probe all targets that nobody measures, beside."""
    close_old_connections()
    with _without_database():
        probe_all_in_threads()


@shared_task(name="campaigns.lines")
def attend_lines() -> None:
    """Measure the lines that are due. What plans and launches is loaded here: the other workers have no use for its memory."""
    from campaigns.trends import attending, launching

    close_old_connections()
    with _without_database():
        launching.attend()
        attending.attend()


@shared_task(name="campaigns.notify")
def notify() -> None:
    """Read the outbox and deliver what is due, beside: what hangs holds nothing up here."""
    close_old_connections()
    with _without_database():
        notifications.deliver_in_threads()


@shared_task(name="campaigns.tidy")
def tidy() -> None:
    """Delete what is kept for a while only."""
    from campaigns.trends import launching

    close_old_connections()
    with _without_database():
        idempotency.delete_expired()
        parcels.delete_used()
        sessions.forget_expired()
        retention.delete_old()
        launching.forget_old()
        delete_too_old()
        tell_of_ends()
        notifications.forget_old()


def is_of_another(version: str) -> bool:
    """Return whether a message is of another version of perfdash, and log it."""
    if version == settings.VERSION:
        return False
    log.error(OTHER_VERSION, "This worker", settings.VERSION, version)
    return True


@task_prerun.connect
@task_postrun.connect
def forget_log_context(**kwargs: Any) -> None:
    """No line may say that it belongs to the attempt before."""
    log_context.clear()


@worker_before_create_process.connect
def remember_the_parent(**kwargs: Any) -> None:
    """Store the process id of the worker, which each child that is forked now inherits."""
    global forked_by
    forked_by = os.getpid()


@worker_process_init.connect
def die_with_the_parent(**kwargs: Any) -> None:
    """A child without its worker would go on measuring where nobody can stop it."""
    kernel.die_with_parent(forked_by)


class Presence(threading.Thread):
    """Says that a worker lives, as long as its process does; at last takes it back.

    Runs are queued only for who is present. Whatever became of the messages in the broker, a worker
    that begins lets what was queued be sent again.
    """

    def __init__(self, worker: str, pools: list[str]) -> None:
        super().__init__(name="presence", daemon=True)
        self.worker = worker
        self.pools = pools
        self.lacks = {
            kind: lacking for kind, driver in all_kinds().items() if (lacking := driver.lacking())
        }
        self.waits_for = ""
        self._ending = threading.Event()

    def run(self) -> None:
        """Say it every few seconds. No connection stays open: the worker's children are forked."""
        self._do(self._begin)
        while not self._ending.wait(SEEN_SECONDS):
            self._do(self._write)
        self._do(self._take_back)

    def end(self) -> None:
        """Take it back; return when that is done, or the database does not answer."""
        self._ending.set()
        self.join(timeout=2)

    def _do(self, action: Callable[[], object]) -> None:
        with _without_database():
            action()
        connection.close()

    def _begin(self) -> None:
        self._write()
        if self.waits_for:
            return
        dispatching.send_again(self.pools)
        dispatching.request_dispatch()

    def _write(self) -> None:
        Worker.objects.update_or_create(
            name=self.worker,
            defaults={
                "host": settings.GENERATOR_HOST,
                "pools": self.pools,
                "lacks": self.lacks,
                "version": settings.VERSION,
                "seen_at": Now(),
            },
        )
        used = workers.version_in_use()
        other = "" if used == settings.VERSION else used or "an older one"
        if other and other != self.waits_for:
            log.error(OTHER_VERSION, self.worker, settings.VERSION, other)
        self.waits_for = other

    def _take_back(self) -> None:
        Worker.objects.filter(name=self.worker).delete()


@worker_ready.connect
def be_present(sender: Any, **kwargs: Any) -> None:
    """Let runs be queued for this worker from now on."""
    pools = sorted(queue.name for queue in sender.task_consumer.queues)
    presences[sender.hostname] = Presence(sender.hostname, pools)
    presences[sender.hostname].start()


@worker_shutting_down.connect
def interrupt(sender: Any, **kwargs: Any) -> None:
    """Stop what this worker measures, so that a shutdown does not wait for a long run.

    Before that it is present no more: else the run would be queued for it again at once.
    """
    if str(sender) in presences:
        presences[str(sender)].end()
    with _without_database():
        interrupt_worker(str(sender))
    connection.close()


def _look() -> None:
    """Look what may start. While the database is away there is nothing to be done."""
    close_old_connections()
    with _without_database():
        work_waits.send(sender=None)


def give_way(compute: Callable[[], object]) -> None:
    """Compute in a thread that leaves the processors to all others, such as to what is measured meanwhile.

    Of Linux, where each thread has a priority of its own; the process keeps its, for what runs wait for.
    """

    def least() -> None:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LEAST_PRIORITY)

    def work() -> None:
        try:
            compute()
        finally:
            connection.close()

    with ThreadPoolExecutor(1, thread_name_prefix="analysis", initializer=least) as thread:
        thread.submit(work).result()


@contextmanager
def _without_database() -> Iterator[None]:
    """Leave out what can wait until the database is back."""
    try:
        yield
    except (DatabaseError, InterfaceError) as error:
        connection.close()
        log.warning("The database is away: %s", error)
