"""Labels of verdicts for a metric. Pure."""

from collections.abc import Mapping
from typing import Any

from campaigns.kinds.base import Metric
from campaigns.kit.numbers import amount
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


def bound_of(cell: Mapping[str, Any], unit: str) -> tuple[str, str]:
    """Return the bound of a cell instead of its mean, and why; both empty where it has a mean."""
    summary, counts = cell["summary"], cell["counts"]
    tried = summary["n_ok"] + summary["n_failed"]
    timed_out, failed = summary["n_censored"], summary["n_failed"] - summary["n_censored"]
    if timed_out:
        low, high = (amount(counts[name], unit) for name in ("lowest_limit", "highest_limit"))
        limit = low if low == high else f"{low} to {high}"
        why = f"{timed_out} of {tried} runs timed out at {limit}"
        return f"at least {amount(counts['at_least'], unit)}", why + (
            f", {failed} failed" if failed else ""
        )
    if failed and counts["too_many_failures"]:
        return "too many failures", f"{failed} of {tried} runs failed"
    return "", ""


def superlative(metric: Metric) -> str:
    """Return what the best setting is called: “fastest”, or “best”."""
    word = display(Word.BETTER, metric.unit, metric.lower_is_better, metric=metric.name).word
    return "fastest" if word == "faster" else "best"
