"""Encryption of secrets at rest, with keys that can be rotated.

The keys are a list (setting ENCRYPTION_KEYS, newest first): the first one encrypts, all decrypt. A worker that measures has
none of them: it is given the secrets of one attempt, decrypted and packed under a key of that attempt (`pack`, `unpacked`).
"""

import hashlib
import hmac
import json
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from campaigns.kit import redaction

UNREADABLE = (
    "A stored password cannot be read with any key of PERFDASH_ENCRYPTION_KEYS. "
    "Put the key that it was saved with back into the list, or enter the password again."
)
NOT_GIVEN = (
    "A stored password was changed after the run was sent to its worker, which has no key of its own. "
    "The run is repeated with the new one."
)
_given: list["_Parcel"] = []


class SecretUnreadable(ValueError):
    """No key of the list decrypts the stored secret."""


class _Parcel:
    """Secrets by how they are stored; None: no key opened it. lacked: something else was asked for."""

    def __init__(self, secrets_by_stored: dict[str, str | None]) -> None:
        self.secrets, self.lacked = secrets_by_stored, False


def _fernet() -> MultiFernet:
    try:
        return MultiFernet([Fernet(key) for key in settings.ENCRYPTION_KEYS])
    except ValueError as error:
        raise ImproperlyConfigured(
            "PERFDASH_ENCRYPTION_KEYS needs at least one Fernet key (32 bytes, URL-safe base64)."
        ) from error


def encrypt(text: str) -> str:
    """Encrypt with the newest key. The empty text stays empty."""
    return _fernet().encrypt(text.encode()).decode() if text else ""


def decrypt(stored: str) -> str:
    """Decrypt with any key of the list, or look it up in what this process was given. Raise SecretUnreadable.

    From then on this process redacts the secret in what it stores and logs.
    """
    if not stored:
        return ""
    secret = _decrypted(stored) if settings.ENCRYPTION_KEYS else _looked_up(stored)
    redaction.remember(secret)
    return secret


def _decrypted(stored: str) -> str:
    try:
        return _fernet().decrypt(stored.encode()).decode()
    except InvalidToken:
        raise SecretUnreadable(UNREADABLE) from None


def _looked_up(stored: str) -> str:
    parcels = tuple(_given)  # threads of one process may serve several attempts
    for parcel in parcels:
        if stored in parcel.secrets:
            secret = parcel.secrets[stored]
            if secret is None:
                raise SecretUnreadable(UNREADABLE)
            return secret
    for parcel in parcels:
        parcel.lacked = True
    raise SecretUnreadable(NOT_GIVEN)


def is_readable(stored: str) -> bool:
    """Return whether any key of the list decrypts the stored secret."""
    try:
        decrypt(stored)
    except SecretUnreadable:
        return False
    return True


def rotate(stored: str) -> str:
    """Encrypt a stored secret again with the newest key. Raise SecretUnreadable."""
    return encrypt(decrypt(stored))


def new_token() -> str:
    """Return a random token (256 bits, URL-safe)."""
    return secrets.token_urlsafe(32)


def token_hash(token: str) -> str:
    """Return the SHA-256 of a token in hex; that is enough for 256 random bits."""
    return hashlib.sha256(token.encode()).hexdigest()


def key_of(what: str) -> str:
    """Return the key for what is handed to a worker, such as one attempt: always the same, while the newest key is."""
    newest, *_ = settings.ENCRYPTION_KEYS
    return urlsafe_b64encode(hmac.digest(newest.encode(), what.encode(), "sha256")).decode()


def new_key() -> str:
    """Return a random key for `seal`, which is stored encrypted itself."""
    return Fernet.generate_key().decode()


def seal(data: bytes, key: str) -> str:
    """Encrypt bytes with a key of `key_of` or `new_key`; see `unseal`."""
    return Fernet(key).encrypt(data).decode()


def unseal(stored: str, key: str) -> bytes:
    """Decrypt what `seal` encrypted. Raise SecretUnreadable.

    The content is not redacted in logs, since it is unknown which parts of it are secrets.
    """
    try:
        return Fernet(key).decrypt(stored.encode())
    except (InvalidToken, ValueError):
        raise SecretUnreadable(
            "What was sealed for this worker cannot be opened with the key that it was sent. "
            "Was PERFDASH_ENCRYPTION_KEYS changed meanwhile? Give all services that have keys the same ones."
        ) from None


def pack(stored: Iterable[str], key: str) -> str:
    """Decrypt stored secrets, and seal them together; see `unpacked`. One that no key opens stays unreadable."""
    found: dict[str, str | None] = {}
    for each in filter(None, stored):
        try:
            found[each] = _decrypted(each)
        except SecretUnreadable:
            found[each] = None
    return seal(json.dumps(found).encode(), key)


@contextmanager
def unpacked(parcel: str, key: str) -> Iterator[None]:
    """Let this process, which has no keys, decrypt what `pack` was given. Raise SecretUnreadable."""
    given = _Parcel(json.loads(unseal(parcel, key)))
    _given.append(given)
    try:
        yield
    finally:
        _given.remove(given)


def lacked() -> bool:
    """Return whether this process was asked for a secret that it was not given."""
    return any(parcel.lacked for parcel in tuple(_given))
