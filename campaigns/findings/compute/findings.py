"""Compute all findings of a campaign, and store them in one transaction.

The answer and what it rests on are one part: if that fails, nothing is stored. Each other finding is a part
of its own: if one fails, it is missing, `failed_parts` names it, and the others are stored.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cache, partial
from importlib.metadata import version
from typing import Any

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import prefetch_related_objects
from django.db.models.functions import Now
from msgspec import Struct

from campaigns.findings.compute.answer import answer
from campaigns.findings.compute.binding import binding
from campaigns.findings.compute.calibration import calibration
from campaigns.findings.compute.capacity import capacity
from campaigns.findings.compute.cells import summarise_cells, without_runs
from campaigns.findings.compute.checks import check
from campaigns.findings.compute.conditions import Conditions
from campaigns.findings.compute.distributions import densities, percentiles
from campaigns.findings.compute.drift import drift
from campaigns.findings.compute.exclusions import with_excluded
from campaigns.findings.compute.fidelity import without_densities
from campaigns.findings.compute.levels import changes_in_blocks, curves
from campaigns.findings.compute.levels import compare as levels_of
from campaigns.findings.compute.matrix import matrix
from campaigns.findings.compute.outlook import outlook
from campaigns.findings.compute.pairs import compare
from campaigns.findings.compute.phases import phases
from campaigns.findings.compute.points import in_points, judged_criteria, judged_runs
from campaigns.findings.compute.scalability import scalability
from campaigns.findings.compute.sensitivity import NAME as SENSITIVITY
from campaigns.findings.compute.sensitivity import leave_out
from campaigns.findings.compute.sessions import (
    Begun,
    in_sessions,
    sessions_finding,
    without_exploring,
)
from campaigns.findings.compute.statistics_input import criteria_of, failing_cells
from campaigns.findings.compute.thresholds import thresholds
from campaigns.findings.store import read, stored
from campaigns.findings.values import (
    Cells,
    Densities,
    FailedPart,
    FailedParts,
    Scalability,
    Sensitivity,
)
from campaigns.kinds.base import Metric
from campaigns.kit.events import findings_stored
from campaigns.kit.network import normalised_address
from campaigns.kit.statements import Message
from campaigns.models import Campaign, Exclusion, Finding, LogLine
from campaigns.planning import storage
from campaigns.planning.amendments import was_adaptive
from campaigns.planning.criterion import criterion_of
from campaigns.planning.design import FIELDS
from campaigns.planning.metrics import analysed_metrics_of
from campaigns.results.environment import stretches_of
from campaigns.results.pages_data import NAME as SURROUNDINGS
from campaigns.results.pages_data import Surroundings, count_surroundings
from campaigns.results.values import ObservedRun, observed_runs_by_metric
from campaigns.stats.criteria import Criteria
from campaigns.stats.hashing import data_hash
from campaigns.stats.methods import METHODS

ROWS_AT_ONCE = 10
"""Findings in one message: those of many runs are megabytes each."""
READ_ONCE = ("cells", "factors__levels", "places__target")
"""Rows of the design that almost every finding asks for."""
NOT_HASHED = frozenset(name for name, field in FIELDS.items() if not field.hashed)
"""Fields of a definition that only limit the execution, or that the criteria contain already."""

log = logging.getLogger(__name__)


def analyse(campaign: Campaign) -> None:
    """Compute and store the findings of a campaign, and clear the request for them.

    A bug is noted in the campaign's log, since old findings could be mistaken for new ones, and
    raised again; the request is over then, too, as it would fail again.

    The campaign is read anew: 0 and 0.0 are one number to the database, and two to the hash.
    """
    campaign.refresh_from_db()
    request = Campaign.objects.filter(pk=campaign.pk).annotate(now=Now())
    requested_at, read_at = request.values_list("analysis_requested_at", "now").get()
    try:
        results, document = compute(campaign)
        _store(campaign, results, data_hash(**document), read_at)
    except (OperationalError, InterfaceError):  # the database is away: it is sent again
        raise
    except Exception as bug:
        text = f"{LogLine.ANALYSIS_FAILED}, findings are older than the runs: {type(bug).__name__}: {bug}"
        LogLine.objects.create(campaign=campaign, tone=LogLine.Tone.BAD, text=text)
        _note_done(campaign, requested_at)
        raise
    _note_done(campaign, requested_at)


@dataclass(frozen=True, slots=True)
class _Read:
    """The input of findings. observed: runs in the sessions that planned them; runs: in those of the statistics."""

    metrics: Mapping[str, Metric]
    surroundings: Surroundings
    observed: Mapping[str, list[ObservedRun]]
    runs: Mapping[str, list[ObservedRun]]
    begun: Sequence[Begun]
    criteria: Criteria
    of_target: Mapping[str, int]


def _read(campaign: Campaign) -> _Read:
    prefetch_related_objects([campaign], *READ_ONCE)
    metrics = {metric.name: metric for metric in analysed_metrics_of(campaign)}
    surroundings = count_surroundings(campaign)
    observed = without_exploring(observed_runs_by_metric(campaign, metrics))
    stretches = stretches_of(campaign, surroundings.facts)
    runs, begun = in_sessions(observed, stretches)
    criteria = criteria_of(campaign, campaign.cells.count(), adaptive=was_adaptive(campaign))
    return _Read(metrics, surroundings, observed, runs, begun, criteria, stretches.of_target)


def document_of(campaign: Campaign) -> dict[str, Any]:
    """Return the current input of findings for `data_hash`, without computing them."""
    return _document(campaign, _read(campaign))


def hash_now(campaign: Campaign) -> str:
    """Return the hash that an analysis would have now; stored findings may have an older one."""
    campaign.refresh_from_db()
    return data_hash(**document_of(campaign))


def _document(campaign: Campaign, read: _Read) -> dict[str, Any]:
    borders = [each.position for each in read.begun if each.changes]
    return hashed_document(campaign, read.observed, read.criteria, borders)


def compute(campaign: Campaign) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Return results by the name of their finding, and their input for `data_hash`.

    Nothing is stored. The campaign has to be as the database gives it.
    """
    read = _read(campaign)
    metrics, surroundings, runs, begun = read.metrics, read.surroundings, read.runs, read.begun
    criteria = read.criteria
    primary = metrics[campaign.primary_metric]
    mine = runs[primary.name]
    parts = Parts()
    results = parts.results
    cells = summarise_cells(campaign, primary, mine, criteria)
    results["cells"] = cells
    shown = _measured(campaign, metrics, runs)
    for name, metric in shown.items():
        again = partial(summarise_cells, campaign, metric, runs[name], criteria)
        _cells(parts, name, (lambda: cells) if metric is primary else again)
    unit = primary.unit
    judged, judging = judged_runs(unit, mine), judged_criteria(unit, campaign, criteria)
    pairs = compare(campaign, primary, judged, judging)
    calibrated = calibration(campaign, pairs, judging)
    levels = levels_of(campaign, primary, judged, judging)
    conditions = Conditions(campaign, criterion_of(campaign.criterion), runs, criteria)
    parts.add("capacity", lambda: capacity(campaign, conditions))
    ahead = outlook(campaign, mine, levels, pairs, criteria.alpha, capacity=results.get("capacity"))
    sessions = sessions_finding(campaign, mine, begun)
    results[SURROUNDINGS] = surroundings
    results["checks"] = check(campaign, primary, mine, cells, criteria, calibrated)
    results["answer"] = answer(
        campaign,
        primary,
        cells,
        changes=surroundings.changes,
        failing=failing_cells(mine, criteria),
        stretches=read.of_target,
    )
    core = {
        "pairs": pairs,
        "calibration": calibrated,
        "levels": levels,
        "outlook": ahead,
        "sessions": sessions,
    }
    results |= {
        name: in_points(unit, result) for name, result in core.items() if result is not None
    }
    if levels is not None:
        parts.add("within_blocks", lambda: in_points(unit, changes_in_blocks(levels, judged)))
    by_metric = {name: results.get(f"cells:{name}", cells) for name in metrics}
    carried = results.get("capacity")
    parts.add("thresholds", lambda: thresholds(conditions, by_metric, carried))
    parts.add("binding", lambda: binding(campaign, mine, criteria.alpha))
    parts.add("curves", lambda: in_points(unit, curves(campaign, primary, judged, judging)))
    parts.add("matrix", lambda: in_points(unit, matrix(campaign, primary, judged, judging)))
    parts.add(
        "with_excluded",
        lambda: in_points(unit, with_excluded(campaign, primary, judged, judging, (levels, pairs))),
    )
    _spread(parts, campaign, metrics, runs, criteria)
    document = _document(campaign, read)
    hashed = data_hash(**document)
    parts.add(SENSITIVITY, lambda: _sensitivity(campaign, primary, judged, judging, hashed))
    if parts.failed:
        results[Finding.FAILED_PARTS] = FailedParts(parts.failed)
    return {name: stored(result) for name, result in results.items()}, document


def _measured(
    campaign: Campaign, metrics: Mapping[str, Metric], runs: Mapping[str, Sequence[ObservedRun]]
) -> dict[str, Metric]:
    """Return the metrics that a run has a value of, and those that the campaign names: others are of another task of the kind."""
    named = {
        campaign.primary_metric,
        *(each.metric for each in criterion_of(campaign.criterion).conditions),
    }
    return {
        name: metric
        for name, metric in metrics.items()
        if name in named or any(run.value is not None for run in runs[name])
    }


class Parts:
    """Findings by name, and what failed of them: names with the error of each."""

    def __init__(self) -> None:
        self.results: dict[str, Any] = {}
        self.failed: list[FailedPart] = []

    def add(self, name: str, compute: Callable[[], Struct | dict[str, Any] | None]) -> None:
        """Add a finding, unless there is none or it fails. A database that is away is no failure of a part."""
        try:
            result = compute()
        except (OperationalError, InterfaceError):
            raise
        except Exception as bug:
            log.exception("The finding %s cannot be computed.", name)
            self.failed.append(FailedPart(name, f"{type(bug).__name__}: {bug}"))
            return
        if result is not None:
            self.results[name] = result


def _cells(parts: Parts, name: str, summarise: Callable[[], Cells]) -> None:
    """Add the cells of one metric, with their runs and without."""
    parts.add(f"cells:{name}", summarise)
    if cells := parts.results.get(f"cells:{name}"):
        parts.add(f"brief:{name}", partial(without_runs, cells))


def _sensitivity(
    campaign: Campaign,
    metric: Metric,
    runs: Sequence[ObservedRun],
    criteria: Criteria,
    hashed: str,
) -> Sensitivity | None:
    """Return the stored finding of the same data and versions, since it is the slowest to compute."""
    same = Finding.objects.filter(
        campaign=campaign, name=SENSITIVITY, data_hash=hashed, versions=versions_now()
    ).first()
    if same:
        return read(same.result, Sensitivity)
    return leave_out(campaign, metric, runs, criteria)


def versions_now() -> dict[str, str]:
    """Return the versions of the methods and libraries that compute findings here."""
    return {**_library_versions(), "methods": METHODS}


@cache
def _library_versions() -> dict[str, str]:
    """Read them once: each is in a file that has to be parsed."""
    return {name: version(name) for name in ("numpy", "scipy", "hdrhistogram", "kneed")}


def _spread(
    parts: Parts,
    campaign: Campaign,
    metrics: Mapping[str, Metric],
    runs: Mapping[str, list[ObservedRun]],
    criteria: Criteria,
) -> None:
    """Add the findings of the charts below the answer: distributions, drift, phases, scalability."""
    primary = runs[campaign.primary_metric]
    for name, metric in metrics.items():
        if cells := parts.results.get(f"cells:{name}"):
            parts.add(f"density:{name}", partial(_density, cells, metric))
    for name, observed in runs.items():
        if f"cells:{name}" in parts.results:
            parts.add(f"drift:{name}", partial(drift, campaign, observed))
    parts.add("phases", lambda: phases(campaign, primary))
    means: Mapping[str, Mapping[int, float]] | None = None

    def curves() -> None:
        nonlocal means
        by_quantity, means = percentiles(campaign, primary, criteria.alpha)
        parts.results.update({f"percentiles:{name}": each for name, each in by_quantity.items()})

    def fits() -> Scalability | None:
        if means is None:
            raise LookupError("it needs the percentiles, which failed")
        return scalability(campaign, runs, means, criteria)

    parts.add("percentiles", curves)
    parts.add("usl", fits)


def _density(cells: Cells, metric: Metric) -> Densities:
    return without_densities(densities(cells), metric)


def _note_done(campaign: Campaign, requested_at: datetime | None) -> None:
    """Clear the request, unless another one came meanwhile."""
    Campaign.objects.filter(pk=campaign.pk, analysis_requested_at=requested_at).update(
        analysis_requested_at=None, analysis_sent_at=None, analysis_began_at=None
    )


@transaction.atomic
def _store(campaign: Campaign, results: Mapping[str, Any], hashed: str, read_at: datetime) -> None:
    """Replace the findings, unless those that are there rest on newer data, or the campaign ended since."""
    now = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    if campaign.state in Campaign.ACTIVE and now.state not in Campaign.ACTIVE:
        return
    if Finding.objects.filter(campaign=campaign, computed_at__gt=read_at).exists():
        return
    Finding.objects.filter(campaign=campaign).delete()
    versions, names = versions_now(), list(results)
    for first in range(0, len(names), ROWS_AT_ONCE):
        message = Message()  # the ORM would send arrays, and escape each quotation mark by itself
        for name in names[first : first + ROWS_AT_ONCE]:
            message.insert(
                Finding(
                    campaign=campaign,
                    name=name,
                    result=results[name],
                    data_hash=hashed,
                    versions=versions,
                    computed_at=read_at,
                )
            )
        message.send()
    findings_stored.send(sender=None, campaign=campaign)


def hashed_document(
    campaign: Campaign,
    by_metric: Mapping[str, list[ObservedRun]],
    criteria: Criteria,
    borders: Sequence[int],
) -> dict[str, Any]:
    """Return definition, runs, exclusions and parameters for `data_hash`.

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
            "state": run.stored_state or run.state,
            "started_at": run.started_at,
            "finished_at": run.finished_at,
            "values": values.get(run.position, {}),
            "units": run.units_done,
            "units_failed": run.units_failed,
            **({"phase": run.phase} if run.phase else {}),
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
        name: value
        for name, value in storage.definition_of(campaign).items()
        if name not in NOT_HASHED
    }
    if work := [
        factor.name for factor in campaign.factors.all() if factor.role == factor.Role.WORK
    ]:
        definition["work"] = work  # only where some is named: older hashes know nothing of it
    if len(targets := campaign.targets) > 1:
        definition["targets"] = [normalised_address(target.base_url) for target in targets]
    return {
        "definition": {**definition, "target": _address(campaign)},
        "runs": runs,
        "exclusions": exclusions,
        "parameters": asdict(criteria) | ({"borders": list(borders)} if borders else {}),
    }


def _address(campaign: Campaign) -> str:
    return normalised_address(campaign.target.base_url) if campaign.target else ""
