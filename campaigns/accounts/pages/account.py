"""The account page: API tokens and sign-in settings."""

from datetime import datetime, timedelta
from typing import NamedTuple

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from campaigns.accounts import access
from campaigns.accounts.sign_in import own_email
from campaigns.kit.database_clock import database_now
from campaigns.kit.mappings import TemplateContext
from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.rights import Right
from campaigns.models import ApiToken, Scope

SOON = timedelta(days=7)
INITIAL = {"may": Scope.READ, "expires": "90d"}


class State(NamedTuple):
    """The state of a token: its name, tone and icon."""

    word: str
    tone: str
    icon: str


@require_GET
@takes(Right.SEE)
def account(request: HttpRequest) -> HttpResponse:
    """Show sign-in methods, sessions and API tokens of the user."""
    return _account_page(request)


@never_cache
@require_http_methods(["POST"])
@takes(Right.SEE)
def create_token(request: HttpRequest) -> HttpResponse:
    """Make a token and show it once, in this response: no redirect or session holds it."""
    form = access.TokenForm(request.POST)
    if not form.is_valid():
        return _account_page(request, form, status=422)
    token, text = access.make_token(user_of(request), **form.cleaned_data)
    return _account_page(request, made=token, text=text)


@require_POST
@takes(Right.SEE)
def revoke_token(request: HttpRequest, pk: int) -> HttpResponse:
    """Revoke a token of the user."""
    access.revoke(get_object_or_404(ApiToken, pk=pk, user=user_of(request)))
    return redirect("account")


def _account_page(
    request: HttpRequest,
    form: access.TokenForm | None = None,
    *,
    made: ApiToken | None = None,
    text: str = "",
    status: int = 200,
) -> HttpResponse:
    user: User = user_of(request)
    now = database_now()
    rows = [_token_row(token, now) for token in user.api_tokens.order_by("-created_at")]
    context = {
        "tokens": sorted(rows, key=lambda row: bool(row["over"])),
        "form": form or access.TokenForm(initial=INITIAL),
        "made": made and _token_row(made, now),
        "text": text,
    }
    page = own_email.about(request) | context
    return render(request, "accounts/account.html", page, status=status)


def _token_row(token: ApiToken, now: datetime) -> TemplateContext:
    """Return what the page shows of a token. `over`: it is expired or revoked."""
    expires = token.expires_at
    expired = expires is not None and expires <= now
    if token.revoked_at is not None:
        state = State("revoked", "thin", "no")
    elif expired:
        state = State("expired", "thin", "clock")
    elif expires is not None and expires <= now + SOON:
        state = State("expires soon", "warn", "warn")
    else:
        state = State("in force", "pass", "check")
    return {
        "token": token,
        "may": access.permissions_text(token),
        "state": state,
        "over": expired or token.revoked_at is not None,
    }
