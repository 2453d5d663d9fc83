"""Whose a row is, and who may do what with it: pages and the REST API let people in by this alone."""

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
    HandRequest,
    LaunchRequest,
    Membership,
    Target,
    Team,
    Thread,
)

Row = TypeVar("Row", bound=Model)
View = TypeVar("View", bound=Callable[..., Any])
PATHS: Mapping[type[Model], str] = {
    Comment: "thread__team",
    HandRequest: "target__team",
    LaunchRequest: "campaign__team",
    Team: "pk",
}
"""From a row to its team, where that is not its own field `team`."""


@dataclass(frozen=True, slots=True)
class Takes:
    """What an address takes: the right to read, and to change, in the team of the row `key` of `of`.

    Without `of` nothing of a team is named: `see` then lets everybody in who is signed in, and the
    view narrows what it shows by `rights.visible`; any other right is needed in one team at least.
    """

    right: Right
    of: type[Model] | None = None
    change: Right | None = None
    key: str = "pk"


def admit(
    user: User | AnonymousUser, right: Right, of: type[Model] | None = None, key: Any = None
) -> None:
    """Raise NotVisible, or NotAllowed where somebody sees it but has no right to it."""
    if of is not None:
        find(of._default_manager.only("pk"), user, right, pk=key)
    elif right != Right.SEE and not teams_with(user, right).exists():
        raise NotAllowed(refusal_anywhere(right))


def find(
    rows: QuerySet[Row], user: User | AnonymousUser, right: Right = Right.SEE, **named: Any
) -> Row:
    """Return the row of these names, if somebody has the right to it. Raise NotVisible, NotAllowed.

    What is not there, and what is another team's, is refused in the same words. One query.
    """
    path = PATHS.get(rows.model, "team")
    roles = Membership.objects.filter(team=OuterRef(path), user=user.pk).values("roles")
    found = rows.filter(**named).annotate(owned_by=F(path), roles_there=Subquery(roles)).first()
    if found is None:
        raise NotVisible(NOTHING)
    row: Any = found
    conclusion = _conclusion_of(found)
    if conclusion is not None and not _sees_evidence(conclusion, user):
        raise NotVisible(NOTHING)
    require_rights(rights_by(user, row.roles_there or ()), row.owned_by, right)
    return found


def _conclusion_of(found: Model) -> int | None:
    """The conclusion that a row is, or is said of."""
    if isinstance(found, Conclusion):
        return found.pk
    thread = found.thread if isinstance(found, Comment) else found
    return thread.conclusion_id if isinstance(thread, Thread) else None


def _sees_evidence(conclusion: int, user: User | AnonymousUser) -> bool:
    """A conclusion may rest on campaigns of other teams: whoever does not see these sees nothing."""
    return without_hidden(Conclusion.objects.filter(pk=conclusion), user).exists()


def for_everybody(view: View) -> View:
    """Say of a view that it is for whoever is signed in, and shows nothing of any team."""
    cast(Any, view).takes = Takes(Right.SEE)
    return view


Owned = Campaign | Target


def require_right(user: User | None, row: Owned, right: Right) -> None:
    """Raise NotVisible, or NotAllowed. Without a user perfdash acts by itself, and may."""
    if user is not None:
        require(user, row.team, right)


def require_right_of_sender(row: Owned, right: Right) -> None:
    """The same of whoever sends the request; commands and tasks may."""
    require_right(current_user(), row, right)


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


TARGET = "a target of another team"
CAMPAIGN = "a campaign of another team"


def target_name(row: Target, team: int | None) -> str:
    """The name of a target, for a team."""
    return row.name if row.team_id == team else TARGET


def quoted_target(row: Target, team: int | None) -> str:
    """The same within a sentence."""
    return f"“{row.name}”" if row.team_id == team else TARGET


def quoted_campaign(row: Campaign, team: int | None) -> str:
    """The name of a campaign within a sentence, for a team."""
    return f"“{row.name}”" if row.team_id == team else CAMPAIGN
