"""Let one host do one round of a scenario at a target, for whoever writes the scenario. Nothing is stored."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil

from django.contrib.auth.models import User

from campaigns.kinds.base import DriverError
from campaigns.kinds.http.program.reading import BadScenario, Loaded, read_scenario
from campaigns.kinds.http.program.walking import Walked
from campaigns.kinds.http.running import try_one_host
from campaigns.kit import rates
from campaigns.kit.activity import Action, record
from campaigns.kit.database_clock import database_now
from campaigns.kit.encryption import SecretUnreadable
from campaigns.kit.errors import Invalid, NotPossible, TooBusy
from campaigns.kit.network import NetworkError
from campaigns.kit.redaction import redact_all
from campaigns.models import Target
from campaigns.targets import quiet
from campaigns.targets.allowed import allowed_on
from campaigns.targets.probes import Busy
from campaigns.targets.probing import claim
from campaigns.targets.production import is_protected
from campaigns.targets.saving import as_driver_sees_it, rules_for

MOST_AT_ONCE = 2
"""Tries in one web server: each holds a thread, of which it has 5 to 8, for as long as the target takes to answer."""
AGAIN_SECONDS = 10
"""Retry-After where all places are taken; a try takes 25 s at most, and mostly less than one."""
RATE = rates.Rate(20, 60)
"""Of one user."""
_places = threading.BoundedSemaphore(MOST_AT_ONCE)


def try_scenario(
    target: Target, user: User, scenario: str, data: str = "", fixed: str = ""
) -> Walked:
    """Do each step once, with those before and after; return each request and answer, without secrets.

    It takes 25 s at most. Raise Invalid where the scenario is wrong, NotPossible where the target is not asked now, or cannot be,
    TooBusy where others try something now, or this user does so too often.
    """
    try:
        loaded = read_scenario(scenario, data, fixed)
    except BadScenario as error:
        raise Invalid({error.where: error.messages}) from None
    if is_protected(target):
        raise NotPossible(
            f"“{target.name}” is a production server, and loading it needs two people. Try the scenario on another target."
        )
    if quiet.on_by(target, database_now()) is not None:
        raise NotPossible(f"“{target.name}” has quiet hours now; try it afterwards.")
    with _place(user):
        return _tried(target, loaded)


@contextmanager
def _place(user: User) -> Iterator[None]:
    """Hold one of the places in this process. Raise TooBusy."""
    usage = rates.take(f"try:{user.pk}", RATE)
    if usage is not None and not usage.allowed:
        seconds = max(1, ceil(usage.wait_seconds))
        raise TooBusy(
            f"One user may try {RATE.count} scenarios in {RATE.seconds} s. Try again in {seconds} s.",
            seconds,
            own=True,
        )
    if not _places.acquire(blocking=False):
        raise TooBusy(
            f"Others try a scenario just now, and the server does {MOST_AT_ONCE} at a time. Try again in a moment.",
            AGAIN_SECONDS,
        )
    try:
        yield
    finally:
        _places.release()


def _tried(target: Target, loaded: Loaded) -> Walked:
    began_at = claim(target, 0.0)
    if isinstance(began_at, Busy):
        raise NotPossible(f"{began_at.why} Try again when that is over.")
    record(Action.TARGET_TRIED, subject=target, steps=len(list(loaded.scenario.parts())))
    try:
        most = allowed_on(target).most_per_second
        walked = try_one_host(as_driver_sees_it(target), loaded, rules_for(target), most)
    except (DriverError, NetworkError, SecretUnreadable) as error:
        raise NotPossible(str(error)) from None
    finally:
        Target.objects.filter(pk=target.pk, probe_began_at=began_at).update(probe_began_at=None)
    return Walked(redact_all(walked.exchanges), {})
