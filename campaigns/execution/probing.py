"""Look whether targets answer. A target that is being measured is left alone."""

from dataclasses import asdict

from django.db.models.functions import Now

from campaigns.credentials import SecretUnreadable
from campaigns.definition.servers import as_driver_sees_it, rules_for
from campaigns.drivers import all_kinds
from campaigns.drivers.base import AddressRefused, Driver, DriverError
from campaigns.models import Attempt, Target, TargetLease
from campaigns.network import NetworkError
from campaigns.redaction import redact_all
from campaigns.results import storable


def probe_all() -> None:
    """Probe every target that nobody is measuring."""
    for target in Target.objects.filter(retired_at=None):
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
