"""How often a token, a browser or an address may ask; the rates are settings."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

from django.conf import settings
from rest_framework import status
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from campaigns.kit import rates
from campaigns.kit.api.problems import Refusal
from campaigns.models import ApiToken
from perfdash.clients import client_address

SETTINGS = {
    "read": "PERFDASH_API_READ_RATE",
    "write": "PERFDASH_API_WRITE_RATE",
    "session": "PERFDASH_API_SESSION_RATE",
    "failure": "PERFDASH_API_FAILURE_RATE",
}


class TooMany(Refusal):
    """Whoever it is has used its rate up."""

    status_code = status.HTTP_429_TOO_MANY_REQUESTS
    type_ = "urn:perfdash:too-many"


@dataclass(frozen=True, slots=True)
class Standing:
    """What a rate has left for whoever asked."""

    name: str
    rate: rates.Rate
    taken: rates.Taken

    def headers(self) -> Mapping[str, str]:
        """Tell it as draft-ietf-httpapi-ratelimit-headers does."""
        full = ceil(self.taken.full_seconds)
        return {
            "RateLimit-Policy": f'"{self.name}";q={self.rate.count};w={self.rate.seconds}',
            "RateLimit": f'"{self.name}";r={self.taken.left};t={full}',
        }

    def refusal(self, whose: str) -> TooMany:
        """Return when to ask again."""
        seconds = max(1, ceil(self.taken.wait_seconds))
        return TooMany(
            f"{whose} may send {self.rate.count} in {self.rate.seconds} s "
            f"({SETTINGS[self.name]}). Ask again in {seconds} s.",
            headers={"Retry-After": str(seconds), **self.headers()},
        )


class Throttle(BaseThrottle):
    """A token by what it asks for, a browser's session by its user. Raise TooMany."""

    def allow_request(self, request: Request, view: Any) -> bool:
        """Count it, and let the view tell what is left."""
        reads = request.method in SAFE_METHODS
        if isinstance(request.auth, ApiToken):
            name, who = ("read" if reads else "write"), f"token:{request.auth.pk}"
            whose = f"A token that {'reads' if reads else 'changes something'}"
        elif request.user.is_authenticated:
            name, who, whose = "session", f"user:{request.user.pk}", "A browser's session"
        else:
            return True
        view.standing = standing = _take(name, who)
        if standing is not None and not standing.taken.allowed:
            raise standing.refusal(whose)
        return True


def count_failure(request: Request) -> None:
    """Count a token that does not hold, by its sender's address. Raise TooMany."""
    standing = _take("failure", f"address:{client_address(request._request)}")
    if standing is not None and not standing.taken.allowed:
        raise standing.refusal("An address with tokens that do not hold")


def _take(name: str, who: str) -> Standing | None:
    """None where there is no limit, or nobody can tell."""
    limit = settings.API_RATES[name]
    if limit is None:
        return None
    rate = rates.Rate(*limit)
    taken = rates.take(f"{name}:{who}", rate)
    return None if taken is None else Standing(name, rate, taken)
