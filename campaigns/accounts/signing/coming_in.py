"""From a proved password or identity to a session: by way of the second factor, where there is one."""

from typing import Any, Final

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.login import perform_login
from allauth.account.models import Login
from allauth.account.stages import LoginStage
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from campaigns.accounts import second_factor
from campaigns.accounts.signing.doors import LINK, door_of, set_door

MODEL_BACKEND: Final = "django.contrib.auth.backends.ModelBackend"


class CodeStage(LoginStage):
    """Asks for the second factor of an account that has one."""

    key = "code"
    urlname = "sign-in-code"

    def handle(self) -> tuple[HttpResponse | None, bool]:
        """Lead to the page that asks, or go on."""
        if self.login.user is None or not second_factor.is_on(self.login.user):
            return None, True
        return redirect(self.urlname), True


class Adapter(DefaultAccountAdapter):
    """What django-allauth does at a sign-in, in this house's manner: it writes and sends nothing itself."""

    def get_login_stages(self) -> list[str]:
        """Name what stands between proof and session."""
        return [f"{__name__}.{CodeStage.__name__}"]

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Nobody makes an account at a page of the library."""
        return False

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        """Say that the account is switched off."""
        return refused(request, "This account is switched off. An admin can switch it on again.")

    def login(self, request: HttpRequest, user: User) -> None:
        """Begin the session."""
        begin_session(request, user)

    def post_login(self, request: HttpRequest, user: User, **named: Any) -> HttpResponse:
        """Lead to where somebody wanted to go."""
        return redirect(named.get("redirect_url") or "home")

    def add_message(self, *arguments: Any, **named: Any) -> None:
        """Say nothing in the library's words."""

    def send_mail(self, *arguments: Any, **named: Any) -> None:
        """Send nothing in the library's words."""

    def send_notification_mail(self, *arguments: Any, **named: Any) -> None:
        """Send nothing in the library's words."""


def come_in(request: HttpRequest, user: User, door: str, then: str = "") -> HttpResponse:
    """Sign in whoever proved to be `user`, after the second factor where there is one. `then`: a path here."""
    set_door(request, door)
    answer: HttpResponse = perform_login(request, Login(user=user, redirect_url=then or None))
    return answer


def come_in_by_link(request: HttpRequest, user: User) -> None:
    """Sign in at once: who makes links has the server, and could switch the second factor off as well."""
    set_door(request, LINK)
    begin_session(request, user)


def begin_session(request: HttpRequest, user: User) -> None:
    """Make the session that of `user`, under a new key, and take note of it."""
    door = door_of(request)
    set_door(request, door)
    login(request, user, backend=MODEL_BACKEND)
    set_door(request, door)


def refused(request: HttpRequest, message: str, status: int = 403) -> HttpResponse:
    """Show the sign-in page with what is wrong."""
    from campaigns.accounts.signing.password import sign_in_page

    return sign_in_page(request, message, status)
