"""When an adaptive campaign may stop: precision decides, significance never. Pure.

STATISTICS 2.4. To stop at the first narrow interval favours small noise, so such a campaign has eight
blocks at least, and one with few cells stops on, shows and judges by a slightly smaller alpha.
"""

import math
from dataclasses import dataclass
from enum import StrEnum

from campaigns.stats import student
from campaigns.stats.power import LARGEST_PLAN, Design, design_of_blocks
from campaigns.stats.verdict import Contrast, interval_of

FEWEST, MOST = 8, 30
TARGET = 0.03
ALPHA_FEW_CELLS, FEW_CELLS = 0.035, 5
"""The level by simulation for a target of 3 % and 30 blocks, for a coverage of 95 %."""


class Stop(StrEnum):
    """Why a campaign goes no further."""

    PRECISE = "precise"
    MOST_BLOCKS = "most_blocks"
    OUT_OF_TIME = "out_of_time"


@dataclass(frozen=True, slots=True)
class StopRule:
    """Until the interval of the primary contrast is narrower than `target`, a share of 1.

    fewest, most: blocks. seconds: the budget; None for any time.
    """

    target: float = TARGET
    fewest: int = FEWEST
    most: int = MOST
    seconds: float | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for a rule that is impossible."""
        if not 0 < self.target < 1:
            raise ValueError("The target is a share between 0 and 1.")
        if not 3 <= self.fewest <= self.most:
            raise ValueError("It takes 3 blocks at least, and no more than the most.")


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is left to do. stop: the reason to stop, None while blocks are to come.

    half_width: of the interval, as a share of the ratio; None before it can be known. more: blocks
    still to come by the noise so far, up to the most; expected: the half width then. seconds: about.
    """

    stop: Stop | None
    half_width: float | None
    more: int
    expected: float | None
    seconds: float | None


def alpha_for(cells: int) -> float:
    """Return the alpha by which a campaign with a precision stop shows and judges."""
    return ALPHA_FEW_CELLS if cells <= FEW_CELLS else 0.05


def half_width(contrast: Contrast, alpha: float) -> float:
    """Return half of the interval of the ratio, relative to the ratio; infinite where it has no end."""
    interval = interval_of(contrast, alpha)
    half = (interval.high - interval.low) / 2
    return math.sinh(half) if half < 700 else math.inf


def blocks_for(
    target: float, sd_log: float, cells: int, alpha: float, *, fewest: int = 2
) -> int | None:
    """Return the fewest complete blocks whose interval is narrow enough; None above a million."""
    design = design_of_blocks(cells)
    low, high = fewest, fewest
    while _width(high, sd_log, design, alpha) > target:
        if high >= LARGEST_PLAN:
            return None
        low, high = high, min(2 * high, LARGEST_PLAN)
    while high - low > 1:
        middle = (low + high) // 2
        narrow = _width(middle, sd_log, design, alpha) <= target
        low, high = (low, middle) if narrow else (middle, high)
    return high


def look_ahead(
    rule: StopRule,
    contrast: Contrast | None,
    *,
    sd_log: float,
    cells: int,
    blocks: int,
    block_seconds: float | None = None,
    spent_seconds: float = 0.0,
) -> Outlook:
    """Return whether to stop after `blocks` complete blocks, and if not, how much is to come.

    contrast: the primary one. sd_log: the noise within a block so far. block_seconds: that one takes.
    """
    alpha = alpha_for(cells)
    width = half_width(contrast, alpha) if contrast else None
    stop = _stop(rule, width, blocks, block_seconds, spent_seconds)
    if stop:
        return Outlook(stop, width, 0, width, 0.0)
    if contrast is None:
        more = max(1, rule.fewest - blocks)
        return Outlook(None, None, more, None, _times(more, block_seconds))
    wanted = blocks_for(rule.target, sd_log, cells, alpha, fewest=rule.fewest)
    end = min(rule.most, max(blocks + 1, wanted if wanted is not None else rule.most))
    more = end - blocks
    if block_seconds and rule.seconds is not None:
        more = min(more, max(1, int((rule.seconds - spent_seconds) // block_seconds)))
    expected = _width(blocks + more, sd_log, design_of_blocks(cells), alpha)
    return Outlook(None, width, more, expected, _times(more, block_seconds))


def _stop(
    rule: StopRule,
    width: float | None,
    blocks: int,
    block_seconds: float | None,
    spent_seconds: float,
) -> Stop | None:
    if blocks >= rule.fewest and width is not None and width <= rule.target:
        return Stop.PRECISE
    if blocks >= rule.most:
        return Stop.MOST_BLOCKS
    if rule.seconds is not None and spent_seconds + (block_seconds or 0.0) > rule.seconds:
        return Stop.OUT_OF_TIME
    return None


def _width(n: int, sd_log: float, design: Design, alpha: float) -> float:
    if n < 2 or design.df(n) < 1:
        return math.inf
    half = student.quantile(1 - alpha / 2, design.df(n)) * design.error(n, sd_log)
    return math.sinh(half) if half < 700 else math.inf


def _times(count: int, seconds: float | None) -> float | None:
    return None if seconds is None else count * seconds
