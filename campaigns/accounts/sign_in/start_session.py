"""Start a session for a proved password or identity: django-allauth's adapter and signals."""

import logging
from smtplib import SMTPException
from threading import Thread
from typing import Any, Final

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.authentication import get_authentication_records
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from campaigns.accounts import own_account, sessions
from campaigns.accounts.sign_in.methods import (
    INVITATION,
    PASSKEY,
    PASSWORD,
    PROVIDER,
    by_fresh_link,
    set_method,
)
from campaigns.kit.mappings import TemplateContext
from perfdash.clients import client_address

log = logging.getLogger(__name__)

MODEL_BACKEND: Final = "django.contrib.auth.backends.ModelBackend"
METHODS: Final = {"password": PASSWORD, "socialaccount": PROVIDER, "mfa": PASSKEY}
"""The sign-in method of what django-allauth records first; it records nothing of an invitation."""
NOT_YOURS: Final = "This is not the password of your account. Nothing was changed."


class Adapter(DefaultAccountAdapter):
    """The settings and hooks of django-allauth for this installation."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "username_password_mismatch": "Please enter a correct username and password. Note that both fields "
        "may be case-sensitive.",
        "incorrect_password": NOT_YOURS,
        "enter_current_password": NOT_YOURS,
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return False: accounts are made by invitation, or by the provider."""
        return False

    def is_safe_url(self, url: str) -> bool:
        """Return whether an address is on this host, and as safe as the request."""
        request = self.request
        return url_has_allowed_host_and_scheme(
            url, {request.get_host()}, require_https=request.is_secure()
        )

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the client's address, as far as it can be trusted."""
        return client_address(request) or sessions.UNKNOWN_ADDRESS

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        """Say that the account is switched off."""
        return refused(request, "This account is switched off. An admin can switch it on again.")

    def login(self, request: HttpRequest, user: User) -> None:
        """Start the session."""
        records = get_authentication_records(request, user)
        begin_session(request, user, METHODS[records[0]["method"]] if records else INVITATION)

    def is_reauthentication_required(self, *, app: str, **named: Any) -> bool:
        """Return False for an hour after a sign-in link: its owner may have lost password and device."""
        return not by_fresh_link(self.request) and super().is_reauthentication_required(app=app)

    def get_reauthentication_methods(self, user: User) -> list[dict[str, str]]:
        """Return the second factor alone where there is one: a password does not switch it off."""
        methods: list[dict[str, str]] = super().get_reauthentication_methods(user)
        return [each for each in methods if each["id"].startswith("mfa_")] or methods

    def set_password(self, user: User, password: str) -> None:
        """Set the password, and end all other sessions."""
        own_account.set_password(user, password, self.request.session.session_key or "")

    def send_mail(self, template_prefix: str, email: str, context: TemplateContext) -> None:
        """Send an e-mail from a thread, so that the response time does not reveal whether an account exists."""
        message = self.render_mail(template_prefix, email, context)
        Thread(target=_send, args=(message,), daemon=True).start()

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        """Lead back to the account page."""
        return reverse("account")


def _send(message: EmailMessage) -> None:
    try:
        message.send()
    except (OSError, SMTPException) as error:
        log.warning("A code for a new password was not mailed: %s", type(error).__name__)


def begin_session(request: HttpRequest, user: User, method: str) -> None:
    """Start a session of `user` under a new key, and store its sign-in method.

    Sign-in links skip the second factor: users who can create them control the server, and could delete the factor as well.
    """
    set_method(request, method)
    login(request, user, backend=MODEL_BACKEND)
    set_method(request, method)


def refused(request: HttpRequest, message: str, status: int = 403) -> HttpResponse:
    """Return the sign-in page with an error message."""
    from campaigns.accounts.sign_in.password import sign_in_page

    return sign_in_page(request, message, status)
