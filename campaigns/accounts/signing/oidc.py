"""To the OpenID Connect provider and back: sign in, join by an invitation, connect an account.

What speaks with it is loaded at the first sign-in: nobody waits for it at the start.
"""

import logging
import secrets
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from campaigns.accounts import invitations, single_sign_on
from campaigns.accounts.signing.coming_in import come_in, refused
from campaigns.accounts.signing.doors import PROVIDER
from campaigns.accounts.single_sign_on import ours
from campaigns.kit import rates
from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.rights import Right
from perfdash.clients import client_address

if TYPE_CHECKING:
    from campaigns.accounts.single_sign_on import Identity

log = logging.getLogger(__name__)

TRIES: Final = rates.Rate(30, 60)
"""So often may an address begin a sign-in with the provider."""
_slots = BoundedSemaphore(3)
"""So many threads of one web process wait for the provider at a time; the others serve pages."""


class Refusal(Exception):
    """What the sign-in page says, and with which status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


@login_not_required
@never_cache
@require_GET
def begin(request: HttpRequest) -> HttpResponse:
    """Lead to the provider. `next`: where to go then; `invitation`: what its link ends with."""
    _refuse_without_provider()
    if request.user.is_authenticated:
        return redirect("home")
    try:
        data: dict[str, Any] = {"invitation": _opened(request)}
        return HttpResponseRedirect(_address(request, "login", data, _next(request)))
    except Refusal as refusal:
        return refused(request, str(refusal), refusal.status)


@require_POST
@takes(Right.SEE)
def connect(request: HttpRequest) -> HttpResponse:
    """Show the link that connects the account. No redirection: the policy lets no form lead elsewhere."""
    _refuse_without_provider()
    user = user_of(request)
    try:
        address = _address(request, "connect", {"user": user.pk}, "")
    except Refusal as refusal:
        messages.error(request, str(refusal))
        return redirect("account")
    context = {"address": address, "provider": ours()}
    return render(request, "accounts/connect.html", context)


@require_POST
@takes(Right.SEE)
def disconnect(request: HttpRequest) -> HttpResponse:
    """Take the way in by the provider away."""
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
    """Where the provider sends people back to: with a code that is good once, or with a refusal."""
    _refuse_without_provider()
    try:
        state = _state(request)
        if state["process"] == "connect":
            return _connected(request, state)
        if request.user.is_authenticated:
            return redirect("home")
        return _let_in(request, state)
    except Refusal as refusal:
        return refused(request, str(refusal), refusal.status)


def _let_in(request: HttpRequest, state: dict[str, Any]) -> HttpResponse:
    identity = _identity(request, state)
    try:
        came = single_sign_on.let_in(identity, state["data"].get("invitation"))
    except (single_sign_on.NotLetIn, invitations.InvitationRefused) as refusal:
        log.info("Not let in from %s: %s", ours().name, refusal)
        raise Refusal(str(refusal), 403) from None
    if came.taken_over:
        messages.warning(
            request,
            f"{ours().name} vouches for the e-mail address of this account, so it was connected. "
            "Its password was taken away, and its other sessions have ended.",
        )
    return come_in(request, came.user, PROVIDER, then=state.get("next", ""))


def _connected(request: HttpRequest, state: dict[str, Any]) -> HttpResponse:
    """Connect the account that asked for it, if it is still the one that is signed in."""
    if not request.user.is_authenticated or request.user.pk != state["data"].get("user"):
        raise Refusal("Somebody else is signed in now. Sign in, and connect once more.", 403)
    try:
        single_sign_on.connect(user_of(request), _identity(request, state))
    except (single_sign_on.NotLetIn, Refusal) as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, f"{ours().name} lets you into this account from now on.")
    return redirect("account")


def _address(request: HttpRequest, process: str, data: dict[str, Any], then: str) -> str:
    """Where the provider asks people who they are. Raise Refusal."""
    from campaigns.accounts.signing import exchange

    _refuse_too_many(request)
    nonce = secrets.token_urlsafe(24)
    provider = exchange.configured(request)
    with _Slot():
        try:
            answer = provider.redirect(
                request,
                process,
                next_url=then or None,
                data=data,
                nonce=nonce,
                auth_params={"nonce": nonce},
            )
        except exchange.TROUBLES as trouble:
            raise _trouble(trouble) from None
    return str(answer["Location"])


def _identity(request: HttpRequest, state: dict[str, Any]) -> "Identity":
    """Whom the provider vouches for. Raise Refusal."""
    from campaigns.accounts.signing import exchange

    _refuse_the_refused(request)
    provider = exchange.configured(request)
    steps = provider.get_oauth2_adapter(request)
    with _Slot():
        try:
            client = steps.get_client(request, provider.app)
            tokens = steps.get_access_token_data(
                request, provider.app, client, pkce_code_verifier=state["pkce_code_verifier"]
            )
            found: Identity = steps.identity(tokens, state["nonce"])
        except exchange.TROUBLES as trouble:
            raise _trouble(trouble) from None
    return found


def _state(request: HttpRequest) -> dict[str, Any]:
    """What was kept in this browser's session when it left; good once. Raise Refusal."""
    from allauth.socialaccount.internal import statekit

    from campaigns.accounts.signing import exchange

    state_id = request.GET.get("state", "")
    state = statekit.unstash_state(request, state_id=state_id, provider_id=exchange.OURS)
    if state is None:
        raise Refusal(
            "This sign-in did not begin in this browser, was used already, or took more than ten minutes. "
            "Start again.",
            400,
        )
    found: dict[str, Any] = state
    return found


def _refuse_the_refused(request: HttpRequest) -> None:
    error = request.GET.get("error", "")
    if error == "access_denied":
        raise Refusal(f"{ours().name} did not let you in, or you stopped there.", 403)
    issuer = request.GET.get("iss", ours().issuer)
    if error or "code" not in request.GET or issuer.rstrip("/") != ours().issuer:
        log.warning("%s sent back %.100r", ours().name, error or "an answer without a code")
        raise Refusal(f"{ours().name} could not sign you in. Start again.", 502)


def _refuse_without_provider() -> None:
    if settings.OIDC is None:
        raise Http404


def _refuse_too_many(request: HttpRequest) -> None:
    taken = rates.take(f"oidc:{client_address(request)}", TRIES)
    if taken is not None and not taken.allowed:
        raise Refusal("Too many sign-ins from where you are. Wait a minute.", 429)


def _trouble(trouble: Exception) -> Refusal:
    """Write down what was wrong, without what was sent; tell people that it is not their fault."""
    from campaigns.accounts.signing.exchange import ProviderTrouble

    why = str(trouble) if isinstance(trouble, ProviderTrouble) else type(trouble).__name__
    log.warning("%s %s", ours().name, why)
    return Refusal(
        f"{ours().name} does not answer, or what it answers does not hold. Nothing is wrong with "
        "your account; try again in a moment. Who has a password can use it.",
        502,
    )


def _opened(request: HttpRequest) -> int | None:
    """The key of the invitation that somebody has opened. Raise Refusal."""
    text = request.GET.get("invitation", "")
    if not text:
        return None
    try:
        return int(invitations.find(text).pk)
    except invitations.InvitationRefused as refusal:
        raise Refusal(str(refusal), 403) from None


def _next(request: HttpRequest) -> str:
    wanted = request.GET.get("next", "")
    allowed = url_has_allowed_host_and_scheme(
        wanted, {request.get_host()}, require_https=request.is_secure()
    )
    return wanted if allowed else ""


class _Slot:
    """One of the threads that may wait for the provider. Raise Refusal where there is none."""

    def __enter__(self) -> None:
        if not _slots.acquire(blocking=False):
            raise Refusal("Many sign in at this moment. Try again in a few seconds.", 503)

    def __exit__(self, *raised: object) -> None:
        _slots.release()
