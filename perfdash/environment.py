"""Reads settings from environment variables, and refuses what it does not understand. No Django but its error."""

import os
import re
from base64 import urlsafe_b64decode
from collections.abc import Iterable, Sequence
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

FERNET_BYTES, FERNET_LETTERS = 32, 44


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, default).strip() or default


def boolean(name: str, default: bool) -> bool:
    """True or False; empty means the default, and nothing else is understood."""
    value = os.environ.get(name, "")
    if value in {"True", "False"}:
        return value == "True"
    if value == "":
        return default
    raise ImproperlyConfigured(f"{name} is {value!r}; write True, False, or nothing at all.")


def choice(name: str, allowed: Sequence[str]) -> str:
    """Return one of the values; by default the first of them."""
    value = text(name, allowed[0])
    if value not in allowed:
        raise ImproperlyConfigured(f"{name} is {value!r}; write {' or '.join(allowed)}.")
    return value


def seconds(name: str, default: float) -> float:
    """A positive number of seconds."""
    value = os.environ.get(name, "") or str(default)
    try:
        number = float(value)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise ImproperlyConfigured(f"{name} is {value!r}; write a positive number of seconds.")
    return number


def whole(name: str, default: int) -> int:
    """Read a whole number from 0. Raise ImproperlyConfigured for anything else."""
    value = text(name)
    if not value:
        return default
    if not (value.isascii() and value.isdecimal()):
        raise ImproperlyConfigured(f"{name} is {value!r}; use a whole number from 0.")
    return int(value)


def rate(name: str, default: str) -> tuple[int, int] | None:
    """So many in so many seconds, from `300/s`, `6000/min` or `1000/h`; None from `off`: no limit."""
    value = text(name, default)
    if value == "off":
        return None
    read = re.fullmatch(r"([1-9]\d{0,8})/(s|min|h)", value)
    if read is None:
        raise ImproperlyConfigured(f"{name} is {value!r}; write 300/s, 6000/min, 1000/h, or off.")
    return int(read[1]), {"s": 1, "min": 60, "h": 3600}[read[2]]


def refuse_hopeless_leases(
    *, lease: float, margin: float, grace: float, renew: float, dispatch: float
) -> None:
    """Raise ImproperlyConfigured for values by which every lease, or a living keeper, would count as lost."""
    if margin + renew >= lease:
        raise ImproperlyConfigured(
            f"LEASE_MARGIN_SECONDS ({margin:g}) and RENEW_SECONDS ({renew:g}) must together be less "
            f"than LEASE_SECONDS ({lease:g}); else every run stops before its lease is renewed."
        )
    if renew + 3 * dispatch >= lease + grace:
        raise ImproperlyConfigured(
            f"RENEW_SECONDS ({renew:g}) and three times DISPATCH_SECONDS ({dispatch:g}) must together "
            f"be less than LEASE_SECONDS ({lease:g}) and LEASE_GRACE_SECONDS ({grace:g}); else a clock "
            "that is set forward looks like workers that died."
        )


def words(name: str) -> list[str]:
    """Items between commas or blanks."""
    return os.environ.get(name, "").replace(",", " ").split()


def secret(name: str) -> str:
    """The variable `name`, or the content of the file that `name`_FILE points to; never both.

    Raise ImproperlyConfigured for a file that cannot be read, or that is empty and must not be.

    The path is never quoted: somebody may have put the secret itself there.
    """
    value, path = os.environ.get(name, ""), os.environ.get(f"{name}_FILE", "")
    if value and path:
        raise ImproperlyConfigured(f"{name} and {name}_FILE are both set; remove one of them.")
    if not path:
        return value.strip()
    try:
        value = Path(path).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ImproperlyConfigured(
            f"{name}_FILE names a file that cannot be read: {error.strerror}."
        ) from None
    except ValueError:
        raise ImproperlyConfigured(f"{name}_FILE names a file that is not UTF-8.") from None
    if not value and name in NEVER_EMPTY:
        raise ImproperlyConfigured(f"{name}_FILE names a file that is empty.")
    return value


def fernet_keys(name: str) -> list[str]:
    """Keys between commas or blanks, each 32 bytes in URL-safe base64; none is ever quoted."""
    keys = secret(name).replace(",", " ").split()
    for number, key in enumerate(keys, 1):
        try:
            length = len(urlsafe_b64decode(key)) if len(key) == FERNET_LETTERS else 0
        except ValueError:
            length = 0
        if length != FERNET_BYTES:
            raise ImproperlyConfigured(
                f"{name}: key {number} of {len(keys)} is no Fernet key (32 bytes in URL-safe base64, "
                "44 letters). Was it cut off, or quoted? docs/how-to/rotate-keys.md makes one."
            )
    return keys


def refuse_missing(names: Iterable[str]) -> None:
    """Raise ImproperlyConfigured where a server would start without one of these variables."""
    missing = [
        name for name in names if not (os.environ.get(name) or os.environ.get(f"{name}_FILE"))
    ]
    if missing:
        raise ImproperlyConfigured(
            f"Not set: {', '.join(missing)}. Set each, or point <name>_FILE at a file that holds it;"
            " script/server does this by itself."
        )


NEEDED = ("DATABASE_URL", "BROKER_URL")
"""What a worker needs that measures, generates or analyses."""
REQUIRED = (*NEEDED, "PERFDASH_ENCRYPTION_KEYS")
"""What those need who store secrets, or hand them to workers. Tools that only import the settings (type checker, migrations) do not."""
SIGNING = "SECRET_KEY"
"""What those need besides who sign: the web server, and the worker that sends mails with links."""
NEVER_EMPTY = (*REQUIRED, SIGNING)
"""A file of another secret may be empty: it is not set then."""
