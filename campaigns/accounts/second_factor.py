"""The second factor of an account: how often a code may be tried, and how its secrets are stored.

django-allauth checks the codes. It counts failures and used codes in a cache, which each process has for itself; here
both are counted in the database: in the row of the app, or in that of the recovery codes where there is no app.
"""

import re
from base64 import b32decode
from collections.abc import Callable
from math import ceil
from typing import Any, Final

from allauth.core import context
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import (
    authenticator_added,
    authenticator_removed,
    authenticator_reset,
    authenticator_used,
)
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone

from campaigns.kit import activity, encryption
from campaigns.kit.activity import Action
from campaigns.kit.mappings import TemplateContext
from perfdash.clients import client_address

PERIOD_SECONDS = 30
MOST_FAILURES = 5
FORGET_SECONDS = 600.0
APP, RECOVERY, PASSKEY = (
    Authenticator.Type.TOTP,
    Authenticator.Type.RECOVERY_CODES,
    Authenticator.Type.WEBAUTHN,
)
WRONG: Final = "This code is wrong, or was used already. Type the one that the app shows now, or a recovery code."
UNREADABLE: Final = (
    "No key of PERFDASH_ENCRYPTION_KEYS opens the second factor of this account. Put the key "
    "that it was saved with back into the list, or come in by a sign-in link."
)


class Adapter(DefaultMFAAdapter):
    """Encrypts secrets, and names this installation in the authenticator app."""

    error_messages = DefaultMFAAdapter.error_messages | {"incorrect_code": WRONG}

    def encrypt(self, text: str) -> str:
        """Encrypt with the newest key."""
        return encryption.encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        """Decrypt. Raise SecretUnreadable where no key fits."""
        return encryption.decrypt(encrypted_text)

    def get_totp_issuer(self) -> str:
        """Return the name of this installation."""
        return f"perfdash {context.request.get_host()}"

    def get_totp_label(self, user: User) -> str:
        """Return the names of this installation and the account."""
        return f"{self.get_totp_issuer()}:{user.get_username()}"

    def generate_authenticator_name(self, user: User, type: Any) -> str:
        """Propose a name for a passkey."""
        return f"Passkey {Authenticator.objects.filter(user=user, type=type).count() + 1}"

    def build_totp_svg(self, url: str) -> str:
        """Return a QR code as an inline SVG element."""
        import qrcode
        from qrcode.image.svg import SvgPathImage

        drawn = qrcode.make(url, image_factory=SvgPathImage, border=4)
        return str(drawn.to_string(encoding="unicode"))


def is_on(user: User) -> bool:
    """Return whether the account has a second factor."""
    return bool(Authenticator.objects.filter(user=user).exclude(type=RECOVERY).exists())


def about(user: User) -> TemplateContext:
    """Return for the account page whether there is an app, and how many passkeys and unused recovery codes."""
    rows = list(Authenticator.objects.filter(user=user))
    codes = next((row for row in rows if row.type == RECOVERY), None)
    try:
        left = len(codes.wrap().get_unused_codes()) if codes else 0
    except encryption.SecretUnreadable:
        left = 0
    return {
        "app": any(row.type == APP for row in rows),
        "passkeys": sum(row.type == PASSKEY for row in rows),
        "codes_left": left,
    }


def use(user: User, code: str, check: Callable[[], Authenticator]) -> None:
    """Call `check`, which returns the row that a code fits, and note that it was used.

    Raise ValidationError where it fits none, where it or a newer one was used, and after five failures in ten minutes.
    """
    with transaction.atomic():
        row = _counting_row(user)
        now = timezone.now().timestamp()
        failures = [at for at in row.data.get("failures", ()) if now - at < FORGET_SECONDS]
        if len(failures) >= MOST_FAILURES:
            raise ValidationError(_wait(FORGET_SECONDS - (now - failures[0])))
        refusal, period = None, 0
        try:
            used = check()
            period = _period_of(used, code) if used.type == APP else 0
        except ValidationError as wrong:
            refusal = wrong
        except encryption.SecretUnreadable:
            raise ValidationError(UNREADABLE) from None
        else:
            if used.type == APP and period <= row.data.get("last", 0):
                refusal = ValidationError(WRONG)
        row.refresh_from_db(fields=["data"])
        row.data["failures"] = [*failures, now] if refusal else []
        if period and not refusal:
            row.data["last"] = period
        row.save(update_fields=["data"])
    if refusal:
        address = client_address(context.request) or ""
        activity.record(Action.SIGN_IN_FAILED, user=None, subject=user, by="code", address=address)
        raise refusal


def rotate(*, dry: bool = False, forget: bool = False) -> tuple[int, list[str]]:
    """Encrypt all secrets with the newest key, in the caller's transaction; return how many, and whose are lost.

    `forget`: delete what no key opens.
    """
    done, lost = 0, list[str]()
    rows = Authenticator.objects.exclude(type=PASSKEY).select_for_update(of=("self",))
    for row in rows.select_related("user"):
        name = "secret" if row.type == APP else "seed"
        try:
            row.data[name] = encryption.rotate(row.data[name])
        except encryption.SecretUnreadable:
            lost.append(row.user.get_username())
            if forget and not dry:
                Authenticator.objects.filter(user=row.user).exclude(type=PASSKEY).delete()
            continue
        done += 1
        if not dry:
            Authenticator.objects.filter(pk=row.pk).update(data=row.data)
    return done, sorted(set(lost))


def _counting_row(user: User) -> Any:
    """Lock and return the row that failures are counted in. Raise ValidationError where there is none."""
    rows = Authenticator.objects.select_for_update().filter(user=user).exclude(type=PASSKEY)
    row = rows.order_by("-type").first()  # `totp` comes after `recovery_codes`
    if row is None:
        raise ValidationError(WRONG)
    return row


def _wait(seconds: float) -> str:
    minutes = max(1, ceil(seconds / 60))
    unit = "minute" if minutes == 1 else "minutes"
    return f"Too many wrong codes for this account. Wait {minutes} {unit}."


def _period_of(row: Any, code: str) -> int:
    """Return the time step (RFC 6238) of a code; 0 if it is not a present one."""
    key = b32decode(encryption.decrypt(row.data["secret"]))
    app = TOTP(key, 6, SHA1(), PERIOD_SECONDS)  # noqa: S303  as in RFC 6238, which all apps speak
    typed = re.sub(r"\D", "", code).encode()
    now = int(timezone.now().timestamp()) // PERIOD_SECONDS
    periods = (now - 1, now, now + 1)
    return next((each for each in periods if app.generate(each * PERIOD_SECONDS) == typed), 0)


@receiver(authenticator_added, dispatch_uid="second factor added")
def _added(request: HttpRequest, user: User, authenticator: Any, **named: Any) -> None:
    if authenticator.type == APP:
        # The code that switched it on has been used.
        authenticator.data["last"] = _period_of(authenticator, request.POST.get("code", ""))
        authenticator.save(update_fields=["data"])
    if authenticator.type != RECOVERY:
        activity.record(Action.FACTOR_ADDED, user=user, subject=user)


@receiver(authenticator_removed, dispatch_uid="second factor removed")
def _removed(user: User, authenticator: Any, **named: Any) -> None:
    if authenticator.type != RECOVERY:
        activity.record(Action.FACTOR_REMOVED, user=user, subject=user)


@receiver(authenticator_reset, dispatch_uid="recovery codes renewed")
def _renewed(user: User, **named: Any) -> None:
    activity.record(Action.RECOVERY_CODES_RENEWED, user=user, subject=user)


@receiver(authenticator_used, dispatch_uid="recovery code used")
def _used(user: User, authenticator: Any, **named: Any) -> None:
    if authenticator.type == RECOVERY:
        activity.record(Action.RECOVERY_CODE_USED, user=user, subject=user)
