"""Whose a row is, and who may do what with it: pages and the REST API let people in by this alone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import F, Model, OuterRef, QuerySet, Subquery

from campaigns.kit.rights import (
    NOTHING,
    NotAllowed,
    NotVisible,
    Right,
    refusal_anywhere,
    require_rights,
    rights_by,
    teams_with,
    without_hidden,
)
from campaigns.models import (
    Comment,
    Conclusion,
    HandRequest,
    LaunchRequest,
    Membership,
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
    """Give the row of these names, if somebody has the right to it. Raise NotVisible, NotAllowed.

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
