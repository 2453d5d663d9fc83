"""Campaigns of levels: neighbours compared as one family, the best setting, the knee."""

from collections.abc import Sequence
from typing import Any

from campaigns.analysis.family import Family
from campaigns.analysis.groups import MOST_CELLS, comparable_factors, groups_of
from campaigns.analysis.primary import compare_with_primary
from campaigns.drivers.base import Metric
from campaigns.models import Campaign
from campaigns.queries.runs import ObservedRun
from campaigns.stats.comparisons import Comparisons
from campaigns.stats.criteria import Criteria
from campaigns.stats.logs import pct_of


def compare(
    campaign: Campaign, metric: Metric, runs: Sequence[ObservedRun], criteria: Criteria
) -> dict[str, Any] | None:
    """Compare the levels of the main factor; None for pairs, for one cell, and beyond MOST_CELLS."""
    cells = list(campaign.cells.order_by("position"))
    if campaign.order == Campaign.Order.PAIRED or not 1 < len(cells) <= MOST_CELLS:
        return None
    factor = next(iter(comparable_factors(campaign)), None)
    if factor is None:
        return None
    groups = groups_of(factor, cells)
    family = Family(campaign, metric, criteria, cells, runs)
    wanted = [pair for group in groups for pair in group.pairs]
    compared, primary = compare_with_primary(campaign, family, wanted)
    rows = dict(zip(wanted, compared.comparisons, strict=True))
    return {
        "factor": factor,
        "metric": metric.name,
        "label": metric.label,
        "unit": metric.unit,
        "lower_is_better": metric.lower_is_better,
        "margin_pct": 100 * criteria.margin,
        "delta_pct": 100 * criteria.delta,
        "model": str(compared.model),
        "noise": _noise(compared),
        "sessions": len(family.sessions),
        "groups": [family.described(group, rows, compared) for group in groups],
        **({"primary": primary} if primary else {}),
    }


def _noise(compared: Comparisons) -> dict[str, Any]:
    """How much runs vary: within blocks, or within levels, and between blocks; in %."""
    if compared.fit is None or compared.fit.df < 1:
        return {}
    found: dict[str, Any] = {"sd_pct": pct_of(compared.fit.sd), "df": compared.fit.df}
    if compared.blocks:
        found |= {
            "block_sd_pct": pct_of(compared.blocks.block_sd),
            "efficiency": compared.blocks.efficiency,
            "blocks": len(compared.blocks.blocks),
        }
    return found
