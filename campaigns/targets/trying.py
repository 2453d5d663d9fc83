"""Let one host do one round of a scenario at a target, for whoever writes the scenario. Nothing is stored."""

from django.contrib.auth.models import User

from campaigns.kinds.base import DriverError
from campaigns.kinds.http.program.reading import BadScenario, Loaded, read_scenario
from campaigns.kinds.http.program.walking import Walked
from campaigns.kinds.http.running import signed_in, try_one_host
from campaigns.kit.activity import Action, record
from campaigns.kit.database_clock import database_now
from campaigns.kit.encryption import SecretUnreadable
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.network import NetworkError
from campaigns.kit.redaction import redact_all
from campaigns.models import Target
from campaigns.targets import quiet
from campaigns.targets.allowed import allowed_on
from campaigns.targets.places import place
from campaigns.targets.probes import Busy
from campaigns.targets.probing import claim
from campaigns.targets.production import is_server_protected
from campaigns.targets.saving import as_driver_sees_it, rules_for


def try_scenario(
    target: Target, user: User, scenario: str, data: str = "", fixed: str = "", credential: str = ""
) -> Walked:
    """Do each step once, with those before and after; return each request and answer, without secrets.

    credential: the name of one of the team, in place of the target's own login.

    It takes 25 s at most. Raise Invalid where the scenario is wrong, NotPossible where the target is not asked now, or cannot be,
    TooBusy where others try something now, or this user does so too often.
    """
    try:
        loaded = read_scenario(scenario, data, fixed)
    except BadScenario as error:
        raise Invalid({error.where: error.messages}) from None
    if is_server_protected(target):
        raise NotPossible(
            f"“{target.name}” is a production server, and loading it needs two people. Try the scenario on another target."
        )
    if quiet.on_by(target, database_now()) is not None:
        raise NotPossible(f"“{target.name}” has quiet hours now; try it afterwards.")
    with place(user, "a scenario"):
        return _tried(target, loaded, credential)


def _tried(target: Target, loaded: Loaded, credential: str) -> Walked:
    began_at = claim(target, 0.0)
    if isinstance(began_at, Busy):
        raise NotPossible(f"{began_at.why} Try again when that is over.")
    record(Action.TARGET_TRIED, subject=target, steps=len(list(loaded.scenario.parts())))
    try:
        most = allowed_on(target).most_per_second
        seen = signed_in(as_driver_sees_it(target), {"credential": credential})
        walked = try_one_host(seen, loaded, rules_for(target), most)
    except (DriverError, NetworkError, SecretUnreadable) as error:
        raise NotPossible(str(error)) from None
    finally:
        Target.objects.filter(pk=target.pk, probe_began_at=began_at).update(probe_began_at=None)
    return Walked(redact_all(walked.exchanges), {})
