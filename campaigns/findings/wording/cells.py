"""Names and values of cells. Pure."""

from campaigns.findings.values import SummarisedCell
from campaigns.kit.numbers import amount


def bound_of(cell: SummarisedCell, unit: str) -> tuple[str, str]:
    """Return the bound of a cell instead of its mean, and why; both empty where it has a mean."""
    summary, counts = cell.summary, cell.counts
    tried = summary.n_ok + summary.n_failed
    timed_out, failed = summary.n_censored, summary.n_failed - summary.n_censored
    if timed_out:
        low, high = amount(counts.lowest_limit, unit), amount(counts.highest_limit, unit)
        limit = low if low == high else f"{low} to {high}"
        why = f"{timed_out} of {tried} runs timed out at {limit}"
        also = f", {failed} failed" if failed else ""
        return f"at least {amount(counts.at_least, unit)}", f"{why}{also}"
    if failed and counts.too_many_failures:
        return "too many failures", f"{failed} of {tried} runs failed"
    return "", ""
