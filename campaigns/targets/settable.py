"""Whether settings could be set and read back, as far as a server tells without a change."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from time import monotonic
from typing import Any

from campaigns.kinds.base import Cancelled
from campaigns.kit.mappings import Levels, Parameters
from campaigns.kit.redaction import redact
from campaigns.models import Setting, Target
from campaigns.targets.actions import (
    COMMAND,
    MANUAL,
    SQL,
    ActionFailed,
    Server,
    objection,
    read_value,
)
from campaigns.targets.reaching import apply_of, read_of
from campaigns.targets.rights import is_confirmed, why_not_confirmed
from campaigns.targets.ssh_logins import note_offered_key
from campaigns.targets.variables import as_read

MOST_SECONDS = 20.0
"""In which a server is to tell, while somebody waits."""
LOOKED_AT = (COMMAND, SQL)
"""The ways for which a login may lack rights; what is set by HTTP answers as the server itself does."""

Check = Callable[[], None]


def why_not_settable(
    setting: Setting, server: Server, check: Check, values: Iterable[Any] = ()
) -> str:
    """Return why a setting could not be set to one of these values; empty where nothing speaks against it."""
    try:
        why = objection(apply_of(setting), server, check, values)
    except ActionFailed as error:
        why = redact(str(error))
    return f"The setting {setting.name} cannot be set: {why}" if why else ""


def why_not_readable(setting: Setting, server: Server, check: Check) -> str:
    """Return why the value in force cannot be read, which would not be restored then; empty where it can.

    A host key that is not accepted yet is stored, to be compared.
    """
    action = read_of(setting)
    if action.way == MANUAL:
        return ""
    try:
        as_read(setting, read_value(action, server, check))
    except (ActionFailed, ValueError) as error:
        note_offered_key(setting.target, error)
        return f"The setting {setting.name} cannot be read back: {redact(str(error))}"
    return ""


def within(seconds: float = MOST_SECONDS) -> Check:
    """Return what raises Cancelled after so many seconds."""
    ends = monotonic() + seconds

    def check() -> None:
        if monotonic() > ends:
            raise Cancelled

    return check


def unsettable(
    target: Target, server: Server, parameters: Parameters, cells: Sequence[Levels]
) -> Iterator[str]:
    """Yield why settings that these cells ask for could not be set, or not be restored afterwards.

    What is set by SQL, such as fsync, is set with the rights of the target's login: an admin of the team has to have confirmed them.
    """
    check = within()
    for setting in target.setting_rows.filter(apply__way__in=LOOKED_AT):
        asked = [{**parameters, **levels}.get(setting.name) for levels in cells]
        values = list(dict.fromkeys(each for each in asked if each not in (None, "")))
        if not values:
            continue
        if apply_of(setting).way == SQL and not is_confirmed(target):
            yield why_not_confirmed(
                target, f"The setting {setting.name} by SQL", target.rights or ()
            )
            continue
        try:
            why = why_not_settable(setting, server, check, values)
            why = why or why_not_readable(setting, server, check)
        except Cancelled:
            yield f"The setting {setting.name} was not read back within {MOST_SECONDS:g} s."
            return
        if why:
            yield why
