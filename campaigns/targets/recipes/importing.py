"""Make a setting of a target of a recipe. What cannot be read back is not imported."""

from django.contrib.auth.models import User
from django.db import transaction

from campaigns.kinds.base import Cancelled
from campaigns.kit.encryption import SecretUnreadable
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.mappings import FieldValues
from campaigns.models import Setting, Target, TargetStep
from campaigns.targets import settings as target_settings
from campaigns.targets.probes import Busy
from campaigns.targets.probing import claim
from campaigns.targets.reaching import server_of
from campaigns.targets.recipes.reading import Recipe
from campaigns.targets.settable import MOST_SECONDS, why_not_readable, why_not_settable, within

NOTHING = "Nothing was imported."


def import_recipe(recipe: Recipe, data: FieldValues, target: Target, user: User) -> Setting:
    """Define the setting of a recipe on a target, and its readiness check where the target has none of that name.

    data: the setting as it is to be, with `ready`, the action of the readiness check, where that is another one. First the value
    is read back: what cannot be read, or what the login may not set, is refused. Raise Invalid, PermissionDenied, NotPossible.
    """
    if not recipe.fits(target.family):
        raise Invalid(
            {
                "": [
                    f"It is for targets of the family {', '.join(recipe.families)}; “{target.name}” is one of {target.family}."
                ]
            }
        )
    with transaction.atomic():
        row = _saved(recipe, data, target, user)
        transaction.set_rollback(True)
    row.pk = None
    if why := _why_not(row, target):
        raise Invalid({"": [f"{why.rstrip('.')}. {NOTHING}"]})
    with transaction.atomic():
        return _saved(recipe, data, target, user)


def _saved(recipe: Recipe, data: FieldValues, target: Target, user: User) -> Setting:
    setting = {name: value for name, value in data.items() if name != "ready"}
    row = target_settings.save_setting(setting, target, user)
    for ready in recipe.readiness:
        if not target.steps.filter(name=ready.name).exists():
            _save_readiness(ready.name, data.get("ready", ready.action), target, user)
    return row


def _save_readiness(name: str, action: object, target: Target, user: User) -> None:
    sent = {"name": name, "purpose": TargetStep.Purpose.READY, "action": action}
    try:
        target_settings.save_step(sent, target, user)
    except Invalid as invalid:
        of_page = {
            path.replace("action", "ready", 1): texts for path, texts in invalid.errors.items()
        }
        raise Invalid(of_page) from None


def _why_not(setting: Setting, target: Target) -> str:
    """Return why a value cannot be read back, or not be set; empty where it can. Raise NotPossible while the target is measured."""
    began_at = claim(target, 0.0)
    if isinstance(began_at, Busy):
        raise NotPossible(f"{began_at.why} Import it when that is over.")
    check = within()
    try:
        server = server_of(target)
        why = why_not_readable(setting, server, check)
        return why or why_not_settable(setting, server, check)
    except SecretUnreadable as error:
        return str(error)
    except Cancelled:
        return f"It cannot be read back: the server did not answer within {MOST_SECONDS:g} s."
    finally:
        Target.objects.filter(pk=target.pk, probe_began_at=began_at).update(probe_began_at=None)
