"""Test whether what is carried, or a ratio of it, rests on a single block."""

from collections.abc import Callable, Sequence

from msgspec import structs

from campaigns.findings.values import (
    CapacityFinding,
    CapacityOfSetting,
    SettingRatio,
    WithoutBlocks,
    WordWithout,
)
from campaigns.stats.capacity import Capacity
from campaigns.stats.capacity_fit import FEWEST_BLOCKS

Again = Callable[[int], tuple[list[CapacityOfSetting], list[SettingRatio]]]
"""Settings and ratios without one block."""
MOST_AGAIN = 600
"""Capacities: more would take the analysis longer than all else; a ratio takes as long as some of them."""
OF_RATIO = 4


def with_each_block_left_out(
    finding: CapacityFinding, blocks: Sequence[int], again: Again
) -> CapacityFinding:
    """Return the finding with what leaving out each block in turn changes.

    Not tried where sessions are the sample, where two blocks would be left, and where it would take too long.
    """
    cost = len(blocks) * (len(finding.settings) + OF_RATIO * len(finding.ratios))
    is_tried = len(blocks) > FEWEST_BLOCKS and cost <= MOST_AGAIN
    rest = {block: again(block) for block in blocks} if is_tried else {}
    return structs.replace(
        finding,
        settings=[
            structs.replace(
                setting,
                without=_of_setting(
                    setting,
                    {block: settings[place] for block, (settings, _) in rest.items()},
                    len(blocks),
                ),
            )
            for place, setting in enumerate(finding.settings)
        ],
        ratios=[
            structs.replace(
                ratio,
                without=_of_ratio(
                    ratio,
                    {block: ratios[place] for block, (_, ratios) in rest.items()},
                    len(blocks),
                ),
            )
            for place, ratio in enumerate(finding.ratios)
        ],
    )


def _of_setting(
    setting: CapacityOfSetting, rest: dict[int, CapacityOfSetting], blocks: int
) -> WithoutBlocks:
    between = setting.confirmation is not None and setting.confirmation.between
    if between:
        return WithoutBlocks(tried=0, of=blocks)
    estimates = [each.capacity.estimate for each in rest.values()]
    known = [each for each in estimates if each is not None]
    complete = bool(known) and len(known) == len(estimates)
    return WithoutBlocks(
        tried=len(rest),
        of=blocks,
        changes=[
            WordWithout(
                block=block,
                word=str(each.capacity.word),
                low=each.capacity.low,
                high=each.capacity.high,
            )
            for block, each in rest.items()
            if _is_other(each.capacity, setting.capacity)
        ],
        lowest=min(known) if complete else None,
        highest=max(known) if complete else None,
    )


def _is_other(one: Capacity, other: Capacity) -> bool:
    """Return whether another word is said, or another bracket: an interval by the line always moves a little."""
    if one.by_line or other.by_line:
        return one.word != other.word
    return (one.word, one.low, one.high) != (other.word, other.low, other.high)


def _of_ratio(ratio: SettingRatio, rest: dict[int, SettingRatio], blocks: int) -> WithoutBlocks:
    return WithoutBlocks(
        tried=len(rest),
        of=blocks,
        changes=[
            WordWithout(block=block, word=str(each.ratio.word))
            for block, each in rest.items()
            if each.ratio.word != ratio.ratio.word
        ],
    )
