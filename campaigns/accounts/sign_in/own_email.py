"""Change the e-mail address of the user, and describe sign-in settings for the account page."""

from allauth.account.decorators import reauthentication_required
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from campaigns.accounts import own_account, second_factor, sessions, single_sign_on
from campaigns.accounts.notifications import channels
from campaigns.kit.mappings import TemplateContext
from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.rights import Right


@never_cache
@require_http_methods(["GET", "POST"])
@takes(Right.SEE)
@reauthentication_required  # type: ignore[untyped-decorator]
def email(request: HttpRequest) -> HttpResponse:
    """Show and process the form of the e-mail address."""
    user = user_of(request)
    sent = request.POST if request.method == "POST" else None
    form = own_account.EmailForm(sent, initial={"email": user.email})
    if form.is_valid():
        own_account.set_email(user, form.cleaned_data["email"])
        text = f"Notifications go to {user.email}." if user.email else "There is no address now."
        messages.success(request, channels.follow_account(user) or text)
        return redirect("account")
    return render(
        request, "accounts/email.html", {"form": form}, status=422 if form.errors else 200
    )


def about(request: HttpRequest) -> TemplateContext:
    """Describe sign-in methods, second factor and sessions for the account page."""
    user = user_of(request)
    return {
        "has_password": user.has_usable_password(),
        "factor": second_factor.about(user),
        "sessions": sessions.of(user, request.session.session_key or ""),
        "provider": settings.OIDC,
        "connected": single_sign_on.is_connected(user),
    }
