"""The sign-in page, its refusals, one-time links, and codes for a forgotten password."""

from collections.abc import Callable
from functools import wraps
from hashlib import sha256
from math import ceil
from typing import Any, Final

from allauth.account.forms import ResetPasswordForm
from allauth.account.views import LoginView, PasswordResetView
from allauth.core.ratelimit import respond_429
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db.models import Max
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET
from django_htmx.http import HttpResponseClientRefresh

from campaigns.accounts import access
from campaigns.accounts.notifications import mail
from campaigns.accounts.sign_in.forms import SignInForm
from campaigns.accounts.sign_in.methods import LINK
from campaigns.accounts.sign_in.start_session import begin_session
from campaigns.kit import rates
from campaigns.kit.mappings import JsonObject, TemplateContext
from perfdash.clients import client_address

MAILS: Final = rates.Rate(3, 1800)
"""Codes to one e-mail address: three at once, then one every ten minutes, thus at most three in ten minutes."""
REQUESTS: Final = rates.Rate(10, 60)
"""Requests for a code from one client address."""


@method_decorator(login_not_required, name="dispatch")
class SignIn(LoginView):
    """The sign-in page. A poll by a page whose session ended reloads that page."""

    def dispatch(self, request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponseBase:
        if request.headers.get("HX-Request") and not request.user.is_authenticated:
            return HttpResponseClientRefresh()
        answer: HttpResponseBase = super().dispatch(request, *arguments, **named)
        return answer

    def get_context_data(self, **named: Any) -> TemplateContext:
        context: TemplateContext = super().get_context_data(**named)
        return context | {"provider": settings.OIDC, "by_mail": mail.is_offered()}


def by_mail(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Decorator: answer 404 where no mail server is configured."""

    @wraps(view)
    def offered(*arguments: Any, **named: Any) -> HttpResponseBase:
        if not mail.is_offered():
            raise Http404
        return view(*arguments, **named)

    return offered


class ForgottenPassword(PasswordResetView):
    """The page that mails a code for a new password.

    django-allauth limits the mails of each process; here those of all processes are counted together, in Redis.
    Where Redis is away, the limit of allauth remains.
    """

    def form_valid(self, form: ResetPasswordForm) -> HttpResponse:
        """Mail a code. Answer 429 where the e-mail address or the client has had too many."""
        email = sha256(form.cleaned_data["email"].lower().encode()).hexdigest()
        client = client_address(self.request)
        for who, rate in ((f"reset-from:{client}", REQUESTS), (f"reset-to:{email}", MAILS)):
            usage = rates.take(who, rate)
            if usage is not None and not usage.allowed:
                refusal: HttpResponse = respond_429(self.request)
                return refusal
        answer: HttpResponse = super().form_valid(form)
        return answer


def locked_out(
    request: HttpRequest, answer: HttpResponse | None, credentials: JsonObject | None
) -> HttpResponse:
    """Return the page that says how long this name is locked at this address. Other names and sign-in links still work."""
    seconds = _seconds_locked(request, credentials)
    minutes = max(1, ceil(seconds / 60))
    message = (
        f"Too many wrong passwords for this name from where you are. Wait {minutes} "
        f"minute{'' if minutes == 1 else 's'}, or use a sign-in link, which works at once."
    )
    # The form is not bound: validating it would count as another attempt.
    form = SignInForm(request=request, initial={"login": request.POST.get("login", "")})
    page = sign_in_page(request, message, 429, form=form)
    page.headers["Retry-After"] = str(max(1, ceil(seconds)))
    return page


def sign_in_page(
    request: HttpRequest, message: str, status: int, form: SignInForm | None = None
) -> HttpResponse:
    """Return the sign-in page with a message."""
    view = SignIn()
    view.setup(request)
    form = form or SignInForm(request=request)
    context = view.get_context_data(form=form) | {"message": message}
    return render(request, view.template_name, context, status=status)


def _seconds_locked(request: HttpRequest, credentials: JsonObject | None) -> float:
    """Return the time until the failures of this name at this address expire."""
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
    """Sign in by a one-time link. HEAD is refused, since programs that preview links would use it up."""
    if request.user.is_authenticated:
        return redirect("home")
    try:
        user = access.redeem(token)
    except access.LinkRefused as refusal:
        return sign_in_page(request, str(refusal), 403)
    begin_session(request, user, LINK)
    return redirect("home")
