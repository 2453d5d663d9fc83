"""Whether what was posted to a hook is signed with its secret, and what it says of a version. Pure.

Standard Webhooks 1.0 (standardwebhooks.com); `X-Hub-Signature-256` of GitHub; the token of GitLab. Comparisons take the same
time, whatever differs.
"""

import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from campaigns.accounts.notifications.signing import signature

MOST_SECONDS = 300
"""So far the time stamp of a signed message may be from now."""
MOST_ID = 40
STANDARD, GITHUB, GITLAB = "standard", "github", "gitlab"
TAG = re.compile(r"\Arefs/tags/([!-~]{1,100})\Z")
VERSION = re.compile(r"\A[!-~]{1,100}\Z")


@dataclass(frozen=True, slots=True)
class Signed:
    """A message that is genuine. key: by which it is one, however often it comes. version: that it names, or empty."""

    key: str
    version: str = ""


def read(
    style: str, secret: str, headers: Mapping[str, str], body: bytes, now: float
) -> Signed | None:
    """Return what a message says; None where it is not signed with the secret, or too old. now: seconds since 1970."""
    name = _verified(style, secret, headers, body, now)
    return None if name is None else Signed(f"hook {name}", version_in(body))


def _verified(
    style: str, secret: str, headers: Mapping[str, str], body: bytes, now: float
) -> str | None:
    """Return what tells the message from others. Nothing that is not signed itself does."""
    if style == STANDARD:
        return _standard(secret, headers, body, now)
    digest = sha256(body).hexdigest()[:MOST_ID]
    if style == GITHUB:
        wanted = "sha256=" + hmac.new(secret.encode(), body, sha256).hexdigest()
        return digest if _same(headers.get("X-Hub-Signature-256", ""), wanted) else None
    return digest if _same(headers.get("X-Gitlab-Token", ""), secret) else None


def _standard(secret: str, headers: Mapping[str, str], body: bytes, now: float) -> str | None:
    uid, stamp = headers.get("Webhook-Id", ""), headers.get("Webhook-Timestamp", "")
    is_number = stamp.isascii() and stamp.isdecimal() and len(stamp) <= 12
    if not uid or not uid.isascii() or not is_number or abs(now - int(stamp)) > MOST_SECONDS:
        return None
    wanted = signature(uid, int(stamp), body, secret)
    sent = headers.get("Webhook-Signature", "").split(" ")[:10]
    if not any([_same(each, wanted) for each in sent]):  # noqa: C419 - all of them are compared
        return None
    return sha256(uid.encode()).hexdigest()[:MOST_ID]


def _same(sent: str, wanted: str) -> bool:
    return hmac.compare_digest(sent.encode(errors="backslashreplace"), wanted.encode())


def version_in(body: bytes) -> str:
    """Return the version that a message names: `version`, also in `data`; the tag of a release or a push; else empty."""
    try:
        told: Any = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    for each in (told, told.get("data") if isinstance(told, dict) else None):
        if isinstance(each, dict) and _is_version(each.get("version")):
            return str(each["version"])
    return _of_tag(told) if isinstance(told, dict) else ""


def _of_tag(told: Mapping[str, Any]) -> str:
    release = told.get("release")
    tag = release.get("tag_name") if isinstance(release, dict) else told.get("tag")
    found = TAG.match(told["ref"]) if isinstance(told.get("ref"), str) else None
    tag = found[1] if found else tag
    if not _is_version(tag):
        return ""
    return re.sub(r"\A[vV](?=[0-9])", "", str(tag))


def _is_version(value: Any) -> bool:
    return isinstance(value, str) and VERSION.match(value) is not None
