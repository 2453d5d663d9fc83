"""Signing in and out, and API tokens."""

from datetime import datetime, timedelta
from math import ceil
from typing import Any, NamedTuple

from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView
from django.db.models import Max
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRefresh

from campaigns.definition import access
from campaigns.definition.checking import Invalid
from campaigns.models import ApiToken, Scope
from campaigns.queries.clock import database_now
from campaigns.web.fields import Field, from_form
from campaigns.web.people import user_of
from perfdash.clients import client_address

LONGEST_NAME = 150
SOON = timedelta(days=7)
FIRST_CHOICE = {"may": Scope.READ, "expires": "90d"}
MODEL_BACKEND = "django.contrib.auth.backends.ModelBackend"


class State(NamedTuple):
    """How it stands with a token: a word, its tone and icon."""

    word: str
    tone: str
    icon: str


class SignInForm(AuthenticationForm):
    """Refuses a name that nobody can have before it is looked up, or noted as a failure."""

    def clean_username(self) -> str:
        """Give the name. Raise ValidationError where it is too long."""
        name = str(self.cleaned_data["username"])
        if len(name) > LONGEST_NAME:
            raise self.get_invalid_login_error()
        return name


@method_decorator(login_not_required, name="dispatch")
class SignIn(LoginView):
    """Name and password. A poll of a page whose session ended makes that page load again."""

    template_name = "accounts/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def dispatch(self, request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponseBase:
        if request.headers.get("HX-Request") and not request.user.is_authenticated:
            return HttpResponseClientRefresh()
        return super().dispatch(request, *arguments, **named)

    def get_context_data(self, **named: Any) -> dict[str, Any]:
        context = super().get_context_data(**named)
        form = context["form"]
        wrong = form.non_field_errors()
        name, password = form["username"], form["password"]
        invalid = {"aria-invalid": "true"} if wrong else {}
        context["message"] = " ".join(wrong)
        context["fields"] = [
            Field(
                "username",
                "Name",
                name.value() or "",
                errors=name.errors,
                autocomplete="username",
                attributes=invalid,
            ),
            Field(
                "password",
                "Password",
                shape="password",
                errors=password.errors,
                attributes=invalid,
            ),
        ]
        return context


def locked_out(
    request: HttpRequest, answer: HttpResponse | None, credentials: dict[str, Any] | None
) -> HttpResponse:
    """Say how long this name has to wait at this address. Everybody else, and every link, gets in."""
    seconds = _seconds_locked(request, credentials)
    minutes = max(1, ceil(seconds / 60))
    message = (
        f"Too many wrong passwords for this name from where you are. Wait {minutes} "
        f"minute{'' if minutes == 1 else 's'}, or use a sign-in link, which works at once."
    )
    # A form that is not bound: to check this one would be the next try.
    form = SignInForm(request, initial={"username": request.POST.get("username", "")})
    page = _sign_in_page(request, message, 429, form=form)
    page.headers["Retry-After"] = str(max(1, ceil(seconds)))
    return page


def _sign_in_page(request: HttpRequest, message: str, status: int, **named: Any) -> HttpResponse:
    """The form to sign in, with what there is to say first."""
    view = SignIn()
    view.setup(request)
    context = view.get_context_data(**named) | {"message": message}
    return render(request, view.template_name, context, status=status)


def _seconds_locked(request: HttpRequest, credentials: dict[str, Any] | None) -> float:
    """Until the failures of this name at this address are too old to count."""
    latest = AccessAttempt.objects.filter(
        username=(credentials or {}).get("username"), ip_address=client_address(request)
    ).aggregate(latest=Max("attempt_time"))["latest"]
    if latest is None:
        return 0.0
    return float((latest + settings.AXES_COOLOFF_TIME - timezone.now()).total_seconds())


@login_not_required
@never_cache
@require_GET
def sign_in_by_link(request: HttpRequest, token: str) -> HttpResponse:
    """Use a one-time link up. HEAD is refused, so that nothing looks a link to death."""
    if request.user.is_authenticated:
        return redirect("home")
    try:
        user = access.redeem(token)
    except access.LinkRefused as refusal:
        return _sign_in_page(request, str(refusal), 403)
    login(request, user, backend=MODEL_BACKEND)
    return redirect("home")


@require_GET
def account(request: HttpRequest) -> HttpResponse:
    """The tokens of the one who looks."""
    return _account_page(request)


@never_cache
@require_http_methods(["POST"])
def create_token(request: HttpRequest) -> HttpResponse:
    """Make a token and show it, this once: it goes into no redirect and no session."""
    sent = {name: request.POST.get(name, "") for name in access.TokenForm.base_fields}
    try:
        token, text = access.make_token(user_of(request), **sent)
    except Invalid as invalid:
        return _account_page(request, sent=sent, errors=invalid.errors, status=422)
    return _account_page(request, made=token, text=text)


@require_POST
def revoke_token(request: HttpRequest, pk: int) -> HttpResponse:
    """End one of one's own tokens."""
    access.revoke(get_object_or_404(ApiToken, pk=pk, user=user_of(request)))
    return redirect("account")


def _account_page(
    request: HttpRequest,
    *,
    sent: dict[str, str] | None = None,
    errors: dict[str, list[str]] | None = None,
    made: ApiToken | None = None,
    text: str = "",
    status: int = 200,
) -> HttpResponse:
    user: User = user_of(request)
    values = sent or FIRST_CHOICE
    now = database_now()
    rows = [_token_row(token, now) for token in user.api_tokens.order_by("-created_at")]
    context = {
        "tokens": sorted(rows, key=lambda row: bool(row["over"])),
        "fields": [
            from_form(name, field, values.get(name, ""), (errors or {}).get(name, ()))
            for name, field in access.TokenForm.base_fields.items()
        ],
        "made": made and _token_row(made, now),
        "text": text,
    }
    return render(request, "accounts/account.html", context, status=status)


def _token_row(token: ApiToken, now: datetime) -> dict[str, Any]:
    """What the page says of a token. `over`: it lets nobody in any more."""
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
        "may": access.may_in_words(token),
        "state": state,
        "over": expired or token.revoked_at is not None,
    }
