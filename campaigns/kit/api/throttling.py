"""Rate limits of tokens, browser sessions and addresses; the rates are settings."""

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
    """The client has used up its rate."""

    status_code = status.HTTP_429_TOO_MANY_REQUESTS
    type_ = "urn:perfdash:too-many"


@dataclass(frozen=True, slots=True)
class Quota:
    """What is left of a client's rate."""

    name: str
    rate: rates.Rate
    usage: rates.Usage

    def headers(self) -> Mapping[str, str]:
        """Return the headers of draft-ietf-httpapi-ratelimit-headers."""
        full = ceil(self.usage.full_seconds)
        return {
            "RateLimit-Policy": f'"{self.name}";q={self.rate.count};w={self.rate.seconds}',
            "RateLimit": f'"{self.name}";r={self.usage.left};t={full}',
        }

    def require(self, whose: str) -> None:
        """Raise TooMany where nothing is left."""
        if self.usage.allowed:
            return
        seconds = max(1, ceil(self.usage.wait_seconds))
        raise TooMany(
            f"{whose} may send {self.rate.count} in {self.rate.seconds} s "
            f"({SETTINGS[self.name]}). Ask again in {seconds} s.",
            headers={"Retry-After": str(seconds), **self.headers()},
        )


class Throttle(BaseThrottle):
    """Limits tokens by read or write, browser sessions by user."""

    def allow_request(self, request: Request, view: Any) -> bool:
        """Count the request and set `view.quota`. Raise TooMany."""
        reads = request.method in SAFE_METHODS
        if isinstance(request.auth, ApiToken):
            name, who = ("read" if reads else "write"), f"token:{request.auth.pk}"
            whose = f"A token that {'reads' if reads else 'changes something'}"
        elif request.user.is_authenticated:
            name, who, whose = "session", f"user:{request.user.pk}", "A browser's session"
        else:
            return True
        view.quota = quota = _take(name, who)
        if quota is not None:
            quota.require(whose)
        return True


def count_failure(request: Request) -> None:
    """Count an invalid token by the address of its sender. Raise TooMany."""
    quota = _take("failure", f"address:{client_address(request._request)}")
    if quota is not None:
        quota.require("An address with tokens that do not hold")


def _take(name: str, who: str) -> Quota | None:
    """Count one request; None where there is no limit, or Redis is away."""
    limit = settings.API_RATES[name]
    if limit is None:
        return None
    rate = rates.Rate(*limit)
    usage = rates.take(f"{name}:{who}", rate)
    return None if usage is None else Quota(name, rate, usage)
