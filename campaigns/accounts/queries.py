"""Teams with their members, and people with their teams. Reads only."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Count, Prefetch, QuerySet

from campaigns.kit.rights import teams_with
from campaigns.models import Membership, Role, Team


@dataclass(frozen=True, slots=True)
class TeamRow:
    """A team in a list. roles: labels of the user's roles; empty for non-members."""

    team: Team
    members: int
    roles: str


def team_rows(user: User) -> list[TeamRow]:
    """Return the teams that a user may see, by name."""
    own = dict(Membership.objects.filter(user=user).values_list("team", "roles"))
    teams = teams_with(user).annotate(members=Count("memberships"))
    return [TeamRow(team, team.members, roles_text(own.get(team.pk, ()))) for team in teams]


def members_of(team: Team) -> QuerySet[Membership]:
    """Return the members of a team, by name."""
    return team.memberships.select_related("user").order_by("user__username")


def people() -> QuerySet[User]:
    """Return all accounts with their memberships, by name; those without a team first."""
    memberships = Membership.objects.select_related("team").order_by("team__name")
    teams = Prefetch("memberships", memberships)
    rows = User.objects.annotate(number=Count("memberships"))
    return rows.prefetch_related(teams).order_by("number", "username")


def roles_text(roles: Sequence[str]) -> str:
    """Return the labels of roles, joined by commas."""
    return ", ".join(Role(role).label for role in roles)
