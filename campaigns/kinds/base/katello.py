"""What every kind of test asks of a Katello before it measures."""

import time
from datetime import UTC, datetime

from campaigns.kinds.base.clock import clock_proof
from campaigns.kinds.base.errors import TargetUnavailable
from campaigns.kinds.base.values import Proof
from campaigns.kinds.servers.katello import Katello


def who_answers(katello: Katello) -> list[Proof]:
    """Return what Katello this is, that the login is right, how its services are, and its clock."""
    began_at = time.perf_counter()
    version = katello.katello_version()
    seconds = time.perf_counter() - began_at
    foreman = katello.foreman_version()
    return [
        Proof("Foreman", "any", foreman, "", ok=True),
        Proof("Katello", "any", version, "", ok=True),
        Proof("login", "accepted", "accepted", "", ok=True),
        *(
            Proof(f"service {name}", "ok", said, "", said == "ok")
            for name, said in katello.ping().items()
        ),
        Proof("answers", "any", round(seconds, 4), "s", ok=True),
        clock_proof(katello.date(), datetime.now(UTC)),
    ]


def refuse_services_that_are_away(katello: Katello) -> None:
    """Raise TargetUnavailable where Katello says that one of its own services is not in order."""
    katello.foreman_version()
    if bad := {name: said for name, said in katello.ping().items() if said != "ok"}:
        words = "; ".join(f"{name}: {said}" for name, said in bad.items())
        raise TargetUnavailable(
            f"Katello's own services are not in order ({words}); mend them before measuring."
        )
