"""Find submitted runs that are already stored: equal ones are skipped, different ones refused."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

from campaigns.kit.errors import Differs
from campaigns.models import Attempt, Campaign, EnvironmentFact, Measurement, Run
from campaigns.results.importing.submitted import SubmittedRun


def new_among(
    campaign: Campaign, runs: Sequence[SubmittedRun], *, any_known: bool
) -> tuple[list[tuple[int, SubmittedRun]], int]:
    """Return the runs that are not stored, with their numbers, and the number of stored ones. Raise Differs.

    any_known: whether any of their ids is stored.
    """
    named = [run.external_id for run in runs if run.external_id]
    if not named:
        return list(enumerate(runs)), 0
    rows = campaign.runs.filter(external_id__in=named).select_related("cell", "block")
    stored = {run.external_id: run for run in rows} if any_known else {}
    evidence = _evidence_of(list(stored.values()))
    new: list[tuple[int, SubmittedRun]] = []
    seen: dict[str, int] = {}
    for number, run in enumerate(runs):
        if run.external_id and seen.setdefault(run.external_id, number) != number:
            raise Differs(
                f"runs.{number}: the run “{run.external_id}” is in this request twice, first as "
                f"runs.{seen[run.external_id]}. Give each run an id of its own.",
                campaign.pk,
            )
        former = stored.get(run.external_id) if run.external_id else None
        if former is None:
            new.append((number, run))
        elif different := _difference(run, former, evidence[former.pk]):
            raise Differs(
                f"runs.{number}: the run “{run.external_id}” is stored already (run "
                f"{former.position}), with {different}. What is stored is not overwritten: send it "
                "under an id of its own, and exclude the other one with a reason.",
                campaign.pk,
            )
    return new, len(runs) - len(new)


@dataclass(slots=True)
class _Evidence:
    """What is stored of a run outside its row."""

    units: tuple[int, int] = (0, 0)
    values: dict[str, tuple[float, bool]] = field(default_factory=dict)
    context: dict[str, str] = field(default_factory=dict)


def _evidence_of(runs: Sequence[Run]) -> dict[int, _Evidence]:
    """Return it by the key of the run; an imported run has one attempt."""
    result = {run.pk: _Evidence() for run in runs}
    if not result:
        return result
    attempts = Attempt.objects.filter(run__in=result)
    for key, *units in attempts.values_list("run_id", "units_done", "units_failed"):
        result[key].units = (units[0], units[1])
    values = Measurement.objects.filter(attempt__run__in=result)
    for key, metric, value, censored in values.values_list(
        "attempt__run_id", "metric__name", "value", "censored"
    ):
        result[key].values[metric] = (value, censored)
    facts = EnvironmentFact.objects.filter(attempt__run__in=result)
    for key, name, fact in facts.values_list("attempt__run_id", "name", "value"):
        result[key].context[name] = fact
    return result


STATES = {"ok": Run.State.DONE, "lost": Run.State.VOID}


def _difference(run: SubmittedRun, stored: Run, evidence: _Evidence) -> str:
    """Return the field in which a run differs from the stored one; facts that are not sent do not differ."""
    pairs: list[tuple[str, Any, Any]] = [
        ("tags", dict(run.levels), stored.cell.levels_by_factor),
        ("state", STATES.get(run.state, Run.State.FAILED), stored.state),
        ("started_at", run.started_at, stored.started_at),
        ("finished_at", run.finished_at, stored.finished_at),
        ("block", run.block or stored.block.number, stored.block.number),
        ("reason", run.reason, stored.reason),
        ("info", run.info or {}, stored.info or {}),
        ("values", {n: (v, n in run.censored) for n, v in run.values.items()}, evidence.values),
        ("units", (run.units_done, run.units_failed), evidence.units),
        ("context", dict(run.context), {n: evidence.context.get(n) for n in run.context}),
    ]
    return next((f"another {name}" for name, sent, text in pairs if sent != text), "")


def wait_for_turn(what: str) -> None:
    """Wait for other transactions that store the same, and hold others up until this one ends."""
    key = int.from_bytes(hashlib.sha256(what.encode()).digest()[:8], signed=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [key])
