"""The criteria of a campaign's verdicts. Pure: locked at launch, part of the data hash."""

from dataclasses import dataclass

MOST_CELLS = 400
"""More cells are summarised, and not compared."""


@dataclass(frozen=True, slots=True)
class Criteria:
    """The criteria of verdicts; every share is a share of 1.

    alpha, power: error rates of the tests and of the plans.
    margin: changes below it are called equivalent. delta: the smallest change of interest.
    failed_limit: share of failed units of work in an arm.
    incomplete_limit: share of pairs without an answer since a side failed.
    lost_limit: share of pairs (or runs) that were lost without the target's doing.
    resamples, seed: of the bootstraps.
    """

    alpha: float = 0.05
    power: float = 0.80
    margin: float = 0.02
    delta: float = 0.05
    minimum_n: int = 3
    failed_limit: float = 0.05
    incomplete_limit: float = 0.20
    lost_limit: float = 0.20
    resamples: int = 9999
    seed: int = 0

    def __post_init__(self) -> None:
        """Raise ValueError where a criterion is out of its range."""
        for name, low, high in (("alpha", 0, 0.5), ("power", 0, 1)):
            if not low < getattr(self, name) < high:
                raise ValueError(f"{name} must lie between {low} and {high}.")
        for name in ("margin", "delta"):
            if not 0 < getattr(self, name) < float("inf"):
                raise ValueError(f"{name} must be above 0, as a share of 1.")
        if self.minimum_n < 2 or self.resamples < 1:
            raise ValueError("minimum_n must be 2 or more, resamples 1 or more.")
