"""Pages that use the OpenID Connect provider: sign in, accept an invitation, connect an account.

The code of the exchange is imported at the first sign-in, so that the start is faster.
"""

from typing import Final

from allauth.account.decorators import reauthentication_required
from allauth.account.utils import get_next_redirect_url
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from campaigns.accounts import invitations, single_sign_on
from campaigns.accounts.single_sign_on import ours
from campaigns.kit import rates
from campaigns.kit.mappings import JsonObject
from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.rights import Right
from perfdash.clients import client_address

TRIES: Final = rates.Rate(30, 60)
"""How often a client address may begin a sign-in with the provider."""


@login_not_required
@never_cache
@require_GET
def begin(request: HttpRequest) -> HttpResponse:
    """Redirect to the provider. `next`: where to go afterwards; `invitation`: the token of an invitation."""
    _refuse_without_provider()
    if request.user.is_authenticated:
        return redirect("home")
    data = {"invitation": _opened(request)}
    return _to_provider(request, "login", data, get_next_redirect_url(request))


@require_POST
@takes(Right.SEE)
@reauthentication_required  # type: ignore[untyped-decorator]
def connect(request: HttpRequest) -> HttpResponse:
    """Show the link that connects the account. A redirect is impossible: the CSP allows forms only to this host."""
    _refuse_without_provider()
    answer = _to_provider(request, "connect", {"user": user_of(request).pk})
    context = {"address": answer["Location"], "provider": ours()}
    return render(request, "accounts/connect.html", context)


@require_POST
@takes(Right.SEE)
@reauthentication_required  # type: ignore[untyped-decorator]
def disconnect(request: HttpRequest) -> HttpResponse:
    """Disconnect the account from the provider."""
    _refuse_without_provider()
    try:
        single_sign_on.disconnect(user_of(request))
    except single_sign_on.NotLetIn as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, f"{ours().name} lets nobody into this account any more.")
    return redirect("account")


@login_not_required
@never_cache
@require_GET
def callback(request: HttpRequest) -> HttpResponse:
    """Handle the return from the provider, with a one-time code or an error."""
    from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView

    from campaigns.accounts.sign_in.exchange import Exchange

    _refuse_without_provider()
    answer: HttpResponse = OAuth2CallbackView.adapter_view(Exchange(request, ours().issuer))(
        request
    )
    return answer


def _to_provider(
    request: HttpRequest, process: str, data: JsonObject, then: str | None = None
) -> HttpResponse:
    """Return the redirect to the sign-in page of the provider."""
    from campaigns.accounts.sign_in import exchange

    usage = rates.take(f"oidc:{client_address(request)}", TRIES)
    if usage is not None and not usage.allowed:
        message = "Too many sign-ins from where you are. Wait a minute."
        raise exchange.refusal(request, message, 429)
    return exchange.begin(request, process, data, then)


def _refuse_without_provider() -> None:
    if settings.OIDC is None:
        raise Http404


def _opened(request: HttpRequest) -> int | None:
    """Return the primary key of the invitation in the query."""
    from campaigns.accounts.sign_in.exchange import refusal

    text = request.GET.get("invitation", "")
    if not text:
        return None
    try:
        return int(invitations.find(text).pk)
    except invitations.InvitationRefused as reason:
        raise refusal(request, str(reason), 403) from None
