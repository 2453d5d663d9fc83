"""The password once more, before an account is changed: a session that was left open is not enough."""

from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.http import HttpRequest

from campaigns.accounts.own_account import LONGEST_PASSWORD
from campaigns.accounts.signing.doors import by_fresh_link
from campaigns.kit.pages.fields import Field

NAME = "current"


def wrong_password(request: HttpRequest, user: User) -> str:
    """Say what is wrong with the password that was sent; empty where it is right, or there is none.

    It counts as a try to sign in. Who has just come by a sign-in link is asked for none: he may not know it.
    """
    if not user.has_usable_password() or by_fresh_link(request):
        return ""
    typed = request.POST.get(NAME, "")[:LONGEST_PASSWORD]
    if authenticate(request, username=user.get_username(), password=typed) == user:
        return ""
    return "This is not the password of your account. Nothing was changed."


def password_fields(request: HttpRequest, user: User, error: str = "") -> list[Field]:
    """The field to type it in, where there is one to type."""
    if not user.has_usable_password() or by_fresh_link(request):
        return []
    errors = [error] if error else []
    return [Field(NAME, "Your password", shape="password", required=True, errors=errors)]
