"""People with roles, for tests."""

from django.contrib.auth.models import User

from campaigns.kit.rights import May
from campaigns.models import Membership, Team
from campaigns.models.teams import default_team


def somebody(name: str = "owner", *roles: str, team: Team | None = None, **fields: str) -> User:
    """Make an account; without roles it is an admin of the team, which is the default one."""
    user = User.objects.create_user(name, **fields)
    join(user, *roles, team=team)
    return user


def join(user: User, *roles: str, team: Team | None = None) -> Membership:
    """Make somebody a member; without roles an admin."""
    return Membership.objects.create(
        team_id=team.pk if team else default_team(), user=user, roles=list(roles) or ["admin"]
    )


def everywhere() -> May:
    """All rights in all teams that there are by now."""
    return May(User(is_superuser=True))
