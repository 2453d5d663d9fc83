"""What blocks brought: how much they vary, and the runs that they saved. Pure."""

from campaigns.findings.values import Drift
from campaigns.kit.numbers import number

MISSING = {
    "not_in_blocks": "There are no effects of blocks: the runs were not made in blocks.",
    "not_positive": "There are no effects of blocks: a value is 0 or less, and has no logarithm.",
    "too_many": "There are no effects of blocks: there are more than the model takes.",
    "too_few": "There are no effects of blocks yet: it takes two blocks that share cells.",
}


def block_notes(drift: Drift) -> tuple[str, ...]:
    """Return how much blocks vary compared with the runs within one, and how many runs blocks saved."""
    if drift.missing:
        return (MISSING[drift.missing],)
    texts = (
        f"Blocks vary by {number(drift.block_sd_pct)} % (standard deviation), runs within a "
        f"block by {number(drift.sd_pct)} %."
    )
    if drift.efficiency is None:
        return (texts,)
    return (
        f"{texts} Without blocks it would have taken {number(drift.efficiency)} times the runs "
        "to see as much.",
    )
