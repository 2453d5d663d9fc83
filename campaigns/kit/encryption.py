"""Encryption of secrets at rest, with keys that can be rotated. Knows no model.

The keys are a list (setting ENCRYPTION_KEYS, newest first): the first one encrypts, all decrypt.
"""

import hashlib
import secrets

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from campaigns.kit import redaction


class SecretUnreadable(ValueError):
    """No key of the list opens the stored secret."""


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
    """Decrypt with any key of the list. Raise SecretUnreadable where none fits.

    From then on this process takes the secret out of what it stores and logs.
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
    """Return whether any key of the list opens the stored secret."""
    try:
        decrypt(stored)
    except SecretUnreadable:
        return False
    return True


def rotate(stored: str) -> str:
    """Encrypt again with the newest key what any key of the list opens, else SecretUnreadable."""
    return encrypt(decrypt(stored))


def new_token() -> str:
    """Make an unguessable token (256 bits, URL-safe)."""
    return secrets.token_urlsafe(32)


def token_hash(token: str) -> str:
    """Hash a token for storage: SHA-256 is enough for 256 random bits. Hex."""
    return hashlib.sha256(token.encode()).hexdigest()


def seal(data: bytes) -> str:
    """Encrypt bytes that hold secrets among other things; see `unseal`."""
    return _fernet().encrypt(data).decode()


def unseal(stored: str) -> bytes:
    """Decrypt what `seal` made. Raise SecretUnreadable where no key fits.

    What is in it is not taken out of logs: nobody knows which parts of it are secrets.
    """
    try:
        return _fernet().decrypt(stored.encode())
    except InvalidToken:
        raise SecretUnreadable(
            "What another worker has encrypted cannot be read with any key of "
            "PERFDASH_ENCRYPTION_KEYS. Give all workers the same keys."
        ) from None
