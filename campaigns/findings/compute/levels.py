"""Findings of a campaign of levels: neighbours compared as one family, the best setting, the knee."""

from collections.abc import Sequence

from campaigns.findings.compute.groups import (
    Group,
    comparable_factors,
    groups_of,
    instruments_of,
    unlimited_of,
    unranked_loads,
)
from campaigns.findings.compute.primary import (
    compare_with_primary,
    means_over_loads,
    over_loads_of,
)
from campaigns.findings.compute.sameness import compared_work
from campaigns.findings.compute.sessions import judged_cells
from campaigns.findings.compute.statistics_input import Family, runs_of_cell
from campaigns.findings.compute.terms import terms_of
from campaigns.findings.compute.whole_plots import plot_noise
from campaigns.findings.values import (
    BestOverall,
    BlockChanges,
    LevelsFinding,
    Noise,
    PairOfCells,
    WithinBlocks,
)
from campaigns.kinds.base import Metric
from campaigns.models import Campaign
from campaigns.results.values import ObservedRun
from campaigns.stats.compared import Comparisons, Model
from campaigns.stats.criteria import MOST_CELLS, Criteria
from campaigns.stats.logs import pct_of
from campaigns.stats.verdict import WITHOUT_NUMBERS


def compare(
    campaign: Campaign, metric: Metric, runs: Sequence[ObservedRun], criteria: Criteria
) -> LevelsFinding | None:
    """Compare the levels of the main factor; None for pairs, for one cell, beyond MOST_CELLS, and where only load varies."""
    cells, runs = judged_cells(campaign, runs)
    if campaign.order == Campaign.Order.PAIRED or not 1 < len(cells) <= MOST_CELLS:
        return None
    factor = next(iter(comparable_factors(campaign)), None)
    if factor is None:
        return None
    groups = groups_of(factor, cells, unlimited_of(campaign, factor))
    family = Family(campaign, metric, criteria, cells, runs)
    wanted = [pair for group in groups for pair in group.pairs]
    loads = unranked_loads(campaign)
    means = means_over_loads(groups, loads, family)
    compared, primary = compare_with_primary(campaign, family, wanted, means)
    rows = dict(zip(wanted, compared.comparisons, strict=True))
    ranked = factor not in instruments_of(campaign)
    return LevelsFinding(
        **terms_of(campaign, metric, criteria),
        factor=factor,
        model=compared.model,
        noise=_noise(compared),
        hard=family.hard if family.places is not None else [],
        plots=plot_noise(family, compared),
        sessions=len(family.sessions),
        between=compared.between is not None,
        drift=family.reserve.as_finding(),
        groups=[family.described(group, rows, compared, ranked=ranked) for group in groups],
        overall=_overall(campaign, family, compared),
        primary=primary,
        loads=loads,
        over_loads=over_loads_of(factor, means, family, compared),
        instrument=not ranked,
        pairs=_pairs(family, compared),
    )


def curves(
    campaign: Campaign, metric: Metric, runs: Sequence[ObservedRun], criteria: Criteria
) -> LevelsFinding | None:
    """Describe the metric over the first load, a curve a setting; None without a load that varies.

    Nothing is compared, and no load is the best; the knee describes the curve.
    """
    cells, runs = judged_cells(campaign, runs)
    loads = unranked_loads(campaign)
    if not loads or not 1 < len(cells) <= MOST_CELLS:
        return None
    family = Family(campaign, metric, criteria, cells, runs)
    compared = family.compare([])
    return LevelsFinding(
        **terms_of(campaign, metric, criteria),
        factor=loads[0],
        model=compared.model,
        noise=_noise(compared),
        hard=family.hard if family.places is not None else [],
        plots=plot_noise(family, compared),
        sessions=len(family.sessions),
        between=compared.between is not None,
        drift=family.reserve.as_finding(),
        groups=[
            family.described(group, {}, compared, ranked=False)
            for group in groups_of(loads[0], cells)
        ],
        overall=[],
        loads=loads,
    )


def _pairs(family: Family, compared: Comparisons) -> list[PairOfCells]:
    return [
        PairOfCells(
            baseline=family.cells[baseline].pk,
            candidate=family.cells[candidate].pk,
            word=verdict.word,
            reason=verdict.reason,
            pct_change=verdict.pct_change,
            ci_pct=verdict.ci_pct,
            p=verdict.p,
            p_adjusted=verdict.p_adjusted,
        )
        for (baseline, candidate), verdict in compared.pairs.items()
    ]


def _overall(campaign: Campaign, family: Family, compared: Comparisons) -> list[BestOverall]:
    """Return the best cell over all factors, for each work and load; empty with one setting to compare.

    Empty for a split plot, too: cells in different whole plots have another noise than cells in one.
    """
    fixed = (*unranked_loads(campaign), *instruments_of(campaign))
    settings = [name for name in comparable_factors(campaign) if name not in fixed]
    if len(settings) < 2 or family.places is not None:
        return []
    work = tuple(dict.fromkeys((*compared_work(campaign), *fixed)))
    places: dict[str, list[int]] = {}
    for place, cell in enumerate(family.cells):
        key = repr([cell.levels_by_factor.get(name) for name in work])
        places.setdefault(key, []).append(place)
    result = []
    for members in places.values():
        levels = family.cells[members[0]].levels_by_factor
        group = Group(
            levels={name: levels[name] for name in work if name in levels},
            cells=tuple(members),
            values=(),
            numeric=False,
        )
        if best := family.best_of(group, compared):
            seen = family.cells[family.place[best.seen]].levels_by_factor
            setting = {name: level for name, level in seen.items() if name not in group.levels}
            result.append(BestOverall(dict(group.levels), setting, best))
    return result


def changes_in_blocks(levels: LevelsFinding, runs: Sequence[ObservedRun]) -> WithinBlocks | None:
    """Return the change of each comparison in each block that holds both cells, in %.

    None where the noise is not that within blocks; without comparisons of values that have no log.
    """
    members: dict[int, list[ObservedRun]] = {}
    for run in runs:
        members.setdefault(run.cell, []).append(run)
    cells = {cell: runs_of_cell(own) for cell, own in members.items()}
    values = {
        cell: dict(zip(own.blocks, own.values, strict=True))
        for cell, own in cells.items()
        if own.has_logs
    }
    block_of = {run.part: run.block for run in runs}
    result = []
    for row in (row for group in levels.groups for row in group.comparisons):
        baseline, candidate = values.get(row.baseline, {}), values.get(row.candidate, {})
        if row.comparison.verdict.word in WITHOUT_NUMBERS:
            continue
        if row.comparison.model in (Model.BLOCKS, Model.PAIRED, Model.SPLIT_PLOT):
            shared = sorted(baseline.keys() & candidate.keys())
            result.append(
                BlockChanges(
                    baseline=row.baseline,
                    candidate=row.candidate,
                    blocks=[block_of[part] for part in shared],
                    changes_pct=[100 * (candidate[part] / baseline[part] - 1) for part in shared],
                )
            )
    return WithinBlocks(result) if result else None


def _noise(compared: Comparisons) -> Noise:
    """Return how much runs vary: within blocks, or within levels, and between blocks; in %."""
    if compared.fit is None or compared.fit.df < 1:
        return Noise()
    blocks = compared.blocks
    return Noise(
        sd_pct=pct_of(compared.fit.sd),
        df=compared.fit.df,
        block_sd_pct=pct_of(blocks.block_sd) if blocks else None,
        efficiency=blocks.efficiency if blocks else None,
        blocks=len(blocks.blocks) if blocks else None,
    )
