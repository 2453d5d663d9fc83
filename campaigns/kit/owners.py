"""Access to rows of teams. Pages and the REST API check rights through this module only."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import F, Model, OuterRef, QuerySet, Subquery

from campaigns.kit.activity import current_user
from campaigns.kit.errors import Invalid
from campaigns.kit.rights import (
    NOTHING,
    NotAllowed,
    NotVisible,
    Right,
    refusal_anywhere,
    require,
    require_rights,
    rights_by,
    teams_with,
    without_hidden,
)
from campaigns.models import (
    Campaign,
    Comment,
    Conclusion,
    LaunchRequest,
    ManualStep,
    Membership,
    Target,
    Team,
    Thread,
)

Row = TypeVar("Row", bound=Model)
View = TypeVar("View", bound=Callable[..., Any])
PATHS: Mapping[type[Model], str] = {
    Comment: "thread__team",
    ManualStep: "target__team",
    LaunchRequest: "campaign__team",
    Team: "pk",
}
"""The path from a row to its team, where it is not the field `team`."""


@dataclass(frozen=True, slots=True)
class Takes:
    """The rights that a page needs, to read and to change, in the team of the row of `of` that `key` names.

    Without `of` the page belongs to no team: `see` admits all users, and the view narrows its rows by
    `rights.visible`; any other right is needed in one team at least.
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

    The message is the same for a row that does not exist and for one of another team. A conclusion may rest
    on campaigns of other teams; it is not visible to those who may not see all of them.
    """
    path = PATHS.get(rows.model, "team")
    roles = Membership.objects.filter(team=OuterRef(path), user=user.pk).values("roles")
    row = rows.filter(**named).annotate(owned_by=F(path), roles_there=Subquery(roles)).first()
    if row is None:
        raise NotVisible(NOTHING)
    key = _conclusion_of(row)
    if key and not without_hidden(Conclusion.objects.filter(pk=key), user).exists():
        raise NotVisible(NOTHING)
    annotated: Any = row
    require_rights(rights_by(user, annotated.roles_there or ()), annotated.owned_by, right)
    return row


def _conclusion_of(row: Model) -> int | None:
    """Return the primary key of the conclusion that a row is, or is a thread or comment on."""
    if isinstance(row, Conclusion):
        return row.pk
    thread = row.thread if isinstance(row, Comment) else row
    return thread.conclusion_id if isinstance(thread, Thread) else None


def for_everybody(view: View) -> View:
    """Mark a view as open to all users; it shows nothing of any team."""
    cast(Any, view).takes = Takes(Right.SEE)
    return view


Owned = Campaign | Target


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


TARGET = "a target of another team"
CAMPAIGN = "a campaign of another team"


def target_name(row: Target, team: int | None) -> str:
    """Return the name of a target for a team: other teams' targets are not named."""
    return row.name if row.team_id == team else TARGET


def quoted_target(row: Target, team: int | None) -> str:
    """Return `target_name` for a sentence, in quotation marks."""
    return f"“{row.name}”" if row.team_id == team else TARGET


def quoted_campaign(row: Campaign, team: int | None) -> str:
    """Return the name of a campaign for a sentence; other teams' campaigns are not named."""
    return f"“{row.name}”" if row.team_id == team else CAMPAIGN
