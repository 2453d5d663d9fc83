"""Bounds of cells that have no mean, since runs timed out or failed. Pure."""

from campaigns.findings.values import SummarisedCell
from campaigns.kit.numbers import amount


def bound_of(cell: SummarisedCell, unit: str) -> tuple[str, str]:
    """Return the bound of a cell instead of its mean, and why; both empty where it has a mean."""
    summary, counts = cell.summary, cell.counts
    tried = summary.n_ok + summary.n_failed
    timed_out, failed = summary.n_censored, summary.n_failed - summary.n_censored
    if timed_out:
        low, high = (amount(each, unit) for each in (counts.lowest_limit, counts.highest_limit))
        limit = low if low == high else f"{low} to {high}"
        why = f"{timed_out} of {tried} runs timed out at {limit}"
        return f"at least {amount(counts.at_least, unit)}", why + (
            f", {failed} failed" if failed else ""
        )
    if failed and counts.too_many_failures:
        return "too many failures", f"{failed} of {tried} runs failed"
    return "", ""
