"""Retire or delete a target that nothing depends on."""

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import ProtectedError

from campaigns.kit.activity import Action, record
from campaigns.kit.errors import NotPossible
from campaigns.models import Target
from campaigns.targets.dependants import dependants_of
from campaigns.targets.production import require_to_unmark


@transaction.atomic
def delete_target(target: Target, user: User) -> None:
    """Delete a target with its settings, steps and login. Raise NotAllowed; NotPossible where something needs it."""
    locked = Target.objects.select_for_update().get(pk=target.pk)
    require_to_unmark(locked, user)
    dependants = dependants_of(locked)
    if dependants:
        text = ", ".join(f"{each.kind}: {each.count}" for each in dependants)
        raise NotPossible(
            f"“{locked.name}” is needed ({text}). Retire it instead; nothing is lost."
        )
    record(Action.TARGET_DELETED, user=user, subject=locked)
    try:
        locked.delete()
    except ProtectedError:
        raise NotPossible(f"“{locked.name}” is needed since a moment ago.") from None
