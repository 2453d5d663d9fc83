"""The metric and the criteria of a finding, as its shape holds them."""

from typing import TypedDict

from campaigns.kinds.base import Metric
from campaigns.kinds.base.values import BLIND_LABEL
from campaigns.models import Campaign
from campaigns.stats.criteria import Criteria


class TermFields(TypedDict):
    """The fields of `values.Terms`."""

    metric: str
    label: str
    unit: str
    lower_is_better: bool
    margin_pct: float
    delta_pct: float
    alpha: float
    minimum_n: int
    same_setting: bool


def terms_of(campaign: Campaign, metric: Metric, criteria: Criteria) -> TermFields:
    """Return the fields of `values.Terms` for a finding of this campaign."""
    return {
        "metric": metric.name,
        "label": metric.label,
        "unit": metric.unit,
        "lower_is_better": metric.lower_is_better,
        "margin_pct": 100 * criteria.margin,
        "delta_pct": 100 * criteria.delta,
        "alpha": criteria.alpha,
        "minimum_n": criteria.minimum_n,
        "same_setting": campaign.paired_factor == BLIND_LABEL,
    }
