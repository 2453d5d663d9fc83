"""The comparison of the primary contrast: one of the other comparisons, or one more in their family."""

from collections.abc import Sequence
from dataclasses import replace

from campaigns.findings.compute.fidelity import has_ranks, without_ranks
from campaigns.findings.compute.sameness import compared_work
from campaigns.findings.compute.sessions import confirmation_of
from campaigns.findings.compute.statistics_input import Family
from campaigns.findings.values import Estimate, Primary
from campaigns.kinds.base import Metric
from campaigns.kit.mappings import Levels
from campaigns.models import Campaign
from campaigns.planning.plan import pairs_of
from campaigns.stats.compared import Comparison, Comparisons
from campaigns.stats.criteria import Criteria
from campaigns.stats.paired import PairedFamily

Pair = tuple[int, int]


def compare_with_primary(
    campaign: Campaign, family: Family, wanted: Sequence[Pair]
) -> tuple[Comparisons, Primary | None]:
    """Judge the wanted pairs and the primary contrast as one family; return the latter separately, too."""
    contrast = campaign.primary_contrast
    if contrast and contrast["factor"] in compared_work(campaign):
        contrast = None  # an address whose levels turned out to hold other content
    pairs = pairs_of(contrast, [c.levels_by_factor for c in family.cells]) if contrast else []
    if not contrast or not pairs:
        return family.compare(wanted), None

    def row(comparison: Comparison, pair: Pair | None) -> Primary:
        shown = family.row(pair or pairs[0], comparison)
        estimate = shown.comparison
        return Primary(
            **contrast,
            over=len(pairs),
            comparison=Estimate(
                verdict=estimate.verdict,
                model=estimate.model,
                df=estimate.df,
                standard_error=estimate.standard_error,
                effective_n=estimate.effective_n,
            ),
            confirmation=shown.confirmation,
        )

    if len(pairs) > 1:
        compared = family.compare(wanted, pairs)
        return compared, row(compared.together, None) if compared.together else None
    (pair,) = pairs
    if pair in wanted:
        compared = family.compare(wanted)
        return compared, row(compared.comparisons[list(wanted).index(pair)], pair)
    others = [each for each in wanted if each != (pair[1], pair[0])]
    compared = family.compare([*others, pair])
    comparison = row(compared.comparisons[-1], pair)
    if len(others) < len(wanted):  # it is wanted the other way round
        return family.compare(wanted), comparison
    return replace(compared, comparisons=compared.comparisons[:-1]), comparison


def strata_of(campaign: Campaign, strata: Sequence[Levels]) -> tuple[int, ...]:
    """Return the places of the strata over which the primary contrast of a paired campaign is."""
    contrast = campaign.primary_contrast
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
    contrast = campaign.primary_contrast
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
