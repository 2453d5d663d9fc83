"""Findings of an A/A campaign: its two levels are one setting, so its pairs show the noise."""

import math
from typing import Any

from msgspec.structs import replace

from campaigns.findings.values import CalibrationFinding, Pairs
from campaigns.kinds.base.values import BLIND_LABEL
from campaigns.kit.numbers import counted, percent
from campaigns.models import Campaign
from campaigns.stats.calibration import calibrate
from campaigns.stats.criteria import Criteria
from campaigns.stats.interval import Interval
from campaigns.stats.labels import Display
from campaigns.stats.logs import pct_of
from campaigns.stats.verdict import Word

FALSE_ALARM = {"word": "false alarm", "tone": "warn", "icon": "warn", "form": "outline"}
IDENTICAL = {"word": "A/A: identical runs", "tone": "info", "icon": "info", "form": "outline"}
ALARMS = (Word.BETTER, Word.WORSE)

Found = Any


def false_alarms(campaign: Campaign, pairs: Pairs | None) -> Pairs | None:
    """Label each “better” or “worse” between two names of one setting as a false alarm."""
    if pairs is None or campaign.paired_factor != BLIND_LABEL:
        return pairs
    strata = [
        replace(each, display=Display(**FALSE_ALARM), advice="Both labels are one setting.")
        if each.comparison.verdict.word in ALARMS
        else replace(each, advice="")
        for each in pairs.strata
    ]
    return replace(pairs, strata=strata)


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


def answer_of_calibration(result: Found) -> dict[str, Any]:
    """Return how far apart identical runs are, and which changes a campaign can then detect."""
    floor = percent(result["floor_pct"]).lstrip("+")
    sentence = (
        f"Identical runs differ by up to about {floor} (19 of 20 pairs, estimated from {result['n']}): "
        "a smaller difference of two single runs may be nothing but noise."
    )
    badges: list[dict[str, Any]] = [IDENTICAL]
    if result["alarms"]:
        of = counted(result["verdicts"], "comparison")
        badges.append({**FALSE_ALARM, "word": f"false alarm: {result['alarms']} of {of}"})
        sentence += (
            " Between the two labels a difference was shown although there is none: a false alarm, "
            f"as in {100 * result['alpha']:g} % of such campaigns."
        )
    facts = [{"label": "noise floor", "value": floor, "note": f"{result['n']} pairs"}]
    facts += [
        {
            "label": f"{each['pairs']} pairs find",
            "value": percent(each["pct"]).lstrip("+"),
            "note": "or more, in 4 of 5",
        }
        for each in result["detectable"]
    ]
    return {
        "sentence": sentence,
        "tone": "warn" if result["alarms"] else "info",
        "badges": badges,
        "facts": facts,
    }
