"""Whether settings could be set, as far as a server tells without a change. Nothing is stored."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from campaigns.kit.mappings import Levels, Parameters
from campaigns.models import Setting, Target
from campaigns.targets.actions import SQL, ActionFailed, Server, objection, read_value
from campaigns.targets.reaching import apply_of, read_of
from campaigns.targets.variables import as_read


def why_not_settable(
    setting: Setting, server: Server, check: Callable[[], None], values: Iterable[Any] = ()
) -> str:
    """Return why a setting could not be set to one of these values; empty where nothing speaks against it."""
    try:
        why = objection(apply_of(setting), server, check, values)
    except ActionFailed as error:
        why = str(error)
    return f"The setting {setting.name} cannot be set: {why}" if why else ""


def unsettable(
    target: Target, server: Server, parameters: Parameters, cells: Sequence[Levels]
) -> Iterator[str]:
    """Yield why settings that these cells ask for could not be set, or not be restored afterwards."""
    for setting in target.setting_rows.filter(apply__way=SQL):
        asked = [{**parameters, **levels}.get(setting.name) for levels in cells]
        values = list(dict.fromkeys(each for each in asked if each not in (None, "")))
        if not values:
            continue
        why = why_not_settable(setting, server, lambda: None, values)
        if why or (why := _unreadable(setting, server)):
            yield why


def _unreadable(setting: Setting, server: Server) -> str:
    """Return why the value in force cannot be read, which would not be restored then."""
    try:
        as_read(setting, read_value(read_of(setting), server, lambda: None))
    except (ActionFailed, ValueError) as error:
        return f"The setting {setting.name} cannot be read back: {error}"
    return ""
