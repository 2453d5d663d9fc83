"""Why a setting is favoured. Pure."""

from campaigns.findings.values import Best, LevelGroup
from campaigns.kit.numbers import number

BETTER_SIDE = "the better side of the pairs"


def why_near_best(group: LevelGroup, best: Best, cell: int, share_pct: float) -> str:
    """Return why a setting of one factor is favoured: the first one within a share of the best."""
    within = f"demonstrably within {number(share_pct)} % of the best"
    if cell != best.seen:
        why = within
    elif cell == best.cells[0]:
        why = "the best measured"
    else:
        why = f"the best measured; no {'lower' if group.numeric else 'earlier'} setting is {within}"
    if len(best.cells) < len(group.cells):
        why += f" ({len(best.cells)} of {len(group.cells)} settings can be ranked)"
    return why


def why_best_of_all(best: Best, share_pct: float) -> str:
    """Return why the best setting over all factors is favoured."""
    return f"the best of all {len(best.cells)} settings, demonstrably within {number(share_pct)} % of the best"
