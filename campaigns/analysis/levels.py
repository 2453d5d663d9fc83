"""Campaigns of levels: neighbours compared as one family, the best setting, the knee."""

from collections.abc import Mapping, Sequence
from typing import Any

from campaigns.analysis.family import Family
from campaigns.analysis.groups import MOST_CELLS, comparable_factors, groups_of
from campaigns.analysis.primary import compare_with_primary
from campaigns.analysis.taken import taken
from campaigns.analysis.whole_plots import hard_noise
from campaigns.drivers.base import Metric
from campaigns.models import Campaign
from campaigns.queries.runs import ObservedRun
from campaigns.stats.comparisons import Comparisons, Model
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
        **hard_noise(family, compared),
        "sessions": len(family.sessions),
        "groups": [family.described(group, rows, compared) for group in groups],
        **({"primary": primary} if primary else {}),
    }


def changes_in_blocks(
    levels: Mapping[str, Any], runs: Sequence[ObservedRun]
) -> dict[str, Any] | None:
    """The change of each comparison in each block that holds both cells, in %.

    None where the noise is not that within blocks; without comparisons of values that have no log.
    """
    members: dict[int, list[ObservedRun]] = {}
    for run in runs:
        members.setdefault(run.cell, []).append(run)
    cells = {cell: taken(own) for cell, own in members.items()}
    values = {
        cell: dict(zip(own.blocks, own.values, strict=True))
        for cell, own in cells.items()
        if own.has_logs
    }
    block_of = {run.part: run.block for run in runs}
    found = []
    for row in (row for group in levels["groups"] for row in group["comparisons"]):
        baseline, candidate = (values.get(row[side], {}) for side in ("baseline", "candidate"))
        if row["comparison"]["model"] in (Model.BLOCKS, Model.PAIRED, Model.SPLIT_PLOT):
            shared = sorted(baseline.keys() & candidate.keys())
            found.append(
                {
                    "baseline": row["baseline"],
                    "candidate": row["candidate"],
                    "blocks": [block_of[part] for part in shared],
                    "changes_pct": [
                        100 * (candidate[part] / baseline[part] - 1) for part in shared
                    ],
                }
            )
    return {"comparisons": found} if found else None


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
