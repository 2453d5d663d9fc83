"""The criterion of a campaign: conditions that a cell has to keep. Pure.

It is locked at launch. With a factor that is load it says what “carried” means; without one each cell passes
or does not. Where a campaign states none, its failure limit is the only condition of a capacity.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

DEFAULT_RESOLUTION = 1.5
"""The largest ratio of both ends of an interval at which a capacity is stated."""


class Condition(Struct, frozen=True, omit_defaults=True):
    """A bound of a metric, in its unit; exactly one of `at_most` and `at_least` is set."""

    metric: str
    at_most: float | None = None
    at_least: float | None = None

    @property
    def limit(self) -> float:
        """The bound."""
        return self.at_most if self.at_most is not None else (self.at_least or 0.0)


class Criterion(Struct, frozen=True, omit_defaults=True):
    """Conditions that hold together. failed_percent: of the work of a cell that may fail; None: the campaign's failure limit."""

    conditions: Sequence[Condition] = ()
    failed_percent: float | None = None
    resolution: float = DEFAULT_RESOLUTION

    @property
    def is_set(self) -> bool:
        """Whether somebody stated a condition."""
        return bool(self.conditions) or self.failed_percent is not None


def criterion_of(stored: Mapping[str, Any]) -> Criterion:
    """Return `Campaign.criterion` as a struct."""
    return msgspec.convert(stored, Criterion)


def as_json(criterion: Criterion) -> dict[str, Any]:
    """Return it as `Campaign.criterion` and a definition hold it; empty where nothing is stated."""
    return dict(msgspec.to_builtins(criterion))
