"""The finding of capacity: the largest load that each setting carries, and ratios between settings.

Loads are never compared with one another. Runs that explored have chosen the loads, so none of them is used.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec import structs

from campaigns.findings.compute.capacity_without_blocks import with_each_block_left_out
from campaigns.findings.compute.conditions import (
    COUNTED,
    Conditions,
    condition_of,
    keeps,
    share_of,
)
from campaigns.findings.compute.groups import (
    comparable_factors,
    groups_of,
    instruments_of,
    is_numeric,
    unlimited_of,
    unranked_loads,
    varied_loads,
)
from campaigns.findings.compute.sessions import EXPLORED
from campaigns.findings.values import (
    CapacityCell,
    CapacityFinding,
    CapacityOfSetting,
    ConditionTerms,
    Confirmation,
    Levels,
    MostCarried,
    SettingRatio,
)
from campaigns.kinds.base.cutting_short import CUT_SHORT
from campaigns.kit.charts.labels import as_asked, words_of
from campaigns.models import Campaign, Cell
from campaigns.planning.closed_loops import is_offered
from campaigns.planning.metrics import driver_if_known
from campaigns.results.values import ObservedRun
from campaigns.stats.capacity import (
    CapacityRatio,
    Held,
    ShareCondition,
    ValueCondition,
)
from campaigns.stats.capacity_across import alone
from campaigns.stats.capacity_best import best_capacity
from campaigns.stats.capacity_by_conditions import capacity_of, decisions_of
from campaigns.stats.capacity_ratio import DELTA, MARGIN, in_family, ratio_of
from campaigns.stats.capacity_sessions import (
    between_sessions,
    ratio_over_sessions,
    standing_of_capacity,
)
from campaigns.stats.criteria import MOST_CELLS

Condition = ValueCondition | ShareCondition
FEWEST_LOADS = 2
FEWEST_RANKED = 3


@dataclass(frozen=True, slots=True)
class _Setting:
    """The cells of one setting. loads: of its cells; inputs: its conditions as input of the statistics; by_session: those of each session."""

    levels: Levels
    loads: Mapping[int, float]
    inputs: Sequence[Condition]
    by_session: Mapping[int, Sequence[Condition]]


def capacity(campaign: Campaign, conditions: Conditions) -> CapacityFinding | None:
    """Return what each setting carries; None without a load of two levels above 0, and beyond MOST_CELLS."""
    cells = list(campaign.cells.all())
    load = next(iter(varied_loads(campaign)), None)
    if load is None or not 1 < len(cells) <= MOST_CELLS:
        return None
    values = {cell.levels_by_factor.get(load) for cell in cells}
    if len(values) < FEWEST_LOADS or not is_numeric([*values]) or min(values) <= 0:
        return None
    grouped = [
        (
            group.levels,
            {cells[place].pk: float(cells[place].levels_by_factor[load]) for place in group.cells},
        )
        for group in groups_of(load, cells)
    ]
    offered = is_offered(campaign, load)
    terms = [
        _as_judged(conditions, term, [loads for _, loads in grouped])
        for term in conditions.of_capacity
    ]
    settings = _settings(conditions, terms, grouped, offered=offered)
    alpha, resolution = conditions.criteria.alpha, conditions.criterion.resolution
    finding = CapacityFinding(
        load=load,
        load_label=factor_label(campaign, load),
        others=[name for name in unranked_loads(campaign) if name != load],
        conditions=terms,
        stated=conditions.criterion.is_set,
        resolution=resolution,
        alpha=alpha,
        margin_pct=100 * MARGIN,
        delta_pct=100 * DELTA,
        settings=[_described(setting, terms, conditions) for setting in settings],
        ratios=_ratios(campaign, settings, alpha),
        most=_most(campaign, settings, alpha),
        offered_rate=offered,
        cancelled=campaign.state == Campaign.State.CANCELLED,
        explored=[run.position for run in conditions.runs if run.state == EXPLORED],
    )
    if campaign.state not in Campaign.CLOSED:
        return finding

    def again(block: int) -> tuple[list[CapacityOfSetting], list[SettingRatio]]:
        rest = conditions.without(block)
        left = _settings(rest, terms, grouped, offered=offered)
        described = [_described(setting, terms, rest) for setting in left]
        return described, _ratios(campaign, left, alpha)

    blocks = sorted({run.block for run in conditions.runs if run.state in COUNTED})
    return with_each_block_left_out(finding, blocks, again)


def _settings(
    conditions: Conditions,
    terms: Sequence[ConditionTerms],
    grouped: Sequence[tuple[Levels, Mapping[int, float]]],
    *,
    offered: bool,
) -> list[_Setting]:
    """Return the input of each setting, of all sessions and of each."""
    return [
        _Setting(
            levels,
            loads,
            [condition_of(conditions, term, loads, offered_rate=offered) for term in terms],
            {
                session: [
                    condition_of(conditions, term, loads, offered_rate=offered, session=session)
                    for term in terms
                ]
                for session in sessions_of(conditions, loads)
            },
        )
        for levels, loads in grouped
    ]


def sessions_of(conditions: Conditions, loads: Mapping[int, float]) -> list[int]:
    """Return the sessions in which a setting was measured."""
    return sorted(
        {run.session for run in conditions.runs if run.cell in loads and run.state in COUNTED}
    )


def _as_judged(
    conditions: Conditions, term: ConditionTerms, settings: Sequence[Mapping[int, float]]
) -> ConditionTerms:
    """Return the condition; a percentile is a share of units where too few loads have its value."""
    if share_of(conditions.campaign, term) is None:
        return term
    known = [{loads[cell] for cell in conditions.numbered(term, loads)} for loads in settings]
    return structs.replace(term, as_share=min(map(len, known)) < FEWEST_LOADS)


def factor_label(campaign: Campaign, load: str) -> str:
    """Return what a load counts, such as “Hosts”: the label of the form's field in the question's word, or the factor's name."""
    driver = driver_if_known(campaign.kind)
    if driver is None or not driver.executable:
        return words_of(load)
    return as_asked(driver.label_of(load), campaign.question)


def _described(
    setting: _Setting, terms: Sequence[ConditionTerms], conditions: Conditions
) -> CapacityOfSetting:
    """Return the capacity of a setting with the decision on each of its loads; from three sessions on by their spread."""
    alpha, resolution = conditions.criteria.alpha, conditions.criterion.resolution
    runs = [run for run in conditions.runs if run.cell in setting.loads]
    made = capacity_of(
        setting.inputs,
        resolution=resolution,
        alpha=alpha,
        lost=sum(run.state == "lost" for run in runs),
    )
    each = [
        capacity_of(inputs, resolution=resolution, alpha=alpha)
        for inputs in setting.by_session.values()
    ]
    between = between_sessions(made, setting.inputs, each, alpha=alpha)
    standing = standing_of_capacity(each, between)
    made = between or made
    decisions = decisions_of(made)
    return CapacityOfSetting(
        levels=dict(setting.levels),
        cells=[
            _cell(
                (cell, load),
                decisions.get(float(f"{load:.12g}"), Held.NOT_MEASURED),
                [run for run in runs if run.cell == cell],
                terms,
                conditions,
            )
            for cell, load in setting.loads.items()
        ],
        capacity=made,
        confirmation=Confirmation(
            standing=str(standing.standing),
            reason=standing.reason,
            sessions=len(standing.each),
            between=standing.between,
        )
        if standing
        else None,
        alone=alone(setting.inputs, made, each, between=between is not None),
    )


def _cell(
    at: tuple[int, float],
    decision: Held,
    runs: Sequence[ObservedRun],
    terms: Sequence[ConditionTerms],
    conditions: Conditions,
) -> CapacityCell:
    """Return one cell as a load with the decision on it. at: cell and load."""
    counted = [run for run in runs if run.state in COUNTED]
    cell, load = at
    return CapacityCell(
        cell=cell,
        load=load,
        held=decision,
        runs=len(counted),
        passed=sum(keeps(conditions, terms, run) for run in counted),
        cut_short=sum(run.reason.startswith(CUT_SHORT) for run in counted),
    )


def _ratios(campaign: Campaign, settings: Sequence[_Setting], alpha: float) -> list[SettingRatio]:
    """Return the ratios of settings that differ in one factor, as one family: neighbours, or each with the first."""
    pairs = _pairs(campaign, settings)
    ratios = in_family(
        [
            _ratio(settings[baseline], settings[candidate], alpha)
            for _, baseline, candidate in pairs
        ],
        alpha=alpha,
    )
    return [
        SettingRatio(baseline=baseline, candidate=candidate, factor=factor, ratio=ratio)
        for (factor, baseline, candidate), ratio in zip(pairs, ratios, strict=True)
    ]


def _most(campaign: Campaign, settings: Sequence[_Setting], alpha: float) -> MostCarried | None:
    """Compare three settings or more with the one that carries the most; None where they differ in more than settings."""
    factors = {*comparable_factors(campaign)} - {*instruments_of(campaign)}
    differing = {name for each in settings for name in each.levels if name not in factors}
    several = any(len(each.by_session) > 1 for each in settings)
    if len(settings) < FEWEST_RANKED or differing or several:
        return (
            None  # sessions are the sample where there are several, and two settings have a ratio
        )
    best = best_capacity([each.inputs for each in settings], alpha=alpha)
    if best is None:
        return None
    return MostCarried(
        possibly=best.possibly,
        more_pct=best.upper_pct,
        within_pct=100 * DELTA,
        recommended=best.recommended(DELTA),
    )


def _ratio(baseline: _Setting, candidate: _Setting, alpha: float) -> CapacityRatio:
    """Return one ratio; by the spread of sessions, where three have it."""
    sessions = baseline.by_session.keys() & candidate.by_session.keys()
    each = [
        ratio_of(baseline.by_session[number], candidate.by_session[number], alpha=alpha)
        for number in sorted(sessions)
    ]
    together = ratio_of(baseline.inputs, candidate.inputs, alpha=alpha)
    return ratio_over_sessions(each, alpha=alpha) or together


def _pairs(campaign: Campaign, settings: Sequence[_Setting]) -> list[tuple[str, int, int]]:
    levels = [Cell(levels_by_factor=dict(each.levels)) for each in settings]
    return [
        (factor, *pair)
        for factor in comparable_factors(campaign)
        for group in groups_of(factor, levels, unlimited_of(campaign, factor))
        for pair in group.pairs
    ]
