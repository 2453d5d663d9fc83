"""Labels of verdicts for a metric. Pure."""

from campaigns.kinds.base import Metric
from campaigns.stats.criteria import Criteria
from campaigns.stats.labels import Display, display
from campaigns.stats.verdict import Word


def displayed(word: Word, metric: Metric, criteria: Criteria) -> Display:
    """Return the label of a verdict for this metric, with the margin of equivalence."""
    return display(
        word,
        metric.unit,
        metric.lower_is_better,
        metric=metric.name,
        margin=criteria.margin,
    )
