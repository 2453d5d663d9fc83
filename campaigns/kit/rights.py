"""Rights of users: roles belong to a team, rights follow from roles. Pages and the REST API check them here only.

A row belongs to the team that its field `team` names. A model whose rows belong to a team otherwise has the path to it in `TEAM`;
one whose rows rest on rows of other teams, which a reader must see as well, has the path to these teams in `RESTS_ON`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Protocol, TypeVar, cast

from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, F, Model, OuterRef, QuerySet, Subquery, Value
from django.http import Http404

from campaigns.kit.activity import current_user
from campaigns.kit.errors import Invalid
from campaigns.models import Membership, Role, Team

Row = TypeVar("Row", bound=Model)
View = TypeVar("View", bound=Callable[..., Any])


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


def without_hidden(rows: QuerySet[Row], user: User | AnonymousUser) -> QuerySet[Row]:
    """Exclude rows that rest on a row of a team that the user may not see, as a conclusion rests on campaigns."""
    return rows.exclude(rests_elsewhere(rows.model, user))


def rests_elsewhere(model: type[Model], user: User | AnonymousUser) -> Exists | Value:
    """Return a condition of the rows of a model: whether they rest on a row of a team that the user may not see."""
    path = getattr(model, "RESTS_ON", "")
    if not path or (user.is_active and user.is_superuser):
        return Value(False)
    teams = teams_with(user).order_by().values("pk")
    # Of the annotation, `exclude` compares each team by itself; of the path, it would ask whether none of them is seen.
    rests = model._default_manager.filter(pk=OuterRef("pk"), **{f"{path}__isnull": False})
    return Exists(rests.annotate(rests_on=F(path)).exclude(rests_on__in=teams))


def people_with(team: Team, right: Right) -> QuerySet[User]:
    """Return the active members of a team who have a right, ordered by name."""
    roles = [role for role in Role if right in RIGHTS[role]]
    members = Membership.objects.filter(team=team, roles__overlap=roles)
    return User.objects.filter(is_active=True, pk__in=members.values("user")).order_by("username")


class Owned(Protocol):
    """A row of a team."""

    @property
    def team(self) -> Team: ...


@dataclass(frozen=True, slots=True)
class Takes:
    """The rights that a page needs, to read and to change, in the team of the row of `of` that `key` names.

    Without `of` the page belongs to no team: `see` admits all users, and the view narrows its rows by
    `visible`; any other right is needed in one team at least.
    """

    right: Right
    of: type[Model] | None = None
    change: Right | None = None
    key: str = "pk"


def admit(
    user: User | AnonymousUser, right: Right, of: type[Model] | None = None, key: Any = None
) -> None:
    """Raise NotVisible, or NotAllowed where a user may see the row but lacks the right."""
    if of is not None:
        find(of._default_manager.only("pk"), user, right, pk=key)
    elif right != Right.SEE and not teams_with(user, right).exists():
        raise NotAllowed(refusal_anywhere(right))


def find(
    rows: QuerySet[Row], user: User | AnonymousUser, right: Right = Right.SEE, **named: Any
) -> Row:
    """Return the row with these values, in one query. Raise NotVisible, or NotAllowed without the right.

    The message is the same for a row that does not exist, for one of another team, and for one that rests on
    rows of a team that the user may not see.
    """
    path = getattr(rows.model, "TEAM", "team")
    roles = Membership.objects.filter(team=OuterRef(path), user=user.pk).values("roles")
    is_hidden = rests_elsewhere(rows.model, user)
    found = rows.filter(**named).annotate(
        owned_by=F(path), roles_there=Subquery(roles), is_hidden=is_hidden
    )
    row = found.first()
    annotated: Any = row
    if row is None or annotated.is_hidden:
        raise NotVisible(NOTHING)
    require_rights(rights_by(user, annotated.roles_there or ()), annotated.owned_by, right)
    return row


def for_everybody(view: View) -> View:
    """Mark a view as open to all users; it shows nothing of any team."""
    cast(Any, view).takes = Takes(Right.SEE)
    return view


def require_right(user: User | None, row: Owned, right: Right) -> None:
    """Raise NotVisible or NotAllowed; nothing without a user, when perfdash itself acts."""
    if user is not None:
        require(user, row.team, right)


def require_right_of_sender(row: Owned, right: Right) -> None:
    """Check the sender of the request as `require_right` does; commands and tasks are allowed."""
    require_right(current_user(), row, right)


def team_for(user: User, wanted: object = None, right: Right = Right.WRITE) -> Team:
    """Return the team for a new row: the wanted one, by key or name, or the user's only one.

    Raise Invalid, or NotAllowed where the user has the right in no team.
    """
    teams = list(teams_with(user, right))
    if not teams:
        raise NotAllowed(refusal_anywhere(right))
    known = ", ".join(f"{team.pk} ({team.name})" for team in teams)
    if wanted not in (None, ""):
        matches = [team for team in teams if str(wanted) in (str(team.pk), team.name)]
        if len(matches) == 1:
            return matches[0]
        raise Invalid({"team": [f"You write in no team “{str(wanted)[:100]}”; there are {known}."]})
    own = set(Membership.objects.filter(user=user).values_list("team", flat=True))
    mine = [team for team in teams if team.pk in own] if user.is_superuser else teams
    mine = mine or teams
    if len(mine) == 1:
        return mine[0]
    raise Invalid({"team": [f"Say whose it is, since you write in several teams: {known}."]})
