"""Who may do what: roles are in a team, rights follow from roles. The only place that decides it."""

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
    """Leave out what rests on a campaign of a team that somebody does not see."""
    if user.is_active and user.is_superuser:
        return rows
    teams = teams_with(user).order_by().values("pk")
    hidden = Evidence.objects.filter(conclusion=OuterRef("pk")).exclude(campaign__team__in=teams)
    return rows.exclude(Exists(hidden))


Row = TypeVar("Row", bound=Model)


class Right(StrEnum):
    """What somebody may do with what belongs to a team."""

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
IN_WORDS: Mapping[Right, str] = {
    Right.SEE: "view",
    Right.COMMENT: "comment",
    Right.WRITE: "define campaigns and write conclusions",
    Right.OPERATE: "launch and steer campaigns, and change targets",
    Right.REVIEW: "decide on conclusions",
    Right.MANAGE: "manage members and rules",
}


NOTHING = "There is nothing here that you may see."


class NotVisible(Http404):
    """A stranger learns nothing, not even that it exists."""


class NotAllowed(PermissionDenied):
    """He sees it, and may not do this; the message says which role it takes and who gives it."""


def rights_of(roles: Iterable[str]) -> frozenset[Right]:
    """What a member with these roles may."""
    return frozenset().union(*(RIGHTS[Role(role)] for role in roles))


def rights_in(user: User | AnonymousUser, team: Team | int) -> frozenset[Right]:
    """What somebody may in a team; the owner of the installation may everything everywhere."""
    key = team if isinstance(team, int) else team.pk
    roles = Membership.objects.filter(team=key, user=user.pk).values_list("roles", flat=True)
    return rights_by(user, roles.first() or ())


def rights_by(user: User | AnonymousUser, roles: Iterable[str]) -> frozenset[Right]:
    """What somebody may in a team in which he has these roles; the owner of the installation all."""
    if not user.is_active:
        return frozenset()
    return frozenset(Right) if user.is_superuser else rights_of(roles)


class May:
    """In which teams somebody has which right, by primary keys; read once, for pages.

    Templates ask `campaign.team_id in may.operate`.
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
        """The teams in which it may."""
        return frozenset(team for team, rights in self._roles.items() if right in rights)

    @property
    def see(self) -> frozenset[int]:
        """Where it may look."""
        return self.teams(Right.SEE)

    @property
    def comment(self) -> frozenset[int]:
        """Where it may comment."""
        return self.teams(Right.COMMENT)

    @property
    def write(self) -> frozenset[int]:
        """Where it may define and conclude."""
        return self.teams(Right.WRITE)

    @property
    def operate(self) -> frozenset[int]:
        """Where it may launch and steer."""
        return self.teams(Right.OPERATE)

    @property
    def review(self) -> frozenset[int]:
        """Where it may decide on conclusions."""
        return self.teams(Right.REVIEW)

    @property
    def manage(self) -> frozenset[int]:
        """Where it may manage members and rules."""
        return self.teams(Right.MANAGE)


def may(user: User | AnonymousUser, team: Team | int, right: Right) -> bool:
    """Return whether somebody has a right in a team."""
    return right in rights_in(user, team)


def require(user: User | AnonymousUser, team: Team | int, right: Right) -> None:
    """Raise NotVisible, or NotAllowed where he may see it."""
    require_rights(rights_in(user, team), team, right)


def require_rights(rights: frozenset[Right], team: Team | int, right: Right) -> None:
    """The same for rights that were read already."""
    if Right.SEE not in rights:
        raise NotVisible(NOTHING)
    if right not in rights:
        raise NotAllowed(refusal(team, right))


def refusal(team: Team | int, right: Right) -> str:
    """Return which role something takes, and who can give it."""
    found = Team.objects.get(pk=team) if isinstance(team, int) else team
    roles = " or ".join(role.label for role in Role if right in RIGHTS[role])
    return (
        f"To {IN_WORDS[right]} you need the role {roles} in the team “{found}”. "
        "An admin of that team can give it to you."
    )


def refusal_anywhere(right: Right) -> str:
    """Return which role something takes that belongs to no team yet."""
    roles = " or ".join(role.label for role in Role if right in RIGHTS[role])
    return (
        f"To {IN_WORDS[right]} you need the role {roles} in a team, and you have it in none. "
        "An admin of your team can give it to you."
    )


def teams_with(user: User | AnonymousUser, right: Right = Right.SEE) -> QuerySet[Team]:
    """The teams in which somebody has a right, by name."""
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
    """Narrow rows to those of teams in which somebody has a right; `path`: from a row to its team."""
    if user.is_active and user.is_superuser:
        return rows
    return rows.filter(**{f"{path}__in": teams_with(user, right).order_by().values("pk")})


def people_with(team: Team, right: Right) -> QuerySet[User]:
    """The members of a team that have a right, by name; accounts that are switched off are not."""
    roles = [role for role in Role if right in RIGHTS[role]]
    members = Membership.objects.filter(team=team, roles__overlap=roles)
    return User.objects.filter(is_active=True, pk__in=members.values("user")).order_by("username")
