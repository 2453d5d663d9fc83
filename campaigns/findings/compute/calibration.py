"""Findings of an A/A campaign: its two levels are one setting, so its pairs show the noise."""

import math

from campaigns.findings.values import CalibrationFinding, Pairs
from campaigns.kinds.base.values import BLIND_LABEL
from campaigns.models import Campaign
from campaigns.stats.calibration import calibrate
from campaigns.stats.criteria import Criteria
from campaigns.stats.interval import Interval
from campaigns.stats.logs import pct_of
from campaigns.stats.verdict import Word

ALARMS = (Word.BETTER, Word.WORSE)


def calibration(
    campaign: Campaign, pairs: Pairs | None, criteria: Criteria
) -> CalibrationFinding | None:
    """Measure the noise of an A/A campaign; None for any other one, and without two pairs."""
    if pairs is None or campaign.paired_factor != BLIND_LABEL:
        return None
    changes = [each.change_pct for stratum in pairs.strata for each in stratum.pairs]
    ratios = [math.log1p(change / 100) for change in changes if change is not None]
    result = calibrate(ratios, alpha=criteria.alpha)
    if result is None:
        return None
    verdicts = [stratum.comparison.verdict.word for stratum in pairs.strata]
    return CalibrationFinding(
        n=result.n,
        sd_log=result.sd_log,
        sd_log_ci=result.sd_log_ci,
        run_sd_log=result.run_sd_log,
        seen_pct=result.seen_pct,
        floor_pct=result.floor_pct,
        mean_pct=result.mean_pct,
        mean_p=result.mean_p,
        detectable=result.detectable,
        metric=pairs.metric,
        label=pairs.label,
        sd_pct=pct_of(result.sd_log),
        sd_ci_pct=Interval(*map(pct_of, result.sd_log_ci)),
        run_sd_pct=pct_of(result.run_sd_log),
        alpha=criteria.alpha,
        verdicts=len(verdicts),
        alarms=sum(word in ALARMS for word in verdicts),
    )
