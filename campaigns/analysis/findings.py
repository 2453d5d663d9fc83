"""All findings of a campaign, computed in one go and stored in one transaction."""

from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from campaigns.analysis.answer import answer
from campaigns.analysis.cells import summarise_cells
from campaigns.analysis.pairs import compare
from campaigns.definition import drafts
from campaigns.drivers import driver_of
from campaigns.models import Campaign, Exclusion, Finding
from campaigns.queries.runs import ObservedRun, observed_runs_by_metric
from campaigns.stats.criteria import Criteria
from campaigns.stats.hashing import data_hash


def analyse(campaign: Campaign) -> None:
    """Compute and store the findings of what is there, and note that it was done."""
    requested_at = campaign.analysis_requested_at
    metrics = {metric.name: metric for metric in driver_of(campaign.kind).metrics}
    runs = observed_runs_by_metric(campaign, metrics)
    criteria = Criteria(
        delta=campaign.smallest_effect, margin=campaign.margin, seed=campaign.seed % 2**32
    )
    primary = metrics[campaign.primary_metric]
    results: dict[str, dict[str, Any]] = {
        f"cells:{name}": summarise_cells(campaign, metric, runs[name])
        for name, metric in metrics.items()
    }
    results["cells"] = results[f"cells:{primary.name}"]
    pairs = compare(campaign, primary, runs[primary.name], criteria)
    if pairs is not None:
        results["pairs"] = pairs
    results["answer"] = answer(campaign, primary, results["cells"], pairs)
    _store(campaign, results, _hash(campaign, runs, criteria))
    Campaign.objects.filter(pk=campaign.pk, analysis_requested_at=requested_at).update(
        analysis_requested_at=None, analysis_sent_at=None
    )


@transaction.atomic
def _store(campaign: Campaign, results: Mapping[str, Any], hashed: str) -> None:
    versions = {name: version(name) for name in ("numpy", "scipy", "hdrhistogram")}
    for name, result in results.items():
        Finding.objects.update_or_create(
            campaign=campaign,
            name=name,
            defaults={
                "result": result,
                "data_hash": hashed,
                "versions": versions,
                "computed_at": Now(),
            },
        )
    Finding.objects.filter(campaign=campaign).exclude(name__in=results).delete()


def _hash(
    campaign: Campaign, by_metric: Mapping[str, list[ObservedRun]], criteria: Criteria
) -> str:
    """Hash definition, runs, exclusions and parameters (STATISTICS, canonical form)."""
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
    return data_hash(
        definition={**drafts.as_data(campaign), "target": _address(campaign)},
        runs=runs,
        exclusions=exclusions,
        parameters=asdict(criteria),
    )


def _address(campaign: Campaign) -> str:
    return campaign.target.address if campaign.target else ""
