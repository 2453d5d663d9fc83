"""Comparison of two levels whose runs were made in pairs, stratum by stratum. Pure.

Primary is the paired t test of the log ratios, ln(candidate / baseline); ranks and a bootstrap
stand beside it. Strata are judged as one family (Holm). From three sessions on the word rests on what
differs between sessions (STATISTICS 2.7).
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy
from numpy.typing import NDArray

from campaigns.stats.criteria import Criteria
from campaigns.stats.interval import Interval
from campaigns.stats.log_means import NO_NOISE
from campaigns.stats.logs import pct_of
from campaigns.stats.mean_of_contrasts import mean_of, plan_of
from campaigns.stats.multiplicity import holm, of_table
from campaigns.stats.noisy import left_of_cells, noisy_cells
from campaigns.stats.pairs import Stratum, refusal, values_of
from campaigns.stats.plans import Plan, planned
from campaigns.stats.pooled import equal_noise
from campaigns.stats.power import PAIRS
from campaigns.stats.ranks import HodgesLehmann, hodges_lehmann, signed_rank
from campaigns.stats.sessions import (
    FEWEST_FOR_INTERVAL,
    SessionEstimate,
    SessionFindings,
    between_sessions,
    estimate_of,
    over_sessions,
)
from campaigns.stats.units import (
    Count,
    Degrees,
    InMetric,
    Number,
    OnLogs,
    Percent,
    PercentInterval,
    Probability,
    WholeDegrees,
)
from campaigns.stats.verdict import Contrast, Verdict, Word, interval_of, p_value

MINIMUM_N = 5
_CELLS_AT_ONCE = 1_000_000


@dataclass(frozen=True, slots=True)
class OrderEffect:
    """The difference of the change, in %, between pairs whose candidate and whose baseline ran first.

    t is None where the pairs hold no noise at all. `flagged`: p is below alpha.
    """

    candidate_first: Count
    baseline_first: Count
    difference_pct: Percent
    t: Number | None
    df: WholeDegrees
    p: Probability
    flagged: bool


def order_effect(
    strata: Sequence[tuple[NDArray[np.float64], Sequence[bool | None]]], alpha: float
) -> OrderEffect | None:
    """Compare the log ratios of both orders, within strata: df = pairs - strata - 1.

    strata: log ratios, and for each whether the candidate ran first; None is left out. Both are
    taken from their stratum's mean (Frisch and Waugh, 1933), so that three pairs a stratum, which
    cannot be half and half, do not bias it. None where the orders cannot be told apart.
    """
    ratios, firsts, used = [], [], 0
    for differences, candidate_first in strata:
        known = np.array([first is not None for first in candidate_first], dtype=bool)
        if not known.any():
            continue
        used += 1
        first = np.array([first is True for first in candidate_first], dtype=float)[known]
        ratios.append(differences[known] - differences[known].mean())
        firsts.append((first, first - first.mean()))
    if not used:
        return None
    ratio = np.concatenate(ratios)
    indicator = np.concatenate([first for first, _ in firsts])
    centred = np.concatenate([centre for _, centre in firsts])
    spread, df = float(centred @ centred), ratio.size - used - 1
    if spread == 0 or df < 1:
        return None
    slope = float(centred @ ratio) / spread
    error = ratio - slope * centred
    contrast = Contrast(slope, float(np.sqrt(error @ error / df / spread)), df, ratio.size)
    p = p_value(contrast)
    return OrderEffect(
        candidate_first=int(indicator.sum()),
        baseline_first=int(ratio.size - indicator.sum()),
        difference_pct=pct_of(slope),
        t=slope / contrast.standard_error if contrast.standard_error else None,
        df=df,
        p=p,
        flagged=p < alpha,
    )


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """The comparison of the pairs of one stratum; None where there is no such number.

    verdict: from three sessions on that between sessions, of which its n counts; all other numbers
    are of the pairs, whatever the session. sessions: the estimate of each session.
    sd_log, df: those that geo_ci_pct was made with, so of all strata where noise was pooled.
    flags: `zero_variance` (suspect the clock or a cache), `pooled_noise`, `incomplete_pairs`.
    """

    name: str
    n_pairs: Count
    incomplete_by_failure: Count
    incomplete_by_loss: Count
    verdict: Verdict
    flags: tuple[str, ...] = ()
    mean_baseline: InMetric | None = None
    mean_candidate: InMetric | None = None
    sd_baseline: InMetric | None = None
    sd_candidate: InMetric | None = None
    pct_change_of_means: Percent | None = None
    mean_of_pair_pct_changes: Percent | None = None
    geo_pct_change: Percent | None = None
    geo_ci_pct: PercentInterval | None = None
    sd_log: OnLogs | None = None
    t: Number | None = None
    df: Degrees | None = None
    p: Probability | None = None
    v_plus: Number | None = None
    wilcoxon_p: Probability | None = None
    min_attainable_p: Probability | None = None
    hodges_lehmann: HodgesLehmann | None = None
    bca_ci_pct: PercentInterval | None = None
    pair_changes_pct: tuple[Percent, ...] = ()
    sessions: SessionFindings | None = None


@dataclass(frozen=True, slots=True)
class Together:
    """The mean change over several strata; contrast: of all pairs, None where a stratum has no number."""

    verdict: Verdict
    contrast: Contrast | None
    sessions: SessionFindings | None = None


@dataclass(frozen=True, slots=True)
class PairedFamily:
    """The strata of a campaign, in their order. pooled: their noise was pooled.

    together: the mean over several strata, one test by itself, where it was requested.
    over_all: the estimate of each session of the mean over all strata; None with one of them, or without a
    session that holds all.
    """

    comparisons: tuple[PairedComparison, ...]
    order_effect: OrderEffect | None
    pooled: bool
    together: Together | None = None
    over_all: SessionFindings | None = None


@dataclass(frozen=True, slots=True)
class _Noise:
    sd_log: float
    df: int


@dataclass(frozen=True, slots=True)
class _Opened:
    """A stratum with its log ratios, none where no number may be made of it."""

    stratum: Stratum
    refused: Verdict | None
    logs: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Test:
    """What one verdict rests on: of a stratum, or of the mean over several."""

    refused: Verdict | None
    contrast: Contrast | None
    by_session: Mapping[int, SessionEstimate]

    @property
    def estimates(self) -> list[SessionEstimate]:
        """The estimates of the sessions, in their order."""
        return list(self.by_session.values())

    @property
    def decides(self) -> Contrast | None:
        """The contrast between sessions, from enough of them; else that of the pairs."""
        if self.contrast is None or len(self.by_session) < FEWEST_FOR_INTERVAL:
            return self.contrast
        return between_sessions(self.estimates) or self.contrast


DEFAULT = Criteria()


def compare_strata(
    strata: Sequence[Stratum],
    *,
    lower_is_better: bool,
    criteria: Criteria = DEFAULT,
    pool_noise: bool = False,
    together: Sequence[int] = (),
    at_loads: bool = False,
    bootstrap: bool = True,
) -> PairedFamily:
    """Compare candidate with baseline in each stratum, and judge all of them as one family.

    pool_noise: share one sd among the strata, where there are three or more and Levene's test finds
    no difference between them (p > .01) and none is noisier than the others; a decision for launch, not for after the fact.
    together: places of strata whose mean is one test by itself. at_loads: strata are loads; a mean is over those without too many failures. bootstrap: no verdict needs it.
    """
    opened = [_open(stratum, criteria) for stratum in strata]
    if at_loads:
        together = [place for place in together if not opened[place].refused] or together[:1]
    shared = _pooled_noise([each.logs for each in opened]) if pool_noise else None
    noises = [shared or _own_noise(each.logs) if each.logs.size > 1 else None for each in opened]
    tests = [_test_of(each, noise) for each, noise in zip(opened, noises, strict=True)]
    mean = _test_of_mean([tests[place] for place in together], shared) if together else None
    judge = partial(over_sessions, lower_is_better=lower_is_better, criteria=criteria)
    adjusted = _adjusted(tests, criteria, of_table if at_loads else holm)
    results = [
        judge(test.estimates, within=test.contrast, p_adjusted=p_adjusted)
        if test.contrast
        else None
        for test, p_adjusted in zip(tests, adjusted, strict=True)
    ]
    known = [(e.logs, [p.candidate_first for p in e.stratum.pairs]) for e in opened if e.logs.size]
    return PairedFamily(
        tuple(
            _compared(each, noise, test, result, criteria, bootstrap=bootstrap, pooled=bool(shared))
            for each, noise, test, result in zip(opened, noises, tests, results, strict=True)
        ),
        order_effect(known, criteria.alpha),
        pooled=shared is not None,
        together=_together(mean, judge, criteria) if mean else None,
        over_all=judge(_over_all(tests, at_loads=at_loads)) if len(tests) > 1 else None,
    )


def _test_of(opened: _Opened, noise: _Noise | None) -> _Test:
    """Return the test of one stratum."""
    contrast = _contrast(opened.logs, noise) if noise else None
    return _Test(opened.refused, contrast, _by_session(opened))


def _test_of_mean(tests: Sequence[_Test], shared: _Noise | None) -> _Test:
    """Return the test of the mean over strata; refused as the first of them that is."""
    refused = next((test.refused for test in tests if test.refused), None)
    contrast = _mean([test.contrast for test in tests], shared)
    return _Test(refused, contrast, _together_by_session([test.by_session for test in tests]))


def _over_all(tests: Sequence[_Test], *, at_loads: bool) -> list[SessionEstimate]:
    """Return the mean over all strata in each session; of loads, over those without too many failures."""
    judged = [test for test in tests if not test.refused] if at_loads else []
    return list(_together_by_session([test.by_session for test in judged or tests]).values())


def _compared(
    opened: _Opened,
    noise: _Noise | None,
    test: _Test,
    result: SessionFindings | None,
    criteria: Criteria,
    *,
    bootstrap: bool,
    pooled: bool,
) -> PairedComparison:
    """Describe a stratum, and infer what its pairs allow."""
    comparison = _described(opened)
    if noise and test.contrast and result:
        comparison = _inferred(comparison, opened, noise, test.contrast, result, criteria)
        if bootstrap and _own_noise(opened.logs).sd_log:
            comparison = replace(comparison, bca_ci_pct=_bootstrapped(opened.stratum, criteria))
    if noise and pooled:
        comparison = _flagged(comparison, "pooled_noise")
    if comparison.sessions:
        comparison = replace(comparison, sessions=comparison.sessions.of(comparison.verdict))
    return comparison


def _by_session(opened: _Opened) -> dict[int, SessionEstimate]:
    """Return the mean log ratio of each session that holds a pair, in the order of sessions."""
    numbers = np.array([pair.session for pair in opened.stratum.pairs] if opened.logs.size else [])
    return {
        int(number): estimate_of(opened.logs[numbers == number]) for number in np.unique(numbers)
    }


def _together_by_session(
    strata: Sequence[Mapping[int, SessionEstimate]],
) -> dict[int, SessionEstimate]:
    """Return the mean over the strata in each session that holds all of them."""
    shared = sorted(set.intersection(*(set(each) for each in strata)))
    return {number: _mean_estimate([each[number] for each in strata]) for number in shared}


def _mean_estimate(estimates: Sequence[SessionEstimate]) -> SessionEstimate:
    count = len(estimates)
    n = count / sum(1 / each.n for each in estimates)
    variance = sum(each.variance / each.n for each in estimates) / count**2
    mean = float(np.mean([each.estimate for each in estimates]))
    return SessionEstimate(mean, variance * n, n, sum(each.df for each in estimates))


def _open(stratum: Stratum, criteria: Criteria) -> _Opened:
    refused = refusal(stratum, criteria)
    if refused and refused.word != Word.NOT_ENOUGH_DATA:
        return _Opened(stratum, refused, np.empty(0))
    baseline, candidate = (values_of(stratum.pairs, side) for side in ("baseline", "candidate"))
    return _Opened(stratum, refused, np.log(candidate) - np.log(baseline))


def _own_noise(logs: NDArray[np.float64]) -> _Noise:
    sd = float(logs.std(ddof=1))
    return _Noise(sd if sd >= NO_NOISE else 0.0, logs.size - 1)


def _pooled_noise(strata: Sequence[NDArray[np.float64]]) -> _Noise | None:
    """Pool the sd of three or more strata, unless Levene's test or one that is noisier forbids it."""
    groups = [logs for logs in strata if logs.size > 1]
    noises = [_own_noise(logs) for logs in groups]
    if len(groups) < 3 or not any(n.sd_log for n in noises) or not equal_noise(groups):
        return None
    if noisy_cells(left_of_cells(groups), len(groups)):
        return None
    df = sum(noise.df for noise in noises)
    return _Noise(float(np.sqrt(sum(n.df * n.sd_log**2 for n in noises) / df)), df)


def _contrast(logs: NDArray[np.float64], noise: _Noise) -> Contrast:
    return Contrast(float(logs.mean()), noise.sd_log / logs.size**0.5, noise.df, logs.size)


def _mean(contrasts: Sequence[Contrast | None], shared: _Noise | None) -> Contrast | None:
    known = [each for each in contrasts if each]
    if len(known) < len(contrasts):
        return None
    return mean_of(known, shared.df if shared else None)


def _together(
    test: _Test, judge: Callable[..., SessionFindings | None], criteria: Criteria
) -> Together:
    """Judge the mean, unless one of its strata may not be judged. judge: `over_sessions` with its criteria."""
    mean, refused = test.contrast, test.refused
    sessions = judge(test.estimates, within=mean, p_adjusted=None) if mean else None
    if mean is None or sessions is None:
        unknown = Verdict(Word.NOT_ENOUGH_DATA, n=0, reason="n_below_minimum")
        return Together(refused or unknown, None)
    verdict, decides = sessions.verdict, sessions.decides
    if refused:
        verdict = replace(verdict, word=refused.word, reason=refused.reason, share=refused.share)
    verdict = planned(verdict, decides, Plan(*plan_of(decides), decides.n), criteria)
    return Together(verdict, mean, sessions.of(verdict))


def _adjusted(
    tests: Sequence[_Test],
    criteria: Criteria,
    adjust: Callable[[Sequence[float]], list[float]],
) -> list[float | None]:
    """Adjust the p values of the strata that can have a verdict of a difference."""
    family = {
        index: p_value(contrast)
        for index, test in enumerate(tests)
        if (contrast := test.decides) and not test.refused and contrast.n >= criteria.minimum_n
    }
    by_index = dict(zip(family, adjust(list(family.values())), strict=True))
    return [by_index.get(index) for index in range(len(tests))]


def _described(opened: _Opened) -> PairedComparison:
    """Describe both sides, before any inference."""
    stratum, n = opened.stratum, len(opened.stratum.pairs)
    incomplete = stratum.incomplete_by_failure + stratum.incomplete_by_loss
    comparison = PairedComparison(
        name=stratum.name,
        n_pairs=n,
        incomplete_by_failure=stratum.incomplete_by_failure,
        incomplete_by_loss=stratum.incomplete_by_loss,
        verdict=opened.refused or Verdict(word=Word.NOT_ENOUGH_DATA, n=n, reason="n_below_minimum"),
        flags=("incomplete_pairs",) if incomplete else (),
    )
    if not opened.logs.size:
        return comparison
    baseline, candidate = (values_of(stratum.pairs, side) for side in ("baseline", "candidate"))
    changes = tuple(pct_of(float(log)) for log in opened.logs)
    return replace(
        comparison,
        mean_baseline=float(baseline.mean()),
        mean_candidate=float(candidate.mean()),
        sd_baseline=float(baseline.std(ddof=1)) if n > 1 else None,
        sd_candidate=float(candidate.std(ddof=1)) if n > 1 else None,
        pct_change_of_means=pct_of(float(np.log(candidate.mean()) - np.log(baseline.mean()))),
        mean_of_pair_pct_changes=sum(changes) / n,
        geo_pct_change=pct_of(float(opened.logs.mean())),
        pair_changes_pct=changes,
    )


def _inferred(
    comparison: PairedComparison,
    opened: _Opened,
    noise: _Noise,
    contrast: Contrast,
    sessions: SessionFindings,
    criteria: Criteria,
) -> PairedComparison:
    """Add interval, tests and verdict, of two pairs or more."""
    ranks, p = signed_rank(opened.logs), p_value(contrast)
    verdict, decides = sessions.verdict, sessions.decides
    outer = decides is sessions.between
    if (
        not outer
        and ranks.min_attainable_p < criteria.alpha
        and (p < criteria.alpha) != (ranks.p < criteria.alpha)
    ):
        verdict = replace(verdict, badges=(*verdict.badges, "tests_disagree"))
    if opened.refused:
        verdict = replace(
            verdict,
            word=opened.refused.word,
            reason=opened.refused.reason,
            share=opened.refused.share,
        )
    sd = decides.standard_error * decides.n**0.5 if outer else noise.sd_log
    bounds = interval_of(contrast, criteria.alpha)
    comparison = replace(
        comparison,
        verdict=planned(verdict, decides, Plan(sd, PAIRS, decides.n), criteria),
        sessions=sessions,
        geo_ci_pct=Interval(pct_of(bounds.low), pct_of(bounds.high)),
        sd_log=noise.sd_log,
        t=contrast.estimate / contrast.standard_error if contrast.standard_error else None,
        df=contrast.df,
        p=p,
        v_plus=ranks.v_plus,
        wilcoxon_p=ranks.p,
        min_attainable_p=ranks.min_attainable_p,
        hodges_lehmann=hodges_lehmann(opened.logs, 1 - criteria.alpha),
    )
    return comparison if noise.sd_log else _flagged(comparison, "zero_variance")


def _bootstrapped(stratum: Stratum, criteria: Criteria) -> Interval | None:
    baseline, candidate = (values_of(stratum.pairs, side) for side in ("baseline", "candidate"))
    return bca_pct_change_of_means(baseline, candidate, criteria)


def _flagged(comparison: PairedComparison, flag: str) -> PairedComparison:
    """Note it in the numbers, and as a badge of the verdict."""
    verdict = comparison.verdict
    return replace(
        comparison,
        flags=(*comparison.flags, flag),
        verdict=replace(verdict, badges=(*verdict.badges, flag)),
    )


def bca_pct_change_of_means(
    baseline: NDArray[np.float64], candidate: NDArray[np.float64], criteria: Criteria
) -> Interval | None:
    """Bootstrap pairs for the change of means in % (bias-corrected and accelerated, Efron 1987).

    Both of shape (n,). None below five pairs, and where the resamples do not differ enough.
    """
    n = baseline.size
    if n < MINIMUM_N:
        return None
    ordered = np.lexsort((candidate, baseline))

    def change(
        cand: NDArray[np.float64], base: NDArray[np.float64], axis: int
    ) -> NDArray[np.float64]:
        return np.asarray(100 * (cand.mean(axis=axis) / base.mean(axis=axis) - 1))

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of degenerate resamples; the result shows them as NaN
        bounds = scipy.stats.bootstrap(
            (candidate[ordered], baseline[ordered]),
            change,
            paired=True,
            vectorized=True,
            method="BCa",
            confidence_level=1 - criteria.alpha,
            n_resamples=criteria.resamples,
            batch=max(1, _CELLS_AT_ONCE // n),
            rng=np.random.default_rng(criteria.seed),
        ).confidence_interval
    if not np.isfinite([bounds.low, bounds.high]).all():
        return None
    return Interval(float(bounds.low), float(bounds.high))
