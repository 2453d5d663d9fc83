"""Why a setting is favoured. Pure."""

from collections.abc import Sequence

from campaigns.findings.most_carried import DECIDED, most_carried
from campaigns.findings.values import Best, CapacityFinding, LevelGroup
from campaigns.findings.wording.capacity import CapacityWords
from campaigns.kit.numbers import number, plain_percent
from campaigns.stats.units import Place

BETTER_SIDE = "the better side of the pairs"


def why_near_best(group: LevelGroup, best: Best, cell: int, share_pct: float) -> str:
    """Return why a setting of one factor is favoured: the first one within a share of the best."""
    within = f"demonstrably within {number(share_pct)} % of the best"
    if cell != best.winner:
        why = within
    elif cell == best.cells[0]:
        why = "shown to be the best"
    else:
        why = f"shown to be the best; no {'lower' if group.numeric else 'earlier'} setting is {within}"
    if len(best.cells) < len(group.cells):
        why += f" ({len(best.cells)} of {len(group.cells)} settings can be ranked)"
    return why


def why_best_of_all(best: Best, share_pct: float) -> str:
    """Return why the setting with the best mean over all factors is favoured."""
    count = len(best.cells)
    if best.winner is not None:
        return f"shown to be the best of all {count} settings"
    return f"demonstrably within {number(share_pct)} % of the best of all {count} settings"


def why_most_carried(finding: CapacityFinding, place: Place, places: Sequence[Place]) -> str:
    """Return why a setting is favoured among others: it is shown to carry the most, or nearly so."""
    if most_carried(finding, places) == place:
        why = "carries the most"
    elif finding.most and len(places) == len(finding.settings):
        why = f"the first that carries within {plain_percent(finding.most.within_pct)} of the most"
    else:
        why = f"the first that no other exceeds by more than {plain_percent(finding.margin_pct)}"
    capacity = finding.settings[place].capacity
    carried = CapacityWords(finding).short(capacity)
    return f"{why}: {carried}" if capacity.word in DECIDED else f"{why}; how much: {carried}"
