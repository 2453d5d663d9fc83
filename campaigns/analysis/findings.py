"""All findings of a campaign, computed in one go and stored in one transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from importlib.metadata import version
from typing import Any

from django.db import InterfaceError, OperationalError, transaction
from django.db.models.functions import Now

from campaigns.analysis.answer import answer
from campaigns.analysis.calibration import calibration, told_as_false_alarms
from campaigns.analysis.cells import summarise_cells, without_runs
from campaigns.analysis.checks import check
from campaigns.analysis.criteria import criteria_of
from campaigns.analysis.distributions import densities, percentiles
from campaigns.analysis.drift import drift
from campaigns.analysis.exclusions import with_excluded
from campaigns.analysis.fidelity import without_densities, without_ranks
from campaigns.analysis.levels import changes_in_blocks
from campaigns.analysis.levels import compare as levels_of
from campaigns.analysis.matrix import matrix
from campaigns.analysis.outlook import ended, outlook
from campaigns.analysis.pairs import compare
from campaigns.analysis.phases import phases
from campaigns.analysis.scalability import scalability
from campaigns.analysis.sessions import in_sessions
from campaigns.analysis.sessions_told import sessions_told
from campaigns.analysis.taken import failing_cells
from campaigns.definition import drafts
from campaigns.drivers.base import Metric
from campaigns.models import Campaign, Exclusion, Finding, LogLine
from campaigns.queries.amendments import was_adaptive
from campaigns.queries.environment import stretches_of
from campaigns.queries.metrics import analysed_metrics_of
from campaigns.queries.runs import ObservedRun, observed_runs_by_metric
from campaigns.queries.surroundings import NAME as SURROUNDINGS
from campaigns.queries.surroundings import count_surroundings
from campaigns.stats.criteria import Criteria
from campaigns.stats.hashing import data_hash
from campaigns.stats.methods import METHODS

NOT_HASHED = frozenset({"time_budget_seconds", "max_failed_percent", "max_consecutive_failures"})
"""Of a definition: what bounds the execution and changes no finding. A field that a version adds
belongs here, or every finding of before is taken for one of other data."""


def analyse(campaign: Campaign) -> None:
    """Compute and store the findings of what is there, and note that it was done.

    A bug is told in the campaign's log, where somebody could take old findings for new ones, and
    raised again; the request is over then, too, as it would fail again.

    The campaign is read anew: 0 and 0.0 are one number to the database, and two to the hash.
    """
    campaign.refresh_from_db()
    request = Campaign.objects.filter(pk=campaign.pk).annotate(now=Now())
    requested_at, read_at = request.values_list("analysis_requested_at", "now").get()
    try:
        _store(campaign, *_compute(campaign), read_at)
    except (OperationalError, InterfaceError):  # the database is away: it is sent again
        raise
    except Exception as bug:
        text = f"{LogLine.ANALYSIS_FAILED}, findings are older than the runs: {type(bug).__name__}: {bug}"
        LogLine.objects.create(campaign=campaign, tone=LogLine.Tone.BAD, text=text)
        _note_done(campaign, requested_at)
        raise
    _note_done(campaign, requested_at)


def _compute(campaign: Campaign) -> tuple[dict[str, dict[str, Any]], str]:
    """Give results by the name of their finding, and the hash of what they rest on."""
    metrics = {metric.name: metric for metric in analysed_metrics_of(campaign)}
    surroundings = count_surroundings(campaign)
    stretches = stretches_of(campaign, surroundings.facts)
    observed = observed_runs_by_metric(campaign, metrics)
    runs, begun = in_sessions(observed, stretches)
    criteria = criteria_of(campaign, campaign.cells.count(), adaptive=was_adaptive(campaign))
    primary = metrics[campaign.primary_metric]
    results: dict[str, dict[str, Any]] = {
        f"cells:{name}": summarise_cells(campaign, metric, runs[name])
        for name, metric in metrics.items()
    }
    results |= {f"brief:{name}": without_runs(results[f"cells:{name}"]) for name in metrics}
    results["cells"] = results[f"cells:{primary.name}"]
    compared = without_ranks(compare(campaign, primary, runs[primary.name], criteria), primary)
    pairs = told_as_false_alarms(campaign, compared)
    if pairs is not None:
        results["pairs"] = pairs
    calibrated = calibration(campaign, pairs, criteria)
    if calibrated is not None:
        results["calibration"] = calibrated
    levels = without_ranks(levels_of(campaign, primary, runs[primary.name], criteria), primary)
    if levels is not None:
        results["levels"] = levels
        within = changes_in_blocks(levels, runs[primary.name])
        if within is not None:
            results["within_blocks"] = within
    crossed = matrix(campaign, primary, runs[primary.name], criteria)
    if crossed is not None:
        results["matrix"] = crossed
    ahead = outlook(campaign, runs[primary.name], levels, pairs, criteria.alpha)
    if ahead is not None:
        results["outlook"] = ahead
    excluded = with_excluded(campaign, primary, runs[primary.name], criteria, (levels, pairs))
    if excluded is not None:
        results["with_excluded"] = excluded
    results[SURROUNDINGS] = asdict(surroundings)
    sessions = sessions_told(campaign, runs[primary.name], begun)
    if sessions is not None:
        results["sessions"] = sessions
    results |= _spread(campaign, metrics, runs, results, criteria)
    results["checks"] = check(campaign, primary, runs[primary.name], results["cells"], calibrated)
    results["answer"] = answer(
        campaign,
        primary,
        results["cells"],
        pairs,
        levels,
        calibrated=calibrated,
        sessions=sessions,
        changes=surroundings.changes,
        failing=failing_cells(runs[primary.name], criteria),
    )
    if told := ended(campaign, ahead, criteria.alpha):
        results["answer"]["ended"] = told
    borders = [each.position for each in begun if each.changes]
    return results, _hash(campaign, observed, criteria, borders)


def _spread(
    campaign: Campaign,
    metrics: Mapping[str, Metric],
    runs: Mapping[str, list[ObservedRun]],
    cells: Mapping[str, Any],
    criteria: Criteria,
) -> dict[str, dict[str, Any]]:
    """What the charts below the answer show: distributions, drift, phases, scalability."""
    primary = runs[campaign.primary_metric]
    curves, means = percentiles(campaign, primary, criteria.alpha)
    found: dict[str, dict[str, Any] | None] = {
        **{
            f"density:{name}": without_densities(densities(cells[f"cells:{name}"]), metric)
            for name, metric in metrics.items()
        },
        **{f"drift:{name}": drift(campaign, observed) for name, observed in runs.items()},
        **{f"percentiles:{name}": curve for name, curve in curves.items()},
        "phases": phases(campaign, primary),
        "usl": scalability(campaign, runs, means, criteria),
    }
    return {name: result for name, result in found.items() if result is not None}


def _note_done(campaign: Campaign, requested_at: datetime | None) -> None:
    """Clear the request, unless another one came meanwhile."""
    Campaign.objects.filter(pk=campaign.pk, analysis_requested_at=requested_at).update(
        analysis_requested_at=None, analysis_sent_at=None
    )


@transaction.atomic
def _store(campaign: Campaign, results: Mapping[str, Any], hashed: str, read_at: datetime) -> None:
    """Replace the findings, unless those that are there rest on newer data."""
    Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    if Finding.objects.filter(campaign=campaign, computed_at__gt=read_at).exists():
        return
    versions = {name: version(name) for name in ("numpy", "scipy", "hdrhistogram", "kneed")}
    versions["methods"] = METHODS
    for name, result in results.items():
        Finding.objects.update_or_create(
            campaign=campaign,
            name=name,
            defaults={
                "result": result,
                "data_hash": hashed,
                "versions": versions,
                "computed_at": read_at,
            },
        )
    Finding.objects.filter(campaign=campaign).exclude(name__in=results).delete()


def _hash(
    campaign: Campaign,
    by_metric: Mapping[str, list[ObservedRun]],
    criteria: Criteria,
    borders: Sequence[int],
) -> str:
    """Hash definition, runs, exclusions and parameters (STATISTICS, canonical form).

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
    return data_hash(
        definition={**definition, "target": _address(campaign)},
        runs=runs,
        exclusions=exclusions,
        parameters=asdict(criteria) | ({"borders": list(borders)} if borders else {}),
    )


def _address(campaign: Campaign) -> str:
    return campaign.target.own_address if campaign.target else ""
