"""What excluded runs change: every comparison with and without them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from campaigns.findings.compute.levels import compare as compare_levels
from campaigns.findings.compute.pairs import compare as compare_pairs
from campaigns.findings.values import (
    BriefVerdict,
    ComparedLevels,
    ExclusionRow,
    LevelsFinding,
    Pairs,
    WithExcluded,
)
from campaigns.kinds.base import Metric
from campaigns.models import Campaign
from campaigns.results.values import ObservedRun
from campaigns.stats.criteria import Criteria
from campaigns.stats.verdict import Verdict


def with_excluded(
    campaign: Campaign,
    metric: Metric,
    runs: Sequence[ObservedRun],
    criteria: Criteria,
    without: tuple[LevelsFinding | None, Pairs | None],
) -> WithExcluded | None:
    """Compare again as if no run was excluded; None where none is.

    without: the findings `levels` and `pairs` as they stand.
    """
    excluded = [run for run in runs if run.state == "excluded" and run.value is not None]
    if not excluded:
        return None
    everything = [replace(run, state="ok") if run in excluded else run for run in runs]
    together = (
        compare_levels(campaign, metric, everything, criteria),
        compare_pairs(campaign, metric, everything, criteria),
    )
    return WithExcluded(
        positions=[run.position for run in excluded],
        rows=[
            ExclusionRow(name, without=before, included=after)
            for (name, before), (_, after) in zip(_rows(*without), _rows(*together), strict=True)
        ],
    )


def _rows(
    levels: LevelsFinding | None, pairs: Pairs | None
) -> Iterator[tuple[ComparedLevels, BriefVerdict]]:
    """Yield the levels that name each comparison, with its verdict."""
    for group in levels.groups if levels else ():
        values = dict(zip(group.cells, group.values, strict=True))
        for row in group.comparisons:
            name = ComparedLevels(group.levels, values[row.baseline], values[row.candidate])
            yield name, _shown(row.comparison.verdict)
    if pairs is not None:
        for stratum in pairs.strata:
            name = ComparedLevels(stratum.levels, pairs.baseline, pairs.candidate)
            yield name, _shown(stratum.comparison.verdict)


def _shown(verdict: Verdict) -> BriefVerdict:
    return BriefVerdict(verdict.word, verdict.pct_change, verdict.ci_pct)
