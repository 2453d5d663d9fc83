"""Statistics of one cell and of pairs: means, medians, ranks, bootstraps."""

import numpy as np

from bench.selfcheck.contrasts import COVERAGE
from bench.selfcheck.tally import Figure, Promise, count
from bench.selfcheck.worlds import World
from campaigns.stats.cell_summary import summarise
from campaigns.stats.criteria import Criteria
from campaigns.stats.logs import pct_of
from campaigns.stats.mann_whitney import rank_sum, shift
from campaigns.stats.overall import over_strata
from campaigns.stats.paired import bca_pct_change_of_means
from campaigns.stats.ranks import hodges_lehmann, signed_rank

RESAMPLES = 999
STRATA = 5
SPREAD = 0.03
"""Of the true changes of manifests, as a sd of logs."""
RANKS = "Words"


def summaries(world: World, n: int, reps: int, rng: np.random.Generator) -> list[Figure]:
    """The runs of one cell, one after the other."""
    mean, median = world.truth()
    results = [summarise(list(np.exp(logs))) for logs in world.one_by_one(rng, reps, n)]
    means = [s.mean_ci.low <= mean <= s.mean_ci.high for s in results if s.mean_ci]
    logs = [s.gmean_ci.low <= 1 <= s.gmean_ci.high for s in results if s.gmean_ci]
    ranks = [s.median_ci for s in results if s.median_ci]
    return [
        count(COVERAGE, "cell: mean", world.name, n, means, 0.95),
        count(COVERAGE, "cell: geometric mean", world.name, n, logs, 0.95),
        count(
            COVERAGE,
            f"cell: median, at its {100 * ranks[0].achieved:.1f} %",
            world.name,
            n,
            (each.low <= median <= each.high for each in ranks),
            ranks[0].achieved,
        ),
    ]


def ranks(world: World, n: int, reps: int, rng: np.random.Generator) -> list[Figure]:
    """Hodges and Lehmann's intervals at what they achieve, and the rank tests' false alarms."""
    pairs = world.interleaved(rng, reps, n, 2)
    cells = world.shuffled(rng, reps, n, 2)
    differences = pairs[:, :, 1] - pairs[:, :, 0]
    figures = [
        count(
            RANKS,
            f"{name} p < .05, without a change",
            world.name,
            n,
            seen,
            0.05,
            Promise.AT_MOST,
        )
        for name, seen in (
            ("signed rank", [signed_rank(each).p < 0.05 for each in differences]),
            ("rank sum", [rank_sum(each[0], each[1]).p < 0.05 for each in cells]),
        )
    ]
    for name, intervals in (
        ("Hodges-Lehmann of pairs", [hodges_lehmann(each, 0.95) for each in differences]),
        ("Hodges-Lehmann of two cells", [shift(each[0], each[1], 0.95) for each in cells]),
    ):
        known = [result for result in intervals if result and result.ci_pct]
        if known:
            achieved = known[0].achieved or 0.95
            figures.append(
                count(
                    COVERAGE,
                    f"{name}, at its {100 * achieved:.1f} %",
                    world.name,
                    n,
                    (f.ci_pct.low <= 0 <= f.ci_pct.high for f in known if f.ci_pct),
                    achieved,
                )
            )
    return figures


def bootstraps(world: World, n: int, reps: int, rng: np.random.Generator) -> list[Figure]:
    """BCa of one manifest; the four readings of five manifests, whose true changes differ."""
    criteria = Criteria(resamples=RESAMPLES)
    figures: list[Figure] = []
    if n >= 5:
        pairs = 100 * np.exp(world.interleaved(rng, reps, n, 2))
        results = [bca_pct_change_of_means(each[:, 0], each[:, 1], criteria) for each in pairs]
        covered = [each.low <= 0 <= each.high for each in results if each]
        figures.append(
            count(COVERAGE, "pairs: change of means (BCa)", world.name, n, covered, 0.95)
        )
    average, fixed, sample, shown, alarms = [], [], [], [], []
    for _ in range(reps):
        changes = rng.normal(0, SPREAD, STRATA)
        noise = world.interleaved(rng, STRATA, n, 2)
        same = [(np.exp(each[:, 0]), np.exp(each[:, 1])) for each in noise]
        other = [(b, c * np.exp(d)) for (b, c), d in zip(same, changes, strict=True)]
        one, many = over_strata(same), over_strata(other)
        if not (one and one.average_ci and one.fixed_ci and many and many.sample_ci):
            continue
        if not many.geometric_ci:
            continue
        average.append(one.average_ci.low <= 0 <= one.average_ci.high)
        fixed.append(one.fixed_ci.low <= 0 <= one.fixed_ci.high)
        sample.append(many.sample_ci.low <= 0 <= many.sample_ci.high)
        truth = pct_of(float(changes.mean()))
        shown.append(many.geometric_ci.low <= truth <= many.geometric_ci.high)
        alarms.append(one.heterogeneous)
    return [
        *figures,
        count(
            COVERAGE,
            "5 manifests: what is said first, of these",
            world.name,
            n,
            shown,
            0.95,
            Promise.AT_LEAST,
        ),
        count(COVERAGE, "5 manifests: average of changes", world.name, n, average, 0.95),
        count(COVERAGE, "5 manifests: these alone", world.name, n, fixed, 0.95),
        count(COVERAGE, "5 manifests: as a sample", world.name, n, sample, 0.95),
        count(
            "Checks",
            "5 manifests said to differ (Welch), all alike",
            world.name,
            n,
            alarms,
            0.05,
            Promise.AT_MOST,
        ),
    ]
