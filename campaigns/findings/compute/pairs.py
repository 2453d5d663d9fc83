"""Findings of a paired campaign: the comparison in every stratum, judged as one family."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from msgspec import structs

from campaigns.findings.compute.fidelity import has_ranks, without_ranks
from campaigns.findings.compute.groups import unranked_loads
from campaigns.findings.compute.primary import primary_of_pairs, strata_of
from campaigns.findings.compute.sameness import compared_work
from campaigns.findings.compute.sessions import (
    confirmation_of,
    same_session,
    split_sessions,
)
from campaigns.findings.compute.terms import terms_of
from campaigns.findings.compute.withheld_verdicts import Reserve, reserved
from campaigns.findings.values import OverStrata, PairOfRuns, Pairs
from campaigns.findings.values import Stratum as StratumFinding
from campaigns.kinds.base import Metric
from campaigns.kit.mappings import Levels
from campaigns.models import Campaign, Cell
from campaigns.planning.roles import never_ranked
from campaigns.results.values import ObservedRun
from campaigns.stats.criteria import Criteria
from campaigns.stats.overall import over_strata
from campaigns.stats.paired import PairedComparison, PairedFamily, compare_strata
from campaigns.stats.pairs import Pair, Side, Stratum, values_of

FEW_PAIRS = 6
"""With fewer pairs the noise of a stratum is a guess, and a rank test cannot reach 5 %."""

Blocks = dict[int, dict[bool, ObservedRun]]
ByStratum = dict[str, tuple[dict[str, Any], Blocks]]


def compare(
    campaign: Campaign, metric: Metric, runs: Sequence[ObservedRun], criteria: Criteria
) -> Pairs | None:
    """Compare the two levels of the paired factor in each stratum. None in another order, and for two loads."""
    if campaign.order != Campaign.Order.PAIRED or is_load(campaign):
        return None
    candidate = next(
        level
        for cell in campaign.cells.all()
        if (level := cell.levels_by_factor[campaign.paired_factor]) != campaign.baseline
    )
    blocks, strata, family = family_of(campaign, metric, runs, criteria)
    primary = strata_of(campaign, [levels for levels, _ in blocks.values()])
    sessions = len(split_sessions(runs))
    described = primary_of_pairs(campaign, metric, family, primary, criteria, sessions)
    return Pairs(
        **terms_of(campaign, metric, criteria),
        factor=campaign.paired_factor,
        baseline=campaign.baseline,
        candidate=candidate,
        strata=[
            StratumFinding(
                name=comparison.name,
                levels=blocks[comparison.name][0],
                comparison=_stored(comparison, metric),
                confirmation=confirmation_of(comparison.sessions, sessions),
                pairs=_pairs_shown(comparison, blocks[comparison.name][1]),
            )
            for comparison in family.comparisons
        ],
        overall=_overall(strata, family, criteria, at_loads=bool(unranked_loads(campaign))),
        sessions=max(1, len({run.session for run in runs if run.state == "ok"})),
        order_effect=family.order_effect,
        primary=described,
    )


def is_load(campaign: Campaign) -> bool:
    """Return whether the pairs are of two loads, which are not compared."""
    return campaign.paired_factor in never_ranked(campaign)


def _stored(comparison: PairedComparison, metric: Metric) -> PairedComparison:
    """Leave out the sessions, of which the confirmation tells, and rank tests where they mean nothing."""
    if has_ranks(metric):
        return replace(comparison, sessions=None)
    verdict = without_ranks(comparison.verdict)
    return replace(comparison, sessions=None, wilcoxon_p=None, verdict=verdict)


def family_of(
    campaign: Campaign,
    metric: Metric,
    runs: Sequence[ObservedRun],
    criteria: Criteria,
    *,
    bootstrap: bool = True,
) -> tuple[ByStratum, list[Stratum], PairedFamily]:
    """Judge the strata as one family, with the runs and pairs of each. bootstrap: not needed for verdicts."""
    cells = {cell.pk: cell for cell in campaign.cells.all()}
    blocks = _blocks_by_stratum(campaign, cells, runs)
    strata = [_stratum(campaign, metric, name, by_block) for name, (_, by_block) in blocks.items()]
    primary = strata_of(campaign, [levels for levels, _ in blocks.values()])
    family = compare_strata(
        strata,
        lower_is_better=metric.lower_is_better,
        criteria=criteria,
        pool_noise=all(len(stratum.pairs) < FEW_PAIRS for stratum in strata),
        together=primary if len(primary) > 1 else (),
        at_loads=bool(unranked_loads(campaign)),
        bootstrap=bootstrap,
    )
    return blocks, strata, _reserved(campaign, metric, family, blocks, criteria, primary)


def _reserved(
    campaign: Campaign,
    metric: Metric,
    family: PairedFamily,
    blocks: ByStratum,
    criteria: Criteria,
    primary: Sequence[int],
) -> PairedFamily:
    """Withhold what values in such steps cannot show, of each stratum and of their mean."""
    by_stratum = [
        [[sides[side] for sides in own.values() if side in sides] for side in (False, True)]
        for _, own in blocks.values()
    ]
    reserve = Reserve(campaign, metric, criteria, [runs for each in by_stratum for runs in each])
    comparisons = tuple(
        reserved(each, reserve.of(each.verdict, (2 * place, 2 * place + 1)))
        for place, each in enumerate(family.comparisons)
    )
    mean = family.together
    if mean is not None:
        verdict = reserve.of(mean.verdict, [2 * p + side for p in primary for side in (0, 1)])
        sessions = mean.sessions.of(verdict) if mean.sessions else None
        mean = replace(mean, verdict=verdict, sessions=sessions)
    return replace(family, comparisons=comparisons, together=mean)


def _overall(
    strata: Sequence[Stratum], family: PairedFamily, criteria: Criteria, *, at_loads: bool = False
) -> OverStrata | None:
    """Return one number over all strata, by four means; None with one, or where one has no number.

    at_loads: strata without a number are left out, as a load at which too much failed.

    From three sessions on the first of them has the interval between sessions, and the others none.
    """
    if at_loads:
        numbered = zip(strata, family.comparisons, strict=True)
        strata = [each for each, match in numbered if match.geo_pct_change is not None]
    elif any(match.geo_pct_change is None for match in family.comparisons):
        return None
    if len(strata) < 2:
        return None
    match = over_strata(
        [
            (values_of(stratum.pairs, "baseline"), values_of(stratum.pairs, "candidate"))
            for stratum in strata
        ],
        criteria,
    )
    if match is None:
        return None
    sessions = confirmation_of(family.over_all, 1)
    result = OverStrata(
        **{
            name: getattr(match, name)
            for name in OverStrata.__struct_fields__
            if hasattr(match, name)
        },
        confirmation=sessions,
    )
    mean = family.over_all.verdict.pct_change if family.over_all else None
    if sessions.between and mean is not None:
        return structs.replace(
            result, geometric_pct=mean, geometric_ci=sessions.ci_pct, average_ci=None
        )
    return result


def _blocks_by_stratum(
    campaign: Campaign, cells: Mapping[int, Cell], runs: Sequence[ObservedRun]
) -> ByStratum:
    """Return name of the stratum -> (its levels, block -> {is candidate: run}), in the order of cells."""
    result: ByStratum = {}
    for cell in cells.values():
        levels = _stratum_levels(campaign, cell)
        result.setdefault(_name(levels), (levels, {}))
    for run in runs:
        cell = cells[run.cell]
        is_candidate = cell.levels_by_factor[campaign.paired_factor] != campaign.baseline
        blocks = result[_name(_stratum_levels(campaign, cell))][1]
        blocks.setdefault(run.block, {})[is_candidate] = run
    return result


def _stratum_levels(campaign: Campaign, cell: Cell) -> dict[str, Any]:
    return {
        name: level
        for name, level in cell.levels_by_factor.items()
        if name != campaign.paired_factor
    }


def _name(levels: Levels) -> str:
    """Return distinct names of strata; a level that looks like two is quoted."""
    texts = (str(level) for level in levels.values())
    return ", ".join(f"“{text}”" if ", " in text else text for text in texts) or "all pairs"


def _stratum(campaign: Campaign, metric: Metric, name: str, blocks: Blocks) -> Stratum:
    """Return complete pairs, and count the others by the state of the worse side."""
    failed = lost = timed_out = 0
    pairs = []
    for sides in blocks.values():
        states = {run.state for run in sides.values()}
        if _is_complete(sides):
            pairs.append(_pair(sides))
        elif states & {"failed", "censored"}:
            failed += 1
            timed_out += "censored" in states
        elif states & {"lost", "bound"} or states == {"ok"}:
            lost += 1
    return Stratum(
        name=name,
        pairs=pairs,
        incomplete_by_failure=failed,
        incomplete_by_loss=lost,
        timed_out=timed_out,
        baseline=_side(campaign, metric, blocks, is_candidate=False),
        candidate=_side(campaign, metric, blocks, is_candidate=True),
    )


def _is_complete(sides: Mapping[bool, ObservedRun]) -> bool:
    """Return whether both sides have a value, made in one session; a block never crosses sessions."""
    return (
        len(sides) == 2
        and all(run.state == "ok" and run.value is not None for run in sides.values())
        and same_session(sides[False], sides[True])
    )


def _pair(sides: Mapping[bool, ObservedRun]) -> Pair:
    baseline, candidate = sides[False], sides[True]
    if baseline.value is None or candidate.value is None:
        raise ValueError(f"Run {baseline.position} or {candidate.position} is ok without a value.")
    first = _candidate_first(baseline, candidate)
    return Pair(baseline.value, candidate.value, first, candidate.session)


def _candidate_first(baseline: ObservedRun, candidate: ObservedRun) -> bool:
    """Return who ran first by the instants, as the positions are wrong where a run was repeated."""
    if baseline.started_at and candidate.started_at:
        return candidate.started_at < baseline.started_at
    return candidate.position < baseline.position


def _side(campaign: Campaign, metric: Metric, blocks: Blocks, *, is_candidate: bool) -> Side:
    """Return the comparability key of one arm, and its units of work."""
    runs = [sides[is_candidate] for sides in blocks.values() if is_candidate in sides]
    counted = [run for run in runs if run.state in ("ok", "failed", "censored")]
    key: dict[str, object] = {"metric": metric.name, "unit": metric.unit}
    if campaign.paired_factor in compared_work(campaign):
        key[campaign.paired_factor] = "candidate" if is_candidate else "baseline"
    return Side(
        key=key,
        units=sum(run.units_done + run.units_failed for run in counted),
        failed_units=sum(run.units_failed for run in counted),
    )


def _pairs_shown(comparison: PairedComparison, blocks: Blocks) -> list[PairOfRuns]:
    complete = [(number, sides) for number, sides in blocks.items() if _is_complete(sides)]
    changes = comparison.pair_changes_pct or (None,) * len(complete)
    return [
        PairOfRuns(
            block=number,
            change_pct=change,
            baseline=sides[False].value,
            candidate=sides[True].value,
            candidate_first=_candidate_first(sides[False], sides[True]),
            baseline_run=sides[False].position,
            candidate_run=sides[True].position,
        )
        for (number, sides), change in zip(complete, changes, strict=True)
    ]
