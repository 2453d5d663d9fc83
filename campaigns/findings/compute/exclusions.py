"""What excluded runs change: every comparison with and without them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from campaigns.findings.compute.levels import compare as compare_levels
from campaigns.findings.compute.pairs import compare as compare_pairs
from campaigns.kinds.base import Metric
from campaigns.models import Campaign
from campaigns.results.values import ObservedRun
from campaigns.stats.criteria import Criteria

Compared = Mapping[str, Any] | None


def with_excluded(
    campaign: Campaign,
    metric: Metric,
    runs: Sequence[ObservedRun],
    criteria: Criteria,
    without: tuple[Compared, Compared],
) -> dict[str, Any] | None:
    """Compare again as if no run was excluded; None where none is.

    without: the findings `levels` and `pairs` as they stand.
    """
    excluded = [run for run in runs if run.state == "excluded" and run.value is not None]
    if not excluded:
        return None
    everything = [replace(run, state="ok") if run in excluded else run for run in runs]
    together = (
        compare_levels(campaign, metric, everything, criteria),
        compare_pairs(campaign, metric, everything, criteria),
    )
    return {
        "positions": [run.position for run in excluded],
        "rows": [
            {"name": name, "without": before, "with": after}
            for (name, before), (_, after) in zip(_rows(*without), _rows(*together), strict=True)
        ],
    }


def _rows(levels: Compared, pairs: Compared) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield the levels that name each comparison, with its shown values."""
    for group in levels["groups"] if levels else ():
        values = dict(zip(group["cells"], group["values"], strict=True))
        for row in group["comparisons"]:
            name = {
                "levels": group["levels"],
                "baseline": values[row["baseline"]],
                "candidate": values[row["candidate"]],
            }
            yield name, _shown(row["comparison"]["verdict"], row["display"])
    for stratum in pairs["strata"] if pairs else ():
        name = {
            "levels": stratum["levels"],
            "baseline": pairs["baseline"] if pairs else None,
            "candidate": pairs["candidate"] if pairs else None,
        }
        yield name, _shown(stratum["comparison"]["verdict"], stratum["display"])


def _shown(verdict: Mapping[str, Any], display: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "word": str(verdict["word"]),
        "display": dict(display),
        "pct_change": verdict["pct_change"],
        "ci_pct": list(verdict["ci_pct"]) if verdict["ci_pct"] else None,
    }
