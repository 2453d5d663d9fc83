"""Words of the closed list as a metric says them. Pure."""

from campaigns.drivers.base import Metric
from campaigns.stats.criteria import Criteria
from campaigns.stats.verdict import Word
from campaigns.stats.words import Display, display


def displayed(word: Word, metric: Metric, criteria: Criteria) -> Display:
    """Write a word as this metric says it, with the margin of equivalence."""
    return display(
        word,
        metric.unit,
        metric.lower_is_better,
        metric=metric.name,
        margin=criteria.margin,
    )


def superlative(metric: Metric) -> str:
    """What the best setting is called."""
    word = display(Word.BETTER, metric.unit, metric.lower_is_better, metric=metric.name).word
    return "fastest" if word == "faster" else "best"
