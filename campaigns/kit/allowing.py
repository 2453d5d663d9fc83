"""Looks within a transaction whether somebody still may; finds the team that something new belongs to."""

from django.contrib.auth.models import User

from campaigns.kit.activity import acting
from campaigns.kit.errors import Invalid
from campaigns.kit.rights import NotAllowed, Right, refusal_anywhere, require, teams_with
from campaigns.models import Campaign, Membership, Target, Team

Owned = Campaign | Target


def require_right(user: User | None, row: Owned, right: Right) -> None:
    """Raise NotVisible, or NotAllowed. Without a user perfdash acts by itself, and may."""
    if user is not None:
        require(user, row.team, right)


def require_of_asker(row: Owned, right: Right) -> None:
    """The same of whoever sends the request; commands and tasks may."""
    require_right(acting.who(), row, right)


def team_for(user: User, given: object = None, right: Right = Right.WRITE) -> Team:
    """The team that something new belongs to: the one that is named, by key or name, else one's only one.

    Raise Invalid, NotAllowed where somebody has the right in no team.
    """
    teams = list(teams_with(user, right))
    if not teams:
        raise NotAllowed(refusal_anywhere(right))
    known = ", ".join(f"{team.pk} ({team.name})" for team in teams)
    if given not in (None, ""):
        found = [team for team in teams if str(given) in (str(team.pk), team.name)]
        if len(found) == 1:
            return found[0]
        raise Invalid({"team": [f"You write in no team “{str(given)[:100]}”; there are {known}."]})
    own = set(Membership.objects.filter(user=user).values_list("team", flat=True))
    mine = [team for team in teams if team.pk in own] if user.is_superuser else teams
    mine = mine or teams
    if len(mine) == 1:
        return mine[0]
    raise Invalid({"team": [f"Say whose it is, since you write in several teams: {known}."]})
