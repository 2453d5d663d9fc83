"""Try whether a target's settings can be read and set and its machine be reached, without changing anything."""

from collections.abc import Callable
from time import monotonic

from django.db.models.functions import Now

from campaigns.execution.server_steps import Workbench
from campaigns.execution.set_levels import value_of
from campaigns.kinds.base import Cancelled, DriverError
from campaigns.kit.database_clock import database_now
from campaigns.kit.encryption import SecretUnreadable
from campaigns.kit.redaction import storable
from campaigns.models import Setting, SshLogin, Target
from campaigns.targets.actions import ActionFailed, HostKeyRefused
from campaigns.targets.probes import busy
from campaigns.targets.reaching import access_of, server_of, ssh_of
from campaigns.targets.settable import why_not_settable

MOST_SECONDS = 60.0


def look_at_settings(target_pk: int) -> None:
    """Read every setting back, ask whether it could be set, and log in by SSH; store the result of each."""
    target = Target.objects.filter(pk=target_pk, retired_at=None).first()
    if target is None or busy(target, database_now(), 0.0):
        return
    ends = monotonic() + MOST_SECONDS

    def check() -> None:
        if monotonic() > ends:
            raise Cancelled

    _log_in(target, check)
    for setting in Setting.objects.filter(target=target):
        value, failure = None, ""
        try:
            bench = Workbench(
                target, lambda: server_of(target), check, lambda _: None, lambda act: act()
            )
            value = value_of(setting, bench)
            failure = why_not_settable(setting, bench.server, check)
        except (DriverError, SecretUnreadable) as error:
            failure = str(error)
        except Cancelled:
            failure = f"All of it took longer than {MOST_SECONDS:g} s."
        Setting.objects.filter(pk=setting.pk).update(
            looked_at=Now(), look_value=value, look_failure=storable(failure)
        )


def _log_in(target: Target, check: Callable[[], None]) -> None:
    from campaigns.kit.ssh import commands as ssh

    login = ssh_of(target)
    if login is None:
        return
    failure, offered = "", login.offered_key
    try:
        ssh.look(access_of(login), server_of(target).endpoint.rules, check)
        offered = ""
    except HostKeyRefused as refused:
        failure, offered = str(refused), refused.key
    except (ActionFailed, SecretUnreadable) as error:
        failure = str(error)
    except Cancelled:
        failure = f"It took longer than {MOST_SECONDS:g} s."
    SshLogin.objects.filter(pk=login.pk).update(
        looked_at=Now(), look_failure=storable(failure), offered_key=offered
    )
