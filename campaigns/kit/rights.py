"""Rights of users: roles belong to a team, rights follow from roles. Only this module decides them."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cached_property
from typing import TypeVar

from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, Model, OuterRef, QuerySet
from django.http import Http404

from campaigns.models import Conclusion, Evidence, Membership, Role, Team


def without_hidden(rows: QuerySet[Conclusion], user: User | AnonymousUser) -> QuerySet[Conclusion]:
    """Exclude conclusions that rest on a campaign of a team that the user may not see."""
    if user.is_active and user.is_superuser:
        return rows
    teams = teams_with(user).order_by().values("pk")
    hidden = Evidence.objects.filter(conclusion=OuterRef("pk")).exclude(campaign__team__in=teams)
    return rows.exclude(Exists(hidden))


Row = TypeVar("Row", bound=Model)


class Right(StrEnum):
    """What a user may do with the rows of a team."""

    SEE = "see"
    COMMENT = "comment"
    WRITE = "write"
    OPERATE = "operate"
    REVIEW = "review"
    MANAGE = "manage"


RIGHTS: Mapping[Role, frozenset[Right]] = {
    Role.VIEWER: frozenset({Right.SEE, Right.COMMENT}),
    Role.AUTHOR: frozenset({Right.SEE, Right.COMMENT, Right.WRITE}),
    Role.OPERATOR: frozenset({Right.SEE, Right.COMMENT, Right.WRITE, Right.OPERATE}),
    Role.REVIEWER: frozenset({Right.SEE, Right.COMMENT, Right.REVIEW}),
    Role.ADMIN: frozenset(Right),
}
ACTIVITIES: Mapping[Right, str] = {
    Right.SEE: "view",
    Right.COMMENT: "comment",
    Right.WRITE: "define campaigns and write conclusions",
    Right.OPERATE: "launch and steer campaigns, and change targets",
    Right.REVIEW: "decide on conclusions",
    Right.MANAGE: "manage members and rules",
}


NOTHING = "There is nothing here that you may see."


class NotVisible(Http404):
    """The user may not even know whether the row exists."""


class NotAllowed(PermissionDenied):
    """The user may see the row, but not do this; the message names the role and who can assign it."""


def rights_of(roles: Iterable[str]) -> frozenset[Right]:
    """Return the rights of a member with these roles."""
    return frozenset().union(*(RIGHTS[Role(role)] for role in roles))


def rights_in(user: User | AnonymousUser, team: Team | int) -> frozenset[Right]:
    """Return a user's rights in a team; a superuser has all rights in all teams."""
    key = team if isinstance(team, int) else team.pk
    roles = Membership.objects.filter(team=key, user=user.pk).values_list("roles", flat=True)
    return rights_by(user, roles.first() or ())


def rights_by(user: User | AnonymousUser, roles: Iterable[str]) -> frozenset[Right]:
    """Return the rights of a user who has these roles; all for a superuser, none for an inactive user."""
    if not user.is_active:
        return frozenset()
    return frozenset(Right) if user.is_superuser else rights_of(roles)


class May:
    """The primary keys of the teams in which a user has each right; read once, for pages.

    In templates: `{% if campaign.team_id in may.operate %}`.
    """

    def __init__(self, user: User | AnonymousUser) -> None:
        self._user = user

    @cached_property
    def _roles(self) -> Mapping[int, frozenset[Right]]:
        if not self._user.is_active:
            return {}
        if self._user.is_superuser:
            return dict.fromkeys(Team.objects.values_list("pk", flat=True), frozenset(Right))
        rows = Membership.objects.filter(user=self._user.pk).values_list("team", "roles")
        return {team: rights_of(roles) for team, roles in rows}

    def teams(self, right: Right) -> frozenset[int]:
        """Return the teams in which the user has a right."""
        return frozenset(team for team, rights in self._roles.items() if right in rights)

    @property
    def see(self) -> frozenset[int]:
        return self.teams(Right.SEE)

    @property
    def comment(self) -> frozenset[int]:
        return self.teams(Right.COMMENT)

    @property
    def write(self) -> frozenset[int]:
        return self.teams(Right.WRITE)

    @property
    def operate(self) -> frozenset[int]:
        return self.teams(Right.OPERATE)

    @property
    def review(self) -> frozenset[int]:
        return self.teams(Right.REVIEW)

    @property
    def manage(self) -> frozenset[int]:
        return self.teams(Right.MANAGE)


def may(user: User | AnonymousUser, team: Team | int, right: Right) -> bool:
    """Return whether a user has a right in a team."""
    return right in rights_in(user, team)


def require(user: User | AnonymousUser, team: Team | int, right: Right) -> None:
    """Raise NotVisible, or NotAllowed where the user may see the team's rows."""
    require_rights(rights_in(user, team), team, right)


def require_rights(rights: frozenset[Right], team: Team | int, right: Right) -> None:
    """Check, as `require` does, rights that were read already."""
    if Right.SEE not in rights:
        raise NotVisible(NOTHING)
    if right not in rights:
        raise NotAllowed(refusal(team, right))


def refusal(team: Team | int, right: Right) -> str:
    """Return a message that names the role for a right, and who can assign it."""
    name = Team.objects.get(pk=team) if isinstance(team, int) else team
    return (
        f"To {ACTIVITIES[right]} you need the role {_roles_with(right)} in the team “{name}”. "
        "An admin of that team can give it to you."
    )


def refusal_anywhere(right: Right) -> str:
    """Return the same message for something that belongs to no team yet."""
    return (
        f"To {ACTIVITIES[right]} you need the role {_roles_with(right)} in a team, and you have it in none. "
        "An admin of your team can give it to you."
    )


def _roles_with(right: Right) -> str:
    return " or ".join(role.label for role in Role if right in RIGHTS[role])


def teams_with(user: User | AnonymousUser, right: Right = Right.SEE) -> QuerySet[Team]:
    """Return the teams in which a user has a right, ordered by name."""
    teams = Team.objects.order_by("name")
    if not user.is_active:
        return teams.none()
    if user.is_superuser:
        return teams
    roles = [role for role in Role if right in RIGHTS[role]]
    members = Membership.objects.filter(user=user.pk, roles__overlap=roles)
    return teams.filter(pk__in=members.values("team"))


def visible(
    rows: QuerySet[Row], user: User | AnonymousUser, path: str = "team", right: Right = Right.SEE
) -> QuerySet[Row]:
    """Return the rows of teams in which a user has a right; `path`: from a row to its team."""
    if user.is_active and user.is_superuser:
        return rows
    return rows.filter(**{f"{path}__in": teams_with(user, right).order_by().values("pk")})


def people_with(team: Team, right: Right) -> QuerySet[User]:
    """Return the active members of a team who have a right, ordered by name."""
    roles = [role for role in Role if right in RIGHTS[role]]
    members = Membership.objects.filter(team=team, roles__overlap=roles)
    return User.objects.filter(is_active=True, pk__in=members.values("user")).order_by("username")
