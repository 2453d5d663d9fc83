"""The second factor: asked for at a sign-in, switched on and off on pages of the account."""

from typing import Any

from allauth.account.internal.stagekit import clear_login
from allauth.account.stages import LoginStageController
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from campaigns.accounts import second_factor
from campaigns.accounts.signing.coming_in import CodeStage
from campaigns.accounts.signing.doors import by_fresh_link
from campaigns.accounts.signing.pictures import qr_path
from campaigns.accounts.signing.proof import password_fields, wrong_password
from campaigns.kit import activity, encryption
from campaigns.kit.activity import Action
from campaigns.kit.pages.fields import Field
from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.rights import Right
from perfdash.clients import client_address

SECRET_KEY_OF_SESSION = "second_factor_secret"  # noqa: S105  a name
LONGEST_CODE = 40


@login_not_required
@never_cache
@require_http_methods(["GET", "POST"])
def sign_in_code(request: HttpRequest) -> HttpResponse:
    """Ask whoever gave the right password for a code, too."""
    if request.user.is_authenticated:
        return redirect("home")
    stage = LoginStageController.enter(request, CodeStage.key)
    if stage is None:
        return redirect("sign-in")
    error = ""
    if request.method == "POST":
        user = stage.login.user
        try:
            kind = second_factor.check(user, _code(request))
        except second_factor.CodeRefused as refusal:
            error = str(refusal)
            if not isinstance(refusal, second_factor.TooManyCodes):
                address = client_address(request) or ""
                activity.record(
                    Action.SIGN_IN_FAILED, user=None, subject=user, by="code", address=address
                )
        else:
            if kind == second_factor.RECOVERY:
                activity.record(Action.RECOVERY_CODE_USED, user=user, subject=user)
            answer: HttpResponse = stage.exit()
            return answer
    status = 422 if error else 200
    return render(request, "accounts/code.html", {"field": _code_field(error)}, status=status)


@login_not_required
@require_POST
def sign_in_restart(request: HttpRequest) -> HttpResponse:
    """Give a sign-in up that waits for its code."""
    clear_login(request)
    return redirect("sign-in")


@never_cache
@require_http_methods(["GET", "POST"])
@takes(Right.SEE)
def factor_on(request: HttpRequest) -> HttpResponse:
    """Show a secret, and keep it once its code was typed; then show the recovery codes, this once."""
    user = user_of(request)
    if second_factor.is_on(user):
        return redirect("account")
    if request.method != "POST" or SECRET_KEY_OF_SESSION not in request.session:
        secret = second_factor.new_secret()
        request.session[SECRET_KEY_OF_SESSION] = encryption.encrypt(secret)
        return _secret_page(request, user, secret)
    secret = encryption.decrypt(request.session[SECRET_KEY_OF_SESSION])
    if wrong := wrong_password(request, user):
        return _secret_page(request, user, secret, wrong=wrong)
    try:
        codes = second_factor.switch_on(user, secret, _code(request))
    except second_factor.AlreadyOn:
        return redirect("account")
    except second_factor.CodeRefused as refusal:
        return _secret_page(request, user, secret, str(refusal))
    del request.session[SECRET_KEY_OF_SESSION]
    activity.record(Action.FACTOR_ADDED, user=user, subject=user)
    return render(request, "accounts/recovery_codes.html", {"codes": codes, "switched_on": True})


@never_cache
@require_http_methods(["GET", "POST"])
@takes(Right.SEE)
def factor_off(request: HttpRequest) -> HttpResponse:
    """Take the second factor away from whoever has it at hand, or came by a link."""
    user = user_of(request)
    if not second_factor.is_on(user):
        return redirect("account")
    error = _refusal_of_code(request, user)
    if error is None:
        second_factor.switch_off(user)
        activity.record(Action.FACTOR_REMOVED, user=user, subject=user)
        messages.success(request, "The second factor is off, and its recovery codes are void.")
        return redirect("account")
    return _ask_code(request, "off", error)


@never_cache
@require_http_methods(["GET", "POST"])
@takes(Right.SEE)
def recovery_codes(request: HttpRequest) -> HttpResponse:
    """Make other recovery codes, and show them, this once."""
    user = user_of(request)
    if not second_factor.is_on(user):
        return redirect("account")
    error = _refusal_of_code(request, user)
    if error is None:
        codes = second_factor.renew_recovery_codes(user)
        activity.record(Action.RECOVERY_CODES_RENEWED, user=user, subject=user)
        return render(request, "accounts/recovery_codes.html", {"codes": codes})
    return _ask_code(request, "codes", error)


def _refusal_of_code(request: HttpRequest, user: User) -> str | None:
    """None where the step may be done; what was wrong with the code; empty where none was sent."""
    if request.method != "POST":
        return ""
    if by_fresh_link(request):
        return None
    try:
        second_factor.check(user, _code(request))
    except second_factor.CodeRefused as refusal:
        return str(refusal)
    return None


def _ask_code(request: HttpRequest, step: str, error: str) -> HttpResponse:
    by_link = by_fresh_link(request)
    context = {"step": step, "by_link": by_link, "field": _code_field(error)}
    return render(request, "accounts/ask_code.html", context, status=422 if error else 200)


def _secret_page(
    request: HttpRequest, user: User, secret: str, error: str = "", wrong: str = ""
) -> HttpResponse:
    address = second_factor.app_address(user, secret, f"perfdash {request.get_host()}")
    context: dict[str, Any] = {
        "secret": " ".join(secret[at : at + 4] for at in range(0, len(secret), 4)),
        "picture": qr_path(address),
        "fields": [
            _code_field(error, "The code that the app shows now"),
            *password_fields(request, user, wrong),
        ],
    }
    status = 422 if error or wrong else 200
    return render(request, "accounts/factor_on.html", context, status=status)


def _code(request: HttpRequest) -> str:
    return request.POST.get("code", "")[:LONGEST_CODE]


def _code_field(error: str, label: str = "Code") -> Field:
    return Field(
        "code",
        label,
        errors=[error] if error else [],
        required=True,
        autocomplete="one-time-code",
        attributes={"inputmode": "text", "autofocus": "", "maxlength": str(LONGEST_CODE)},
    )
