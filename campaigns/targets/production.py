"""Protect the production mark of a server where loading it takes two people."""

from django.contrib.auth.models import User

from campaigns.kit.activity import current_user
from campaigns.kit.rights import NotAllowed, Right, may
from campaigns.models import Target
from campaigns.targets.allowed import same_server


def require_to_unmark(target: Target, user: User | None = None) -> None:
    """Raise NotAllowed where a user who is no admin of the team would remove the mark of the server.

    user: None: the user of the current request. Commands and tasks may.
    """
    user = user or current_user()
    held = Target.objects.select_related("team").filter(pk=target.pk).first()
    if user is None or held is None or not is_protected(held) or may(user, held.team, Right.MANAGE):
        return
    raise NotAllowed(
        f"“{held.name}” is a production server, and loading it needs two people. An admin of "
        "the team "
        f"“{held.team}” can remove the mark, change the address, retire or delete it."
    )


def is_server_protected(target: Target) -> bool:
    """Return whether any target of the same server is protected: an unmarked one leads to it, too."""
    return any(is_protected(row) for row in same_server(target))


def is_protected(target: Target) -> bool:
    """Return whether a target has the mark, and a team with the same server requires two people."""
    return target.is_production and any(
        row.team.second_for_production for row in same_server(target)
    )
