"""How much longer a campaign with an adaptive stop rule takes, or why it ends."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from campaigns.findings.values import (
    CapacityFinding,
    CapacityOfSetting,
    Estimate,
    LevelsFinding,
    Outlook,
    Pairs,
)
from campaigns.kit.database_clock import database_now
from campaigns.models import Campaign, Run
from campaigns.planning.expected import budget_seconds_left
from campaigns.results.values import ObservedRun
from campaigns.stats.capacity import Capacity, CapacityWord, Held
from campaigns.stats.stopping import FEWEST, Stop, StopRule, half_width, look_ahead
from campaigns.stats.stopping import Outlook as LookAhead
from campaigns.stats.verdict import Contrast


def outlook(
    campaign: Campaign,
    runs: Sequence[ObservedRun],
    levels: LevelsFinding | None,
    pairs: Pairs | None,
    alpha: float,
    *,
    capacity: CapacityFinding | None = None,
) -> Outlook | None:
    """Estimate what is left by the primary contrast, else by the widest; None for a fixed number of blocks.

    Where nothing but load varies, nothing is compared: it is precise enough when the capacity is decided.

    closed: the runs that were closed when this was computed; with more of them it is out of date.
    """
    if campaign.stop_rule != Campaign.StopRule.PRECISION:
        return None
    judged = levels or pairs
    primary = judged.primary if judged and campaign.primary_contrast else None
    contrasts = [*_of_levels(levels), *_of_pairs(pairs)]
    if campaign.primary_contrast:
        contrasts = [*_of_estimate(primary.comparison)] if primary else []
    widest = max(contrasts, key=lambda each: half_width(each[0], alpha), default=None)
    cells = 2 if pairs else campaign.cells.count()
    block_seconds = _block_seconds(campaign, runs)
    budget = campaign.time_budget_seconds
    spent = 0.0
    if budget is not None:
        spent = max(0.0, budget - budget_seconds_left(campaign, database_now()))
    rule = StopRule(
        target=campaign.stop_width,
        most=max(campaign.stop_most, campaign.repetitions),
        fewest=min(FEWEST, max(3, campaign.stop_most)),
        seconds=budget,
    )
    result = look_ahead(
        rule,
        widest[0] if widest else None,
        sd_log=widest[1] if widest else 0.0,
        cells=cells,
        blocks=campaign.repetitions,
        block_seconds=block_seconds,
        spent_seconds=spent,
    )
    open_ones = _undecided(capacity) if capacity is not None and judged is None else None
    if open_ones is not None:
        result = _until_decided(open_ones, rule, result, campaign.repetitions, block_seconds)
    return Outlook(
        primary=campaign.primary_contrast is not None,
        stop=str(result.stop) if result.stop else "",
        target_pct=100 * rule.target,
        half_width_pct=_pct(result.half_width),
        more=result.more,
        expected_pct=_pct(result.expected),
        seconds=result.seconds,
        closed=campaign.runs.filter(purpose=Run.Purpose.MEASURED, state__in=Run.CLOSED).count(),
        blocks=campaign.repetitions,
        most=max(campaign.stop_most, campaign.repetitions),
        alpha=alpha,
        undecided=None if open_ones is None else len(open_ones),
    )


def _undecided(capacity: CapacityFinding) -> list[Capacity]:
    """Return the capacities without a bound, and those that an undecided load keeps wider than the resolution."""
    return [
        each.capacity
        for each in capacity.settings
        if each.capacity.word == CapacityWord.NOT_ENOUGH_DATA
        or (each.capacity.is_wide and _is_open(each))
    ]


def _is_open(setting: CapacityOfSetting) -> bool:
    """Return whether more blocks could narrow the bracket: a load in it is undecided."""
    low, high = setting.capacity.low or 0.0, setting.capacity.high or math.inf
    return any(low < each.load < high and each.held == Held.UNDECIDED for each in setting.cells)


def _until_decided(
    open_ones: Sequence[Capacity],
    rule: StopRule,
    ahead: LookAhead,
    blocks: int,
    block_seconds: float | None,
) -> LookAhead:
    """Return what is left until every capacity is decided: within the resolution, or a bound."""
    if ahead.stop:
        return ahead
    if not open_ones and blocks >= rule.fewest:
        return replace(ahead, stop=Stop.PRECISE, more=0, seconds=0.0)
    wanted = [each.advice.blocks for each in open_ones if each.advice and each.advice.blocks]
    more = max([*wanted, rule.fewest - blocks, 1])
    more = min(more, max(1, rule.most - blocks))
    return replace(
        ahead, more=more, seconds=None if block_seconds is None else more * block_seconds
    )


def _of_levels(levels: LevelsFinding | None) -> Iterator[tuple[Contrast, float]]:
    """Yield contrasts of levels, with the noise within a block that matches them."""
    for group in levels.groups if levels else ():
        for row in group.comparisons:
            yield from _of_estimate(row.comparison)


def _of_estimate(estimate: Estimate) -> Iterator[tuple[Contrast, float]]:
    error, n, df = estimate.standard_error, estimate.effective_n, estimate.df
    change = estimate.verdict.pct_change
    if error is not None and change is not None and df is not None and n:
        contrast = Contrast(math.log1p(change / 100), error, df, int(n))
        yield contrast, error * math.sqrt(n / 2)


def _of_pairs(pairs: Pairs | None) -> Iterator[tuple[Contrast, float]]:
    for stratum in pairs.strata if pairs else ():
        comparison = stratum.comparison
        n, sd, change = comparison.n_pairs, comparison.sd_log, comparison.geo_pct_change
        if sd is None or change is None or comparison.df is None or n < 2:
            continue
        contrast = Contrast(math.log1p(change / 100), sd / math.sqrt(n), comparison.df, n)
        yield contrast, sd / math.sqrt(2)


def _block_seconds(campaign: Campaign, runs: Sequence[ObservedRun]) -> float | None:
    """Estimate how long a repetition takes, from its first start to its last end."""
    spans = []
    for repetition in {run.repetition for run in runs}:
        ended = [run for run in runs if run.repetition == repetition]
        starts = [run.started_at for run in ended if run.started_at]
        ends = [run.finished_at for run in ended if run.finished_at]
        if len(starts) == len(ends) == len(ended):
            spans.append((max(ends) - min(starts)).total_seconds() + campaign.cool_down_seconds)
    return sum(spans) / len(spans) if spans else None


def _pct(share: float | None) -> float | None:
    return None if share is None or math.isinf(share) else 100 * share
