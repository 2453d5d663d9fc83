"""What people change of their own account: password and e-mail address; and what the account page says of it."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from campaigns.accounts import own_account, second_factor, sessions, single_sign_on
from campaigns.accounts.notifications import channels
from campaigns.accounts.signing.proof import NAME, password_fields, wrong_password
from campaigns.kit.errors import Invalid
from campaigns.kit.pages.fields import Field, from_form
from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.rights import Right


@never_cache
@require_http_methods(["GET", "POST"])
@takes(Right.SEE)
def password(request: HttpRequest) -> HttpResponse:
    """Change the password, or set the first one; it ends all other sessions."""
    user = user_of(request)
    errors: Mapping[str, list[str]] = {}
    if request.method == "POST":
        errors = _set_password(request, user)
        if not errors:
            messages.success(request, "The password was changed; all other sessions were ended.")
            return redirect("account")
    fields = password_fields(request, user, " ".join(errors.get(NAME, ())))
    fields += fields_of(own_account.NewPassword.base_fields, {}, errors)
    context = {"fields": fields, "first": not user.has_usable_password()}
    return render(request, "accounts/password.html", context, status=422 if errors else 200)


@never_cache
@require_http_methods(["GET", "POST"])
@takes(Right.SEE)
def email(request: HttpRequest) -> HttpResponse:
    """Change the e-mail address."""
    user = user_of(request)
    errors: Mapping[str, list[str]] = {}
    typed = user.email
    if request.method == "POST":
        typed = request.POST.get("email", "")
        errors = _set_email(request, user, typed)
        if not errors:
            said = (
                f"Notifications go to {user.email}." if user.email else "There is no address now."
            )
            messages.success(request, channels.follow_account(user) or said)
            return redirect("account")
    fields = fields_of(own_account.EmailForm.base_fields, {"email": typed}, errors)
    fields += password_fields(request, user, " ".join(errors.get(NAME, ())))
    return render(request, "accounts/email.html", {"fields": fields}, status=422 if errors else 200)


def about(request: HttpRequest) -> dict[str, Any]:
    """Describe ways in, second factor and sessions for the account page."""
    user = user_of(request)
    factor = second_factor.is_on(user)
    return {
        "has_password": user.has_usable_password(),
        "factor": factor,
        "codes_left": second_factor.recovery_codes_left(user) if factor else 0,
        "sessions": sessions.of(user, request.session.session_key or ""),
        "provider": settings.OIDC,
        "connected": single_sign_on.is_connected(user),
    }


def fields_of(
    form_fields: Mapping[str, Any], sent: Mapping[str, str], errors: Mapping[str, list[str]]
) -> list[Field]:
    """Describe the fields of a form; no password is ever written back."""
    return [
        from_form(
            name,
            field,
            "" if field.widget.input_type == "password" else sent.get(name, ""),
            errors.get(name, ()),
        )
        for name, field in form_fields.items()
    ]


def _set_password(request: HttpRequest, user: User) -> dict[str, list[str]]:
    if wrong := wrong_password(request, user):
        return {NAME: [wrong]}
    sent = {name: request.POST.get(name, "") for name in own_account.NewPassword.base_fields}
    try:
        own_account.set_password(user, sent)
    except Invalid as invalid:
        return invalid.errors
    before = request.session.session_key or ""
    update_session_auth_hash(request, user)
    sessions.renamed(before, request.session.session_key or "")
    sessions.end_others(user, request.session.session_key or "")
    return {}


def _set_email(request: HttpRequest, user: User, typed: str) -> dict[str, list[str]]:
    if wrong := wrong_password(request, user):
        return {NAME: [wrong]}
    try:
        own_account.set_email(user, typed)
    except Invalid as invalid:
        return invalid.errors
    return {}
