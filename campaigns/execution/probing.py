"""Look whether targets answer. A target that is being measured is left alone."""

import threading
from collections.abc import Callable
from dataclasses import asdict
from queue import Empty, SimpleQueue

from django.db import connection
from django.db.models.functions import Now

from campaigns.credentials import SecretUnreadable
from campaigns.definition.servers import as_driver_sees_it, rules_for
from campaigns.drivers import all_kinds
from campaigns.drivers.base import AddressRefused, Driver, DriverError
from campaigns.models import Attempt, Target, TargetLease
from campaigns.network import NetworkError
from campaigns.redaction import redact_all
from campaigns.results import storable

MOST_AT_ONCE = 8


def beside(work: Callable[[], object]) -> threading.Thread:
    """Do something in a thread of its own, which the end of the process does not wait for."""

    def do() -> None:
        try:
            work()
        finally:
            connection.close()

    thread = threading.Thread(target=do, name="probing", daemon=True)
    thread.start()
    return thread


def probe_all() -> None:
    """Probe every target that nobody is measuring, a few at a time: silent ones take seconds."""
    waiting = SimpleQueue[Target]()
    targets = Target.objects.filter(retired_at=None)
    for target in targets:
        waiting.put(target)
    threads = [beside(lambda: _probe_from(waiting)) for _ in range(min(MOST_AT_ONCE, len(targets)))]
    for thread in threads:
        thread.join()


def _probe_from(waiting: SimpleQueue[Target]) -> None:
    while True:
        try:
            target = waiting.get_nowait()
        except Empty:
            return
        probe(target)


def probe(target: Target) -> None:
    """Probe one target and store what it said, unless a run goes on there."""
    measured = TargetLease.objects.filter(
        address=target.address, attempt__state=Attempt.State.RUNNING
    )
    if measured.exists():
        return
    target.proofs = []
    try:
        driver = _driver_for(target.family)
        proofs = driver.probe(as_driver_sees_it(target), rules_for(target))
    except (AddressRefused, NetworkError) as error:
        target.health, target.health_message = Target.Health.REFUSED, str(error)
    except (DriverError, SecretUnreadable) as error:
        target.health, target.health_message = Target.Health.UNREACHABLE, str(error)
    else:
        ready = all(proof.ok for proof in proofs)
        target.health = Target.Health.READY if ready else Target.Health.UNREACHABLE
        target.health_message = ""
        target.proofs = redact_all([asdict(proof) for proof in proofs])
    Target.objects.filter(pk=target.pk).update(
        health=target.health,
        health_message=storable(target.health_message),
        proofs=target.proofs,
        probed_at=Now(),
    )


def _driver_for(family: str) -> Driver:
    for driver in all_kinds().values():
        if driver.executable and driver.family == family:
            return driver
    raise DriverError(f"No kind of test knows the family {family}; change the target's family.")
