"""The sign-in page, its name and password, and one-time links."""

from math import ceil
from typing import Any

from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView
from django.db.models import Max
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET
from django_htmx.http import HttpResponseClientRefresh

from campaigns.accounts import access
from campaigns.accounts.own_account import LONGEST_NAME
from campaigns.accounts.signing.coming_in import come_in, come_in_by_link
from campaigns.accounts.signing.doors import PASSWORD
from campaigns.kit.pages.fields import Field
from perfdash.clients import client_address


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

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """Let them in, after the second factor where there is one."""
        user: User = form.get_user()
        return come_in(self.request, user, PASSWORD, then=self.get_success_url())

    def get_context_data(self, **named: Any) -> dict[str, Any]:
        context = super().get_context_data(**named)
        form = context["form"]
        wrong = form.non_field_errors()
        name, password = form["username"], form["password"]
        invalid = {"aria-invalid": "true"} if wrong else {}
        context["message"] = " ".join(wrong)
        context["provider"] = settings.OIDC
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
    page = sign_in_page(request, message, 429, form=form)
    page.headers["Retry-After"] = str(max(1, ceil(seconds)))
    return page


def sign_in_page(request: HttpRequest, message: str, status: int, **named: Any) -> HttpResponse:
    """The form to sign in, with what there is to say first."""
    view = SignIn()
    view.setup(request)
    if request.method == "POST" and "form" not in named:
        named["form"] = SignInForm(request)
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
        return sign_in_page(request, str(refusal), 403)
    come_in_by_link(request, user)
    return redirect("home")
