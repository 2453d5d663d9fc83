"""The second factor of an account: codes of an authenticator app (TOTP, RFC 6238), and recovery codes.

The rows, the arithmetic and the recovery codes are django-allauth's. What it counts in a cache stands in
the row itself, which is locked while a code is looked at: failures, and the last code that was used.
"""

from dataclasses import dataclass
from math import ceil
from typing import Any, cast
from urllib.parse import quote, urlencode

from allauth.core.internal.cryptokit import compare_user_code
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import format_hotp_value, generate_totp_secret, hotp_value
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from campaigns.kit import encryption

PERIOD_SECONDS = 30
DRIFT = 1
"""Periods that a phone's clock may be off, before and after."""
MOST_FAILURES = 5
FORGET_SECONDS = 600.0
TOTP, RECOVERY = Authenticator.Type.TOTP, Authenticator.Type.RECOVERY_CODES


class CodeRefused(ValueError):
    """The code is not the right one, or none is looked at now; the message says which."""


class TooManyCodes(CodeRefused):
    """Nobody looks at codes of this account for a while."""


class AlreadyOn(ValueError):
    """The account has a second factor."""


class Adapter(DefaultMFAAdapter):
    """Keeps secrets encrypted, as those of targets are."""

    def encrypt(self, text: str) -> str:
        """Encrypt with the newest key."""
        return encryption.encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        """Decrypt. Raise SecretUnreadable where no key fits."""
        return encryption.decrypt(encrypted_text)


@dataclass(frozen=True, slots=True)
class _Answer:
    """Of a look at a code: which kind it was, empty where none; seconds to wait after too many."""

    kind: str = ""
    wait_seconds: float = 0.0


def is_on(user: User) -> bool:
    """Whether the account has a second factor."""
    return bool(Authenticator.objects.filter(user=user, type=TOTP).exists())


def new_secret() -> str:
    """Make a secret for an app: 160 bits in base32."""
    return cast(str, generate_totp_secret())


def app_address(user: User, secret: str, where: str) -> str:
    """Give the address that an app reads from a picture. `where`: the name of this installation."""
    query = urlencode({"secret": secret, "issuer": where}, quote_via=quote)
    return f"otpauth://totp/{quote(f'{where}:{user.get_username()}')}?{query}"


@transaction.atomic
def switch_on(user: User, secret: str, code: str) -> list[str]:
    """Keep the secret and give the recovery codes, which nobody sees again.

    Raise CodeRefused where the code is not of this secret, AlreadyOn.
    """
    User.objects.select_for_update().get(pk=user.pk)
    if is_on(user):
        raise AlreadyOn(
            "The second factor is on already. Switch it off first to use another device."
        )
    counter = _counter_of(secret, code)
    if counter is None:
        raise CodeRefused(
            "This is not the code of the moment. Check the clock of your device, and type the next one."
        )
    Authenticator.objects.create(
        user=user, type=TOTP, data={"secret": encryption.encrypt(secret), "last": counter}
    )
    return _new_codes(user)


def switch_off(user: User) -> None:
    """Take the second factor away, and the recovery codes with it."""
    Authenticator.objects.filter(user=user).delete()


@transaction.atomic
def renew_recovery_codes(user: User) -> list[str]:
    """Make other recovery codes; those before are good for nothing."""
    User.objects.select_for_update().get(pk=user.pk)
    return _new_codes(user)


def recovery_codes_left(user: User) -> int:
    """How many of them were not used."""
    row = Authenticator.objects.filter(user=user, type=RECOVERY).first()
    try:
        return len(RecoveryCodes(row).get_unused_codes()) if row else 0
    except encryption.SecretUnreadable:
        return 0


def check(user: User, code: str) -> str:
    """Use a code up and say of which kind it was: `totp` or `recovery_codes`.

    Raise CodeRefused where it is wrong, was used, or after too many wrong ones, from wherever they came.
    """
    try:
        answer = _look_at(user, code)
    except encryption.SecretUnreadable:
        raise CodeRefused(
            "No key of PERFDASH_ENCRYPTION_KEYS opens the second factor of this account. Put the key "
            "that it was saved with back into the list, or come in by a sign-in link."
        ) from None
    if answer.kind:
        return answer.kind
    if answer.wait_seconds:
        minutes = max(1, ceil(answer.wait_seconds / 60))
        raise TooManyCodes(
            f"Too many wrong codes for this account. Wait {minutes} minute{'' if minutes == 1 else 's'}."
        )
    raise CodeRefused(
        "This code is wrong, or was used already. Type the one that the app shows now, or a recovery code."
    )


def rotate(*, dry: bool = False, forget: bool = False) -> tuple[int, list[str]]:
    """Encrypt all secrets with the newest key, in the caller's transaction; tell how many, and whose are lost.

    `forget`: switch off what no key opens.
    """
    done, lost = 0, list[str]()
    for row in Authenticator.objects.select_for_update(of=("self",)).select_related("user"):
        name = "secret" if row.type == TOTP else "seed"
        try:
            row.data[name] = encryption.rotate(row.data[name])
        except encryption.SecretUnreadable:
            lost.append(row.user.get_username())
            if forget and not dry:
                switch_off(row.user)
            continue
        done += 1
        if not dry:
            Authenticator.objects.filter(pk=row.pk).update(data=row.data)
    return done, sorted(set(lost))


@transaction.atomic
def _look_at(user: User, code: str) -> _Answer:
    row = Authenticator.objects.select_for_update().filter(user=user, type=TOTP).first()
    if row is None:
        return _Answer()
    now = timezone.now().timestamp()
    failures = [at for at in row.data.get("failures", ()) if now - at < FORGET_SECONDS]
    if len(failures) >= MOST_FAILURES:
        return _Answer(wait_seconds=FORGET_SECONDS - (now - failures[0]))
    kind = _kind(row, code)
    row.data["failures"] = [] if kind else [*failures, now]
    row.save(update_fields=["data"])
    if kind:
        row.record_usage()
    return _Answer(kind)


def _kind(row: Any, code: str) -> str:
    """Say which code it is, and use it up; empty where it is none."""
    counter = _counter_of(encryption.decrypt(row.data["secret"]), code)
    if counter is not None and counter > row.data["last"]:
        row.data["last"] = counter
        return str(TOTP)
    codes = Authenticator.objects.filter(user_id=row.user_id, type=RECOVERY).first()
    if codes is not None and RecoveryCodes(codes).validate_code(code):
        return str(RECOVERY)
    return ""


def _counter_of(secret: str, code: str) -> int | None:
    """The period that a code belongs to, of those that count now."""
    now = int(timezone.now().timestamp()) // PERIOD_SECONDS
    for counter in range(now - DRIFT, now + DRIFT + 1):
        expected = format_hotp_value(hotp_value(secret, counter))
        if compare_user_code(actual=code, expected=expected):
            return counter
    return None


def _new_codes(user: User) -> list[str]:
    Authenticator.objects.filter(user=user, type=RECOVERY).delete()
    return cast(list[str], RecoveryCodes.activate(user).get_unused_codes())
