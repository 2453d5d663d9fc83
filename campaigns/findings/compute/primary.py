"""The comparison of the primary contrast: one test, beside the family of all pairs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from campaigns.findings.compute.fidelity import has_ranks, without_ranks
from campaigns.findings.compute.groups import Group, unranked_loads
from campaigns.findings.compute.sameness import compared_work
from campaigns.findings.compute.sessions import confirmation_of
from campaigns.findings.compute.statistics_input import Family
from campaigns.findings.compute.whole_plots import fit_for_interaction
from campaigns.findings.values import Estimate, LevelComparison, OverLoads, Primary
from campaigns.kinds.base import Metric
from campaigns.kit.mappings import Levels
from campaigns.models import Campaign
from campaigns.planning.plan import pairs_of
from campaigns.planning.roles import never_ranked
from campaigns.stats.compared import Comparisons
from campaigns.stats.criteria import Criteria
from campaigns.stats.log_means import Fit
from campaigns.stats.matrix import find_interaction
from campaigns.stats.paired import PairedFamily

Pair = tuple[int, int]


def compare_with_primary(
    campaign: Campaign, family: Family, wanted: Sequence[Pair], over_loads: Sequence["Mean"] = ()
) -> tuple[Comparisons, Primary | None]:
    """Judge the wanted pairs as one family, and the primary contrast, which was named before the launch, as one test.

    Where the primary contrast is one of the pairs, that pair has the same word. over_loads: further contrasts.
    """
    contrast, means = contrast_of(campaign), [each.pairs for each in over_loads]
    compared = family.compare(wanted, means, settings_of(over_loads))
    levels = [cell.levels_by_factor for cell in family.cells]
    pairs = pairs_of(contrast, levels) if contrast else []
    if not contrast or not pairs:
        return compared, None
    loads, left_out = unranked_loads(campaign), list[Levels]()
    if loads and len(pairs) > 1:
        left_out = [
            _part(levels[one], loads) for one, two in pairs if not family.measured(one, two)
        ]
        pairs = [pair for pair in pairs if family.measured(*pair)] or pairs[:1]
    alone = family.compare_alone(pairs)
    shown = family.row(pairs[0], alone)
    primary = Primary(
        **contrast,
        over=len(pairs),
        comparison=_estimate(shown.comparison),
        confirmation=shown.confirmation,
        left_out=left_out,
    )
    if len(pairs) == 1:
        compared = replace(
            compared,
            comparisons=tuple(
                family.compare_alone([pair]) if {*pair} == {*pairs[0]} else comparison
                for pair, comparison in zip(wanted, compared.comparisons, strict=True)
            ),
            pairs={
                pair: family.compare_alone([pair]).verdict if {*pair} == {*pairs[0]} else verdict
                for pair, verdict in compared.pairs.items()
            },
        )
    return compared, primary


def contrast_of(campaign: Campaign) -> dict[str, Any] | None:
    """Return the primary contrast; None without one, and where its factor is load or other work.

    The levels of an address may have turned out to hold other content.
    """
    contrast: dict[str, Any] | None = campaign.primary_contrast
    if not contrast or contrast["factor"] in (*compared_work(campaign), *never_ranked(campaign)):
        return None
    return contrast


@dataclass(frozen=True, slots=True)
class Mean:
    """A contrast of settings at several loads. at: levels of all else; left_out: loads where a side has no number."""

    candidate: Any
    baseline: Any
    at: Levels
    pairs: Sequence[Pair]
    left_out: Sequence[Levels]


def means_over_loads(groups: Sequence[Group], loads: Sequence[str], family: Family) -> list[Mean]:
    """Return each contrast that the groups compare at several loads, with the loads at which both sides have a number."""
    pairs: dict[str, list[tuple[Group, Pair]]] = {}
    for group in groups if loads else ():
        values = dict(zip(group.cells, group.values, strict=True))
        for pair in group.pairs:
            others = sorted(each for each in group.levels.items() if each[0] not in loads)
            key = repr((others, values[pair[0]], values[pair[1]]))
            pairs.setdefault(key, []).append((group, pair))
    result = []
    for members in pairs.values():
        group, (baseline, candidate) = members[0]
        values = dict(zip(group.cells, group.values, strict=True))
        kept = [pair for _, pair in members if family.measured(*pair)]
        if len(members) > 1 and kept:
            result.append(
                Mean(
                    candidate=values[candidate],
                    baseline=values[baseline],
                    at={name: each for name, each in group.levels.items() if name not in loads},
                    pairs=kept,
                    left_out=[
                        _part(each.levels, loads) for each, pair in members if pair not in kept
                    ],
                )
            )
    return result


def settings_of(means: Sequence[Mean]) -> list[int]:
    """Return among how many settings the contrasts are, for each combination of what is held fixed."""
    sides: dict[str, set[str]] = {}
    for each in means:
        group = sides.setdefault(repr(sorted(each.at.items())), set())
        group |= {repr(each.candidate), repr(each.baseline)}
    return [len(group) for group in sides.values()]


def over_loads_of(
    factor: str, means: Sequence[Mean], family: Family, compared: Comparisons
) -> list[OverLoads]:
    """Describe the mean of each contrast over loads, and whether its change differs between them."""
    fit = fit_for_interaction(factor, family, compared)
    return [
        OverLoads(
            factor=factor,
            candidate=mean.candidate,
            baseline=mean.baseline,
            at=mean.at,
            over=len(mean.pairs),
            left_out=mean.left_out,
            comparison=_estimate(shown.comparison),
            confirmation=shown.confirmation,
            differs_p=_differs_p(fit, mean.pairs, compared.fitted),
        )
        for mean, comparison in zip(means, compared.means, strict=True)
        for shown in [family.row(mean.pairs[0], comparison)]
    ]


def _differs_p(fit: Fit | None, pairs: Sequence[Pair], fitted: Sequence[int]) -> float | None:
    if fit is None or not all(place in fitted for pair in pairs for place in pair):
        return None
    places = [fitted.index(place) for pair in pairs for place in pair]
    found = find_interaction(
        fit,
        [load for load in range(len(pairs)) for _ in (0, 1)],
        [side for _ in pairs for side in (0, 1)],
        places=places,
    )
    return found.p if found else None


def _part(levels: Levels, names: Sequence[str]) -> Levels:
    return {name: levels[name] for name in names if name in levels}


def _estimate(comparison: LevelComparison) -> Estimate:
    return Estimate(
        verdict=comparison.verdict,
        model=comparison.model,
        df=comparison.df,
        standard_error=comparison.standard_error,
        effective_n=comparison.effective_n,
    )


def strata_of(campaign: Campaign, strata: Sequence[Levels]) -> tuple[int, ...]:
    """Return the places of the strata over which the primary contrast of a paired campaign is."""
    contrast = contrast_of(campaign)
    if not contrast:
        return ()
    return tuple(
        place
        for place, levels in enumerate(strata)
        if all(levels.get(name) == level for name, level in contrast["at"].items())
    )


def primary_of_pairs(
    campaign: Campaign,
    metric: Metric,
    family: PairedFamily,
    places: Sequence[int],
    criteria: Criteria,
    sessions: int,
) -> Primary | None:
    """Describe the primary contrast of a paired campaign; None where none is named."""
    contrast = contrast_of(campaign)
    if not contrast or not places:
        return None
    if family.together:
        verdict, estimated = family.together.verdict, family.together.contrast
        by_session = family.together.sessions
        error, df = (estimated.standard_error, estimated.df) if estimated else (None, None)
        n = estimated.n if estimated else 0
    else:
        alone = family.comparisons[places[0]]
        verdict, df, by_session = alone.verdict, alone.df, alone.sessions
        error = alone.sd_log / alone.n_pairs**0.5 if alone.sd_log is not None else None
        n = alone.n_pairs
    return Primary(
        **contrast,
        over=len(places),
        comparison=Estimate(
            verdict=verdict if has_ranks(metric) else without_ranks(verdict),
            standard_error=error,
            df=df,
            effective_n=n,
        ),
        confirmation=confirmation_of(by_session, sessions),
    )
