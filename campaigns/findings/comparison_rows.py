"""The comparisons of a campaign as rows of a CSV, with exact numbers."""

from collections.abc import Iterator, Mapping
from typing import Any

from campaigns.models import Campaign
from campaigns.results.pages_data import shown_findings

HEAD = (
    "where", "factor", "baseline", "candidate", "verdict", "reason", "badges", "change_pct",
    "low_pct", "high_pct", "p", "p_holm", "p_ranks", "model", "n", "df", "required_n",
    "detectable_pct", "standing", "metric", "unit", "data_hash",
)  # fmt: skip


def comparison_rows(campaign: Campaign) -> Iterator[tuple[Any, ...]]:
    """Yield the head, then one row a comparison of the primary metric, of levels or of strata.

    The head alone while the campaign is active.
    """
    yield HEAD
    rows = shown_findings(campaign).filter(name__in=["levels", "pairs"])
    for finding in rows.order_by("name"):
        rows_of = _of_levels if finding.name == "levels" else _of_pairs
        for row in rows_of(finding.result):
            yield (*row, finding.result["metric"], finding.result["unit"], finding.data_hash)


def _of_levels(result: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    for group in result["groups"]:
        values = dict(zip(group["cells"], group["values"], strict=True))
        for row in group["comparisons"]:
            comparison = row["comparison"]
            ranks = comparison["ranks"]
            yield (
                _where(group["levels"]),
                result["factor"],
                values[row["baseline"]],
                values[row["candidate"]],
                *_of_verdict(comparison["verdict"], ranks["p"] if ranks else None),
                comparison["model"],
                comparison["verdict"]["n"],
                comparison["df"],
                comparison["verdict"]["required_n"],
                comparison["verdict"]["mde_pct"],
                row["standing"]["standing"],
            )


def _of_pairs(result: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    for stratum in result["strata"]:
        comparison = stratum["comparison"]
        yield (
            _where(stratum["levels"]),
            result["factor"],
            result["baseline"],
            result["candidate"],
            *_of_verdict(comparison["verdict"], comparison["wilcoxon_p"]),
            "paired",
            comparison["n_pairs"],
            comparison["df"],
            comparison["verdict"]["required_n"],
            comparison["verdict"]["mde_pct"],
            stratum["standing"]["standing"],
        )


def _of_verdict(verdict: Mapping[str, Any], p_ranks: float | None) -> tuple[Any, ...]:
    low, high = verdict["ci_pct"] or (None, None)
    return (
        verdict["word"],
        verdict["reason"],
        " ".join(verdict["badges"]),
        verdict["pct_change"],
        low,
        high,
        verdict["p"],
        verdict["p_adjusted"],
        p_ranks,
    )


def _where(levels: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={level}" for name, level in levels.items())
