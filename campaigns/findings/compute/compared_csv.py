"""A comparison of campaigns as rows of a CSV: exact numbers, no words of the page."""

from collections.abc import Iterator, Sequence
from typing import Any

from campaigns.findings.compute.compared import Compared

HEAD = (
    "baseline", "candidate", "baseline_cell", "candidate_cell", "verdict", "reason", "fields",
    "badges", "change_pct", "low_pct", "high_pct", "p", "p_holm", "p_ranks", "model", "n", "df",
    "baseline_mean", "candidate_mean", "metric", "unit", "standing", "data_hash",
)  # fmt: skip


def csv_rows(found: Compared | None) -> Iterator[Sequence[Any]]:
    """Give the head, then one row a comparison; a campaign that is refused as a whole has one."""
    yield HEAD
    if found is None:
        return
    names, first = found.names, found.measured[0]
    for each in found.against:
        if each.refused:
            fields = "; ".join(f"{f.label}: {f.baseline} | {f.candidate}" for f in each.refused)
            refused = (names.campaigns[0], names.campaigns[each.side], "", "", "not_comparable")
            yield (*refused, "", fields, *[""] * 12, first.name, first.unit, "", found.data_hash)
    for row in found.rows:
        verdict, ranks = row.comparison.verdict, row.comparison.ranks
        low, high = verdict.ci_pct or (None, None)
        yield (
            names.campaigns[0],
            names.campaigns[row.side],
            names.cell(0, row.baseline),
            names.cell(row.side, row.candidate),
            verdict.word.value,
            verdict.reason,
            "; ".join(f"{f.label}: {f.baseline} | {f.candidate}" for f in row.fields),
            " ".join(verdict.badges),
            verdict.pct_change, low, high, verdict.p, verdict.p_adjusted,
            ranks.p if ranks else None,
            row.comparison.model.value, verdict.n, row.comparison.df,
            *row.means, first.name, first.unit, row.standing, found.data_hash,
        )  # fmt: skip
