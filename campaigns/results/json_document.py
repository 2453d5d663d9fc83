"""A campaign as one JSON document, in pieces: definition, runs with all values, findings, environment."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast

from campaigns.kinds.base import Metric
from campaigns.kinds.program.stored import is_version
from campaigns.kit.mappings import Json, JsonObject
from campaigns.models import Campaign, Finding, Program
from campaigns.planning.amendments import amendments_of
from campaigns.planning.roles import roles_told
from campaigns.results.environment import changes_of, environment_of, simulators_of
from campaigns.results.pages_data import outline_of, shown_findings
from campaigns.results.run_stream import MeasuredRun, Value, measured_runs

FORMAT = "perfdash campaign 1"


def json_pieces(campaign: Campaign, definition: Json, texts: Json) -> Iterator[str]:
    """Yield the document, a line for each run, without secrets.

    definition: in the form that REST accepts. texts: what pages say of findings, by name.
    """
    facts = environment_of(campaign)
    yield f'{{"format": {_json(FORMAT)}'
    yield f',\n"campaign": {_json(_about(campaign))}'
    yield f',\n"definition": {_json(definition)}'
    yield f',\n"amendments": {_json([asdict(each) for each in amendments_of(campaign)])}'
    yield from _listed("runs", (_json(_entry(run)) for run in measured_runs(campaign)))
    yield from _listed("findings", _findings(campaign, texts))
    yield from _listed("environment", (_json(asdict(fact)) for fact in facts))
    changes = (_json(asdict(change)) for change in changes_of(campaign, facts))
    yield from _listed("environment_changes", changes)
    yield "}\n"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, cls=DjangoJSONEncoder)


def _listed(name: str, entries: Iterable[str]) -> Iterator[str]:
    yield f',\n"{name}": ['
    between = "\n"
    for entry in entries:
        yield between + entry
        between = ",\n"
    yield "]"


def _about(campaign: Campaign) -> JsonObject:
    outline, target = outline_of(campaign), campaign.target
    return {
        "id": campaign.pk,
        "state": campaign.state,
        "state_reason": campaign.state_reason,
        "author": campaign.author.get_username() if campaign.author else None,
        "target": {"name": target.name, "family": target.family} if target else None,
        **_several(campaign),
        **_program(campaign),
        "source": campaign.source,
        "fidelity": campaign.fidelity,
        "simulators": simulators_of(campaign),
        **({"caveat": campaign.caveat} if campaign.caveat else {}),
        "created_at": campaign.created_at,
        "launched_at": campaign.launched_at,
        "closed_at": campaign.closed_at,
        "roles": roles_told(campaign),
        "sessions": outline.sessions,
        "primary_metric": described(outline.metric),
    }


def _program(campaign: Campaign) -> JsonObject:
    """Return the definition of the program that the campaign runs; nothing for other kinds."""
    row = Program.objects.filter(kind=campaign.kind).first() if is_version(campaign.kind) else None
    return {} if row is None else {"program": {"version": row.version, **row.definition}}


def _several(campaign: Campaign) -> JsonObject:
    """Return all targets where there are several."""
    targets = campaign.targets
    if len(targets) < 2:
        return {}
    return {"targets": [{"name": target.name, "family": target.family} for target in targets]}


def described(metric: Metric) -> JsonObject:
    """Return a metric as the document describes it."""
    return {
        "name": metric.name,
        "label": metric.label,
        "unit": metric.unit,
        "lower_is_better": metric.direction,
    }


def _entry(run: MeasuredRun) -> JsonObject:
    row = run.row
    excluded = {"by": row.excluded_by, "reason": row.excluded_why} if row.excluded_by else None
    return {
        "position": row.position,
        "purpose": row.purpose,
        "levels": row.levels,
        "block": row.block,
        "repetition": row.repetition,
        "session": run.session,
        "state": row.state,
        "reason": row.reason,
        "simulator": row.simulator,
        "worker": run.worker,
        "attempts": row.tries,
        "started_at": row.started_at,
        "finished_at": row.finished_at,
        "excluded": excluded,
        "measurements": {name: _measurement(value) for name, value in run.values.items()},
    }


def _measurement(value: Value) -> JsonObject:
    return {
        "value": value.value,
        "unit": value.unit,
        "lower_is_better": value.lower_is_better,
        "censored": value.censored,
        "bound": value.bound,
        "fidelity": value.fidelity,
    }


def finding_entries(campaign: Campaign, texts: Json) -> list[JsonObject]:
    """Return every finding that may be shown, as it is stored, without duplicates that only pages use.

    texts: what pages say of them, by name.
    """
    entries = _about_each(_stored(campaign), texts)
    return [{**about, "result": finding.result} for finding, about in entries]


def _findings(campaign: Campaign, texts: Json) -> Iterator[str]:
    """Yield the same as text, one at a time; results of megabytes are copied as the database stores them."""
    stored = _stored(campaign).defer("result").annotate(as_text=Cast("result", TextField()))
    for finding, about in _about_each(stored.iterator(chunk_size=1), texts):
        yield f'{_json(about)[:-1]}, "result": {finding.as_text}}}'


def _stored(campaign: Campaign) -> QuerySet[Finding]:
    return shown_findings(campaign).exclude(name__startswith="brief:").order_by("name")


def _about_each(findings: Iterable[Any], texts: Json) -> Iterator[tuple[Any, JsonObject]]:
    for finding in findings:
        yield (
            finding,
            {
                "name": finding.name,
                "data_hash": finding.data_hash,
                "versions": finding.versions,
                "computed_at": finding.computed_at,
                "text": texts.get(finding.name),
            },
        )
