"""Encryption of secrets at rest, with keys that can be rotated.

The keys are a list (setting ENCRYPTION_KEYS, newest first): the first one encrypts, all decrypt.
"""

import hashlib
import secrets

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from campaigns.kit import redaction


class SecretUnreadable(ValueError):
    """No key of the list decrypts the stored secret."""


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
    """Decrypt with any key of the list. Raise SecretUnreadable.

    From then on this process redacts the secret in what it stores and logs.
    """
    if not stored:
        return ""
    try:
        secret = _fernet().decrypt(stored.encode()).decode()
    except InvalidToken:
        raise SecretUnreadable(
            "A stored password cannot be read with any key of PERFDASH_ENCRYPTION_KEYS. "
            "Put the key that it was saved with back into the list, or enter the password again."
        ) from None
    redaction.remember(secret)
    return secret


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


def seal(data: bytes) -> str:
    """Encrypt bytes that contain secrets among other data; see `unseal`."""
    return _fernet().encrypt(data).decode()


def unseal(stored: str) -> bytes:
    """Decrypt what `seal` encrypted. Raise SecretUnreadable.

    The content is not redacted in logs, since it is unknown which parts of it are secrets.
    """
    try:
        return _fernet().decrypt(stored.encode())
    except InvalidToken:
        raise SecretUnreadable(
            "What another worker has encrypted cannot be read with any key of "
            "PERFDASH_ENCRYPTION_KEYS. Give all workers the same keys."
        ) from None
