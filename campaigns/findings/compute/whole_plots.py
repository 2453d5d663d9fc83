"""Findings of a campaign with a factor that is costly to change, measured as split plots."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from campaigns.findings.compute.groups import several_levels
from campaigns.findings.values import PlotNoise
from campaigns.models import Campaign, Cell
from campaigns.stats.compared import Comparisons
from campaigns.stats.log_means import Fit
from campaigns.stats.logs import pct_of
from campaigns.stats.split_plots import Place, Plots

if TYPE_CHECKING:
    from campaigns.findings.compute.statistics_input import Family


def hard_factors(campaign: Campaign) -> list[str]:
    """Return the factors of several levels that are changed as seldom as possible within a block."""
    if campaign.order != Campaign.Order.INTERLEAVED:
        return []
    several = several_levels(campaign)
    return [
        each.name for each in campaign.factors.all() if each.hard_to_change and each.name in several
    ]


def places_of(hard: Sequence[str], cells: Sequence[Cell]) -> list[Place] | None:
    """Return the place of each cell in whole plots; None where every run is a plot of its own, or none is.

    hard: the factors that are hard to change.
    """
    if not hard:
        return None
    keys = [
        (
            repr([cell.levels_by_factor.get(name) for name in hard]),
            repr([each for each in sorted(cell.levels_by_factor.items()) if each[0] not in hard]),
        )
        for cell in cells
    ]
    plots, others = (list(dict.fromkeys(key[side] for key in keys)) for side in (0, 1))
    if len(others) < 2 or len(plots) < 2:
        return None
    return [(plots.index(plot), others.index(other)) for plot, other in keys]


def plot_noise(family: "Family", compared: Comparisons) -> PlotNoise | None:
    """Return the noise of whole plots and within them; None for another plan, and where it is unknown."""
    if family.places is None:
        return None
    fit = Plots(family.places, family.cell_runs, compared.fitted).fit
    if fit is None or not fit.whole_df or not fit.sub_df:
        return None
    between = max(0.0, fit.whole - fit.sub) / fit.logs.shape[2]
    return PlotNoise(
        within_pct=pct_of(math.sqrt(fit.sub)),
        between_pct=pct_of(math.sqrt(between)),
        whole_df=fit.whole_df,
        sub_df=fit.sub_df,
        blocks=fit.blocks,
    )


def fit_for_interaction(factor: str, family: "Family", compared: Comparisons) -> Fit | None:
    """Return the fit with the noise of an interaction: within whole plots, where one factor is not costly to change.

    None where it is unknown: the plan has holes, or both are hard to change. From three sessions on
    it is that of one value a session.
    """
    if compared.between:
        return compared.between.blocks.fit
    if family.places is None or compared.fit is None:
        return compared.fit
    plots = Plots(family.places, family.cell_runs, compared.fitted).fit
    if plots is None or plots.sub_df < 1 or (factor in family.hard and len(family.hard) > 1):
        return None
    return replace(compared.fit, sd=math.sqrt(plots.sub), df=plots.sub_df)
