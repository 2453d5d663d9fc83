"""What pages and REST show of a trend. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from campaigns.kit.mappings import Json
from campaigns.stats.units import Count, OnLogs


@dataclass(frozen=True, slots=True)
class TrendState:
    """The stored state of a trend. told: sessions with a value; newest, curve: of these, on logs.

    between, repeated, within: as in `noise.Noise`. p, more, suspected: what the screen says of the newest session, how many sessions are
    missing until it can, and the kind of suspicion.
    """

    sessions: Count = 0
    told: Count = 0
    versions: Count = 0
    newest: OnLogs | None = None
    version: str = ""
    at: str | None = None
    curve: Sequence[OnLogs | None] = ()
    between: OnLogs | None = None
    repeated: Count = 0
    within: OnLogs | None = None
    p: float | None = None
    more: Count = 0
    suspected: str = ""

    @classmethod
    def of(cls, stored: Json) -> "TrendState":
        """Read what a row holds; a key that an earlier version did not store has its default."""
        known = {name: stored[name] for name in cls.__slots__ if stored.get(name) is not None}
        return cls(**known)

    @property
    def value(self) -> float | None:
        """The newest value, in the metric's unit."""
        return None if self.newest is None else math.exp(self.newest)


@dataclass(frozen=True, slots=True)
class Session:
    """One session of a line on its page. campaign: the key and name of its campaign. border: why older ones are not comparable, as text."""

    campaign: int
    name: str
    at: datetime
    version: str
    companions: str
    border: str
    environment: int
    torn: bool
    simulator: str


@dataclass(frozen=True, slots=True)
class SessionPoint:
    """The point of a trend in a session, in the metric's unit. low, high: its 95 % interval within the session; why: it has no value."""

    session: Session
    value: float | None
    low: float | None = None
    high: float | None = None
    n: Count = 0
    failed: Count = 0
    why: str = ""
    flags: Sequence[str] = field(default_factory=tuple)
