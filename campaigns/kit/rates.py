"""Rate limits, counted in Redis, so that all processes count together.

A rate of 600 in 60 seconds is a bucket of 600, which fills again by 10 a second: the generic cell
rate algorithm (ITU-T I.371), with one number per client and one round trip per request. Where Redis is
away, everything is allowed.
"""

import hashlib
from dataclasses import dataclass
from typing import Any

from redis import Redis
from redis.exceptions import NoScriptError

from campaigns.kit.broker import RedisLink

PREFIX = "perfdash:rate:"
# KEYS: the client. ARGV: how many, in how many seconds. Stored: the instant when the bucket is full again.
# Returns: 1 or 0, how many are left, milliseconds until one more is allowed, and until the bucket is full.
TAKE = """
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
local window = tonumber(ARGV[2])
local step = window / tonumber(ARGV[1])
local full = tonumber(redis.call('GET', KEYS[1]) or now)
full = math.min(math.max(full, now), now + window)
local after = full + step
local allowed = after - now <= window + step / 100
if allowed then
  full = after
  redis.call('SET', KEYS[1], string.format('%.6f', full), 'PX', math.ceil((full - now) * 1000))
end
local left = math.floor((window - (full - now)) / step + 0.01)
local wait = math.max(0, after - now - window)
return {allowed and 1 or 0, math.max(0, left), math.ceil(wait * 1000), math.ceil((full - now) * 1000)}
"""
TAKE_DIGEST = hashlib.sha1(TAKE.encode(), usedforsecurity=False).hexdigest()
"""By which Redis knows the script once it has had it."""


@dataclass(frozen=True, slots=True)
class Rate:
    """`count` requests in `seconds`."""

    count: int
    seconds: int


@dataclass(frozen=True, slots=True)
class Usage:
    """Whether a request is allowed, how many more are, and seconds until one more is, and until all are."""

    allowed: bool
    left: int
    wait_seconds: float
    full_seconds: float


_link = RedisLink("rates", seconds=0.5)


def take(who: str, rate: Rate) -> Usage | None:
    """Take one from the bucket of `who`; None where Redis is away."""

    def script(redis: Redis) -> Any:
        arguments = (1, PREFIX + who, rate.count, rate.seconds)
        try:
            return redis.evalsha(TAKE_DIGEST, *arguments)
        except NoScriptError:
            return redis.eval(TAKE, *arguments)

    answer = _link.ask(script)
    if answer is None:
        return None
    allowed, left, wait, full = answer
    return Usage(bool(allowed), left, wait / 1000, full / 1000)
