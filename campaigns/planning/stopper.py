"""Who is to stop a search for capacity: an account that may cancel the campaign."""

from django.contrib.auth.models import User

from campaigns.kit.rights import Right, may
from campaigns.models import Team
from campaigns.planning.search import Search


def who_stops(search: Search, team: Team) -> User | None:
    """Return the account that a search names; None where it names none that may cancel a campaign of the team."""
    user = User.objects.filter(username=search.person, is_active=True).first()
    return user if user is not None and may(user, team, Right.OPERATE) else None


def no_one_to_stop(search: Search, team: Team) -> str:
    """Say that a search names nobody who may cancel it."""
    return f"“{search.person}” is no account that may cancel this campaign. Name an operator of the team {team}."
