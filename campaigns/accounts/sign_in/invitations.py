"""Pages of invitations: an admin creates a link; its recipient creates an account or joins the team."""

from typing import Any

from allauth.account.utils import perform_login
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from campaigns.accounts import invitations
from campaigns.accounts.own_account import NewAccount, new_user
from campaigns.accounts.sign_in.start_session import refused
from campaigns.kit.errors import Invalid
from campaigns.kit.forms import add_errors
from campaigns.kit.mappings import TemplateContext
from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.rights import ACTIVITIES, RIGHTS, Right
from campaigns.models import Invitation, Role, Team

STATES = {
    invitations.WAITING: ("info", "dots"),
    invitations.USED: ("pass", "check"),
    invitations.REVOKED: ("thin", "no"),
    invitations.EXPIRED: ("thin", "clock"),
}
"""Tone and icon of each state of an invitation."""


@never_cache
@require_http_methods(["GET", "POST"])
@takes(Right.MANAGE, Team)
def team_invitations(request: HttpRequest, pk: int) -> HttpResponse:
    """List the invitations of a team; POST creates one and shows its link once."""
    user, team = user_of(request), Team.objects.get(pk=pk)
    if request.method != "POST":
        offered = [role for role in Role if role in request.GET.getlist("role")]
        form = invitations.InvitationForm(initial={"roles": offered} if offered else None)
        return _list_page(request, team, form)
    form = invitations.InvitationForm(request.POST)
    sent = {name: request.POST.get(name, "") for name in ("note", "days")}
    try:
        made = invitations.make(user, team, roles=request.POST.getlist("roles"), **sent)
    except Invalid as invalid:
        add_errors(form, invalid)
        return _list_page(request, team, form, status=422)
    address = request.build_absolute_uri(reverse("invitation", args=[made.text]))
    return _list_page(request, team, invitations.InvitationForm(), made=made, address=address)


@require_POST
@takes(Right.MANAGE, Invitation)
def invitation_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """Revoke an unused invitation."""
    invitation = Invitation.objects.select_related("team").get(pk=pk)
    invitations.revoke(user_of(request), invitation)
    return redirect("team-invitations", invitation.team_id)


@login_not_required
@never_cache
@require_http_methods(["GET", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Show an invitation; POST creates an account, or adds the signed-in user to the team."""
    try:
        result = invitations.find(token)
        if request.method != "POST":
            return _invitation_page(request, result, token)
        if isinstance(request.user, User):
            return _join(request, request.user, result)
        return _make_account(request, result, token)
    except invitations.InvitationRefused as refusal:
        if request.user.is_authenticated:
            messages.error(request, str(refusal))
            return redirect("home")
        return refused(request, str(refusal))


def _join(request: HttpRequest, user: User, result: Invitation) -> HttpResponse:
    invitations.accept(user, result.pk)
    messages.success(request, f"You are now in the team “{result.team}”.")
    return redirect("home")


def _make_account(request: HttpRequest, result: Invitation, token: str) -> HttpResponse:
    form = NewAccount(request.POST)
    if not form.is_valid():
        return _invitation_page(request, result, token, form)
    data = form.cleaned_data
    try:
        with transaction.atomic():
            user = new_user(data["name"], data["email"], data["password"])
            invitations.accept(user, result.pk)
    except Invalid as invalid:
        form.add_error("name", invalid.errors["name"])
        return _invitation_page(request, result, token, form)
    answer: HttpResponse = perform_login(request, user)
    return answer


def _invitation_page(
    request: HttpRequest, result: Invitation, token: str, form: NewAccount | None = None
) -> HttpResponse:
    context = {
        "invitation": result,
        "token": token,
        "may": _may(result),
        "provider": settings.OIDC,
        "form": form or NewAccount(),
    }
    return render(request, "accounts/invitation.html", context, status=422 if form else 200)


def _may(result: Invitation) -> str:
    """Describe the rights of the roles of an invitation."""
    rights = frozenset().union(*(RIGHTS[Role(role)] for role in result.roles))
    return ", ".join(ACTIVITIES[right] for right in Right if right in rights)


def _list_page(
    request: HttpRequest,
    team: Team,
    form: invitations.InvitationForm,
    *,
    status: int = 200,
    **made: Any,
) -> HttpResponse:
    rows = [_row(match) for match in invitations.of(team)]
    context = {"team": team, "rows": rows, "form": form, **made}
    return render(request, "accounts/invitations.html", context, status=status)


def _row(result: Any) -> TemplateContext:
    """Return what the page shows of an invitation. `open`: it can still be used."""
    tone, icon = STATES[result.state]
    return {
        "invitation": result,
        "roles": ", ".join(Role(role).label for role in result.roles),
        "word": result.state,
        "tone": tone,
        "icon": icon,
        "open": result.state == invitations.WAITING,
    }
