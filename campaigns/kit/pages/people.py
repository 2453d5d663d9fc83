"""The user of a page, and the user's rights.

Every view declares with `takes` the right that it needs, and for which row; a test fails for one that
does not.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from campaigns.kit.errors import Invalid
from campaigns.kit.pages.moved import posted
from campaigns.kit.rights import May, Right, Takes, admit, find, teams_with
from campaigns.models import Campaign, Target

SAFE = ("GET", "HEAD", "OPTIONS")
View = TypeVar("View", bound=Callable[..., Any])


def user_of(request: HttpRequest) -> User:
    """Return the user. Raise PermissionDenied for an anonymous one; LoginRequiredMiddleware lets none through."""
    if isinstance(request.user, User):
        return request.user
    raise PermissionDenied


def takes(
    right: Right,
    of: type[Model] | None = None,
    *,
    change: Right | None = None,
    key: str = "pk",
) -> Callable[[View], View]:
    """Require a right in the team of the row that the path names; else 404 or 403.

    `change`: the right that anything but reading takes, where it is another one. See `Takes`.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *arguments: Any, **named: Any) -> Any:
            needed = right if request.method in SAFE else change or right
            admit(user_of(request), needed, of, named.get(key))
            return view(request, *arguments, **named)

        cast(Any, guarded).takes = Takes(right, of, change, key)
        return cast(View, guarded)

    return decorate


def campaign_of(
    request: HttpRequest,
    pk: int | str,
    right: Right = Right.SEE,
    rows: QuerySet[Campaign] | None = None,
) -> Campaign:
    """Return a campaign to which the user has the right. Raise NotVisible, NotAllowed."""
    campaigns = Campaign.objects.select_related("target") if rows is None else rows
    return find(campaigns, user_of(request), right, pk=pk)


def target_of(request: HttpRequest, pk: int | str, right: Right = Right.SEE) -> Target:
    """Return a target to which the user has the right. Raise NotVisible, NotAllowed."""
    return find(Target.objects.all(), user_of(request), right, pk=pk)


class TeamForm(forms.Form):
    """A select for the team of a new row; `rights.team_for` checks it."""

    team = forms.CharField(
        required=False, widget=forms.Select, help_text="Its members see it; nobody else does."
    )


def team_form(
    request: HttpRequest, right: Right = Right.WRITE, invalid: Invalid | None = None
) -> TeamForm | None:
    """Return the form for the team, with its errors; None if there is only one team."""
    teams = list(teams_with(user_of(request), right))
    if len(teams) < 2:
        return None
    form = TeamForm(posted(request), initial=request.GET.dict())
    choices = [("", "choose a team"), *((str(team.pk), team.name) for team in teams)]
    form.fields["team"].widget = forms.Select(choices=choices)
    if invalid is not None and "team" in invalid.errors:
        form.add_error("team", invalid.errors["team"])
    return form


def may(request: HttpRequest) -> May:
    """Return the user's rights by team; read once per request."""
    known: May | None = getattr(request, "_may", None)
    if known is None:
        known = May(request.user)
        cast(Any, request)._may = known
    return known


def rights(request: HttpRequest) -> dict[str, May]:
    """Return `may` for all templates (a context processor)."""
    return {"may": may(request)} if request.user.is_authenticated else {}
