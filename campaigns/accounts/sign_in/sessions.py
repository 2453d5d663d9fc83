"""Record which sessions are used, and end them from the account page."""

from collections.abc import Callable
from time import monotonic
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from campaigns.accounts import sessions
from campaigns.accounts.sign_in.methods import method_of
from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.rights import Right
from perfdash.clients import client_address

NOTED_SECONDS = 60.0
MOST_REMEMBERED = 10_000

_noted: dict[str, float] = {}


class Seen:
    """Middleware: record a session when it is first used, and about once a minute per process."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponse], *arguments: Any
    ) -> None:
        """Record the session for views that require sign-in; the others need no database."""
        key = request.session.session_key
        needs_nobody = not getattr(view, "login_required", True)
        if needs_nobody or not key or not _is_due(key) or not isinstance(request.user, User):
            return
        agent = request.headers.get("User-Agent", "")
        sessions.note(key, request.user, client_address(request), agent, method_of(request))
        _remember(key)


@require_POST
@takes(Right.SEE)
def session_end(request: HttpRequest, pk: int) -> HttpResponse:
    """End a session of the user."""
    user = user_of(request)
    if not sessions.end(user, pk):
        raise Http404
    messages.success(request, "That session was ended.")
    return redirect("account")


@require_POST
@takes(Right.SEE)
def session_end_others(request: HttpRequest) -> HttpResponse:
    """End all sessions of the user except the current one."""
    user = user_of(request)
    count = sessions.end_others(user, request.session.session_key or "")
    messages.success(request, f"{count} other session{'' if count == 1 else 's'} ended.")
    return redirect("account")


def _is_due(key: str) -> bool:
    at = _noted.get(key)
    return at is None or monotonic() - at >= NOTED_SECONDS


def _remember(key: str) -> None:
    if len(_noted) >= MOST_REMEMBERED:
        _noted.clear()
    _noted[key] = monotonic()
