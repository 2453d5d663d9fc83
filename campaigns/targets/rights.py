"""Rights by which the login of a target reaches beyond it, such as superuser: what is known of them, and who has confirmed them.

What an author of campaigns writes, such as SQL, is executed with these rights: only an admin of the team confirms that.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now

from campaigns.kinds.base import Driver, DriverError
from campaigns.kit.activity import Action, record
from campaigns.kit.database_clock import database_now
from campaigns.kit.encryption import SecretUnreadable
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.network import NetworkError
from campaigns.kit.rights import Right, require_right
from campaigns.models import ConfirmedRights, Target
from campaigns.targets.probes import busy
from campaigns.targets.saving import as_driver_sees_it, rules_for

POSTGRESQL = "postgresql"


def holds(row: ConfirmedRights, target: Target) -> bool:
    """Return whether a confirmation is of just the rights that the login of a target is known to have now."""
    return (row.username, row.base_url, set(row.rights)) == (
        target.username,
        target.base_url,
        set(target.rights or ()),
    )


@dataclass(frozen=True, slots=True)
class Held:
    """What was confirmed last of the rights of a login, and whether it holds for those that it has. matter: whether there are any.

    place: what the rights reach beyond, such as the database. what: what an author writes for it.
    """

    row: ConfirmedRights | None
    is_confirmed: bool
    matter: bool
    place: str
    what: str


def held_of(target: Target) -> Held:
    """Return what is confirmed of the rights of a login, for pages."""
    row = ConfirmedRights.objects.select_related("confirmed_by").filter(target=target).first()
    is_confirmed = row is not None and holds(row, target)
    what = "SQL" if target.family == POSTGRESQL else "The job"
    return Held(row, is_confirmed, bool(target.rights or row), place_of(target), what)


def place_of(target: Target) -> str:
    """Return what the rights of a login reach beyond."""
    return "the database" if target.family == POSTGRESQL else "the server"


def confirmation_of(target: Target) -> ConfirmedRights | None:
    """Return what is confirmed of the login that a target has now; None where that is nothing."""
    return ConfirmedRights.objects.filter(
        target=target, username=target.username, base_url=target.base_url
    ).first()


def why_not_run(target: Target, what: str, found: Sequence[str]) -> str:
    """Return why a run must not begin with the rights that its login has now; empty where each of them is confirmed."""
    held = confirmation_of(target)
    others = [right for right in found if held is None or right not in held.rights]
    return why_not_confirmed(target, what, others) if others else ""


def is_confirmed(target: Target) -> bool:
    """Return whether just the rights that are known of its login are confirmed; True where it has none."""
    held = confirmation_of(target)
    return not target.rights or (held is not None and holds(held, target))


def why_not_confirmed(target: Target, what: str, rights: Sequence[str]) -> str:
    """Return why what an author wrote is not executed with these rights, and what to do. what: such as SQL."""
    return (
        f"The user “{target.username}” of “{target.name}” has rights beyond {place_of(target)}: {', '.join(rights)}. "
        f"{what} of a campaign's author would have them, too. Give the target a user without them, or let an admin of the "
        f"team “{target.team}” confirm them on the target's page."
    )


def ask_rights(target: Target, driver: Driver) -> None:
    """Ask a server for the rights of its login, and store them. One that is measured or does not answer changes nothing."""
    if busy(target, database_now(), 0.0) is not None:
        return
    try:
        found = driver.rights(as_driver_sees_it(target), rules_for(target))
    except (DriverError, NetworkError, SecretUnreadable):
        return
    note_rights(target, found)


def note_rights(target: Target, found: Sequence[str] | None) -> None:
    """Store the rights of a login, unless the target has another one by now. None: logins there have no such rights."""
    if found is None or target.rights == list(found):
        return
    target.rights = list(found)
    same = Target.objects.filter(pk=target.pk, username=target.username, base_url=target.base_url)
    same.update(rights=target.rights)


@transaction.atomic
def confirm_rights(target: Target, rights: Sequence[str], user: User) -> ConfirmedRights:
    """Confirm the rights of the login of a target, as an admin of its team. rights: those that were shown.

    Raise Invalid where the login has others by now, NotAllowed.
    """
    target = Target.objects.select_for_update(of=("self",), no_key=True).get(pk=target.pk)
    require_right(user, target, Right.MANAGE)
    if not rights or set(rights) != set(target.rights or ()):
        known = ", ".join(target.rights or ()) or "none"
        raise Invalid(
            {
                "rights": [
                    f"The rights of its login are: {known}. Look at them again, and confirm those."
                ]
            }
        )
    row, _ = ConfirmedRights.objects.update_or_create(
        target=target,
        defaults={
            "rights": target.rights,
            "username": target.username,
            "base_url": target.base_url,
            "confirmed_by": user,
            "confirmed_at": Now(),
        },
    )
    record(
        Action.RIGHTS_CONFIRMED,
        user=user,
        subject=target,
        rights=target.rights,
        username=target.username,
        base_url=target.base_url,
    )
    row.refresh_from_db()
    return row


@transaction.atomic
def withdraw_rights(target: Target, user: User) -> None:
    """Withdraw what was confirmed. Raise NotPossible where nothing was, NotAllowed."""
    require_right(user, target, Right.MANAGE)
    row = ConfirmedRights.objects.filter(target=target).first()
    if row is None:
        raise NotPossible(f"No rights of the login of “{target.name}” are confirmed.")
    record(Action.RIGHTS_WITHDRAWN, user=user, subject=target, rights=row.rights)
    row.delete()
