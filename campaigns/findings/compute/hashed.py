"""What the findings of a campaign rest on, as it is hashed (STATISTICS, canonical form)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from campaigns.kit.network import normalised_address
from campaigns.models import Campaign, Exclusion
from campaigns.planning import drafts
from campaigns.results.values import ObservedRun
from campaigns.stats.criteria import Criteria

NOT_HASHED = frozenset(
    {
        *("time_budget_seconds", "max_failed_percent", "max_consecutive_failures"),
        "failed_limit_percent",
    }
)
"""Of a definition: what bounds the execution and changes no finding, and what the criteria hold
already. A field that a version adds belongs here, or every finding of before is taken for one of
other data."""


def hashed_document(
    campaign: Campaign,
    by_metric: Mapping[str, list[ObservedRun]],
    criteria: Criteria,
    borders: Sequence[int],
) -> dict[str, Any]:
    """Give definition, runs, exclusions and parameters, as `data_hash` takes them.

    borders: runs with which a changed environment begins a session; where there are none the hash is
    that of before there were any.
    """
    cells = {cell.pk: cell.levels_by_factor for cell in campaign.cells.all()}
    values: dict[int, dict[str, float | None]] = {}
    for name, observed in by_metric.items():
        for run in observed:
            if run.value is not None:
                values.setdefault(run.position, {})[name] = run.value
    runs = [
        {
            "position": run.position,
            "block": run.block,
            "cell": cells[run.cell],
            "session": run.session,
            "state": run.state,
            "started_at": run.started_at,
            "finished_at": run.finished_at,
            "values": values.get(run.position, {}),
            "units": run.units_done,
            "units_failed": run.units_failed,
        }
        for run in by_metric[campaign.primary_metric]
    ]
    exclusions = [
        {
            "position": exclusion.run.position,
            "who": exclusion.user.get_username() if exclusion.user else "",
            "at": exclusion.at,
            "why": exclusion.reason,
        }
        for exclusion in Exclusion.objects.filter(
            run__campaign=campaign, withdrawn_at=None
        ).select_related("run", "user")
    ]
    definition = {
        name: value for name, value in drafts.as_data(campaign).items() if name not in NOT_HASHED
    }
    if work := [factor.name for factor in campaign.factors.all() if factor.is_work]:
        definition["work"] = work  # only where some is named: older hashes know nothing of it
    return {
        "definition": {**definition, "target": _address(campaign)},
        "runs": runs,
        "exclusions": exclusions,
        "parameters": asdict(criteria) | ({"borders": list(borders)} if borders else {}),
    }


def _address(campaign: Campaign) -> str:
    return normalised_address(campaign.target.base_url) if campaign.target else ""
