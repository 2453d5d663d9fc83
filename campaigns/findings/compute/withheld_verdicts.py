"""Withhold verdicts that the data cannot support: values too coarse, or drift that the order confounds.

STATISTICS 11, A3 and A4. Numbers stay as they are; the reason stands in the place of a verdict.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from campaigns.findings.compute.fidelity import is_exact
from campaigns.findings.values import OrderDrift
from campaigns.kinds.base import Metric
from campaigns.kit.units import is_share
from campaigns.models import Campaign
from campaigns.results.values import ObservedRun
from campaigns.stats.compared import Comparison, Comparisons, Pairs
from campaigns.stats.criteria import Criteria
from campaigns.stats.interval import Interval
from campaigns.stats.logs import is_number, pct_of
from campaigns.stats.paired import PairedComparison
from campaigns.stats.rounding import step_shares, within_resolution
from campaigns.stats.validity import DRIFT_P, drift_within, is_confounded, missed_pct
from campaigns.stats.verdict import Contrast, Verdict, interval_of, p_value, withheld

IN_BLOCKS = (Campaign.Order.INTERLEAVED, Campaign.Order.PAIRED)
AnyComparison = TypeVar("AnyComparison", Comparison, PairedComparison)
Places = Sequence[int]


@dataclass(frozen=True, slots=True)
class DriftWithin:
    """A drift within levels: that of an hour, where hours, which the longest level took, is known; else that of a run."""

    slope: Contrast
    hours: float | None


class Reserve:
    """The reasons to withhold verdicts of a campaign's comparisons.

    runs: of each cell that is compared, by its place; targets: that of each, where the campaign has several.
    """

    def __init__(
        self,
        campaign: Campaign,
        metric: Metric,
        criteria: Criteria,
        runs: Sequence[Sequence[ObservedRun]],
        targets: Sequence[int | None] = (),
    ) -> None:
        self.criteria = criteria
        self.targets = targets if campaign.order in IN_BLOCKS else ()
        made = [
            [run for run in each if run.state == "ok" and run.value is not None] for each in runs
        ]
        self.blocks = [{run.block for run in each} for each in made]
        self.steps = [0.0] * len(runs)
        self.exact = is_exact(metric.unit)
        self.still = [len(each) > 1 and len({run.value for run in each}) == 1 for each in made]
        if not self.exact and not is_share(metric.unit):
            self.steps = step_shares([[run.value or 0.0 for run in each] for each in made])
        blocked = campaign.order == Campaign.Order.BLOCKED and len(runs) > 1
        every = [run for each in made for run in each]
        self.drift = drift_of(every) if blocked else None
        self.blocked = blocked
        times = _Times(every).of
        self.middles = [
            float(np.mean([times[run.run] for run in each])) if each else None for each in made
        ]

    def of(self, verdict: Verdict, places: Places) -> Verdict:
        """Withhold the verdict where these cells cannot show it."""
        if verdict.reason or verdict.ci_pct is None:
            return verdict
        if self.confounds(places):
            return withheld(verdict, "drift_confounded")
        if self.rarely_together(places):
            return withheld(verdict, "n_below_minimum")
        if self.exact:
            return verdict
        return within_resolution(
            verdict,
            max(self.steps[place] for place in places),
            self.criteria,
            identical=all(self.still[place] for place in places),
        )

    def confounds(self, places: Places) -> bool:
        """Return whether the drift may explain the difference between cells measured at different times."""
        known = [middle for place in places if (middle := self.middles[place]) is not None]
        if self.drift is None or not known:
            return False
        return is_confounded(self.drift.slope, max(known) - min(known), self.criteria)

    def rarely_together(self, places: Places) -> bool:
        """Return whether too few blocks have runs of all targets of these cells: one of them was out, or failed."""
        blocks: dict[int | None, set[int]] = {}
        for place in places if self.targets else ():
            blocks.setdefault(self.targets[place], set()).update(self.blocks[place])
        if len(blocks) < 2:
            return False
        return len(set.intersection(*blocks.values())) < self.criteria.minimum_n

    def as_finding(self) -> OrderDrift | None:
        """Return the drift; None in an order that protects from it."""
        if not self.blocked:
            return None
        if self.drift is None:
            return OrderDrift(known=False, shown=False)
        slope = self.drift.slope
        bounds = interval_of(slope, self.criteria.alpha)
        return OrderDrift(
            known=True,
            shown=p_value(slope) < DRIFT_P,
            slope_pct=pct_of(slope.estimate),
            ci_pct=Interval(pct_of(bounds.low), pct_of(bounds.high)),
            p=p_value(slope),
            missed_pct=missed_pct(slope),
            hours=self.drift.hours,
        )


def reserved(comparison: AnyComparison, verdict: Verdict) -> AnyComparison:
    """Return the comparison with another verdict, and its confirmation by the sessions."""
    sessions = comparison.sessions
    return replace(comparison, verdict=verdict, sessions=sessions.of(verdict) if sessions else None)


def with_reserve(
    compared: Comparisons,
    reserve: Reserve,
    means: Sequence[Pairs] = (),
) -> Comparisons:
    """Withhold what the cells cannot show, of each comparison and of their means."""

    def of_mean(mean: Comparison, pairs: Pairs) -> Comparison:
        return reserved(mean, reserve.of(mean.verdict, [i for pair in pairs for i in pair]))

    return replace(
        compared,
        comparisons=tuple(
            reserved(each, reserve.of(each.verdict, (each.baseline, each.candidate)))
            for each in compared.comparisons
        ),
        pairs={pair: reserve.of(verdict, pair) for pair, verdict in compared.pairs.items()},
        means=tuple(of_mean(*each) for each in zip(compared.means, means, strict=True)),
    )


def drift_of(made: Sequence[ObservedRun]) -> DriftWithin | None:
    """Estimate the drift within levels; levels of different sessions are separate levels."""
    values = np.array([run.value for run in made], dtype=float)
    if not values.size or not (is_number(values) & (values > 0)).all():
        return None
    times = _Times(made)
    slope = drift_within(
        list(np.log(values)),
        [(run.cell, run.session) for run in made],
        [times.of[run.run] for run in made],
    )
    return DriftWithin(slope, times.longest()) if slope else None


class _Times:
    """When each run began, in hours after the first of its session; where any has no instant, their positions."""

    def __init__(self, made: Sequence[ObservedRun]) -> None:
        self.made = made
        self.in_hours = all(run.started_at for run in made)
        starts: dict[int, float] = {}
        at = {
            run.run: run.started_at.timestamp() / 3600
            if self.in_hours and run.started_at
            else run.position
            for run in made
        }
        for run in made:
            starts[run.session] = min(starts.get(run.session, at[run.run]), at[run.run])
        self.of = {run.run: at[run.run] - starts[run.session] for run in made}

    def longest(self) -> float | None:
        """Return how many hours the longest level took, from its first run to its last; None without instants."""
        if not self.in_hours:
            return None
        levels: dict[tuple[int, int], list[float]] = {}
        for run in self.made:
            levels.setdefault((run.cell, run.session), []).append(self.of[run.run])
        return max(max(times) - min(times) for times in levels.values())
