"""The only writer of measurements: everything an attempt observed, in one transaction.

An attempt is closed once, by whoever holds its lease with the right fencing token; a latecomer
changes nothing.
"""

import json
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import isfinite
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from campaigns.drivers import base as driving
from campaigns.drivers import driver_of
from campaigns.models import (
    Attempt,
    Campaign,
    Distribution,
    EffectiveSetting,
    EnvironmentFact,
    GeneratorLease,
    Measurement,
    Phase,
    Proof,
    RawSamples,
    Run,
    Series,
    TargetLease,
)

BATCH = 1000
ENDS = {
    Attempt.State.ACCEPTED: Run.State.DONE,
    Attempt.State.FAILED: Run.State.FAILED,
    Attempt.State.CANCELLED: Run.State.CANCELLED,
}


class UnknownMetric(LookupError):
    """A value belongs to a metric that the driver does not declare; nothing was stored."""


class NotANumber(ValueError):
    """A value is infinite or no number at all; nothing was stored."""


class Fenced(Exception):
    """The attempt is no longer this keeper's; nothing was stored."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt ended. `state` is one of Attempt.State but queued and running."""

    state: str
    reason: str = ""
    traceback: str = ""
    clean_state: Sequence[driving.Proof] = ()
    same_work: Sequence[driving.Proof] = ()
    settings: Sequence[driving.EffectiveSetting] = ()
    measured: driving.Measured | None = None
    steps: Mapping[str, float] = field(default_factory=dict)
    environment: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    measure_started_at: datetime | None = None
    measure_finished_at: datetime | None = None


@transaction.atomic
def close(attempt: Attempt, outcome: Outcome) -> Run:
    """Store an outcome, close the attempt, give its leases back and say what becomes of the run.

    Raise Fenced where the attempt was taken as lost meanwhile, UnknownMetric where the driver
    measured what it does not declare, NotANumber. In each case nothing is stored.
    """
    campaign = Campaign.objects.select_for_update(no_key=True).get(pk=attempt.run.campaign_id)
    run = Run.objects.select_for_update(no_key=True).get(pk=attempt.run_id)
    run.campaign = campaign
    measured = outcome.measured
    closed = Attempt.objects.filter(
        pk=attempt.pk, state=Attempt.State.RUNNING, token=attempt.token
    ).update(
        state=outcome.state,
        reason=storable(outcome.reason),
        traceback=storable(outcome.traceback),
        finished_at=Now(),
        measure_started_at=outcome.measure_started_at,
        measure_finished_at=outcome.measure_finished_at,
        units_done=measured.units_done if measured else 0,
        units_failed=measured.units_failed if measured else 0,
        failures=dict(measured.failures) if measured else {},
        health=measured.health.verdict if measured else "",
        health_reasons=list(measured.health.reasons) if measured else [],
        health_figures=dict(measured.health.figures) if measured else {},
    )
    if not closed:
        raise Fenced(f"Attempt {attempt.pk} is not this keeper's any more.")
    _store(attempt, campaign, outcome)
    release_leases([attempt.pk])
    settle(attempt, run, outcome.state, storable(outcome.reason))
    if campaign.cool_down_seconds:
        Campaign.objects.filter(pk=campaign.pk).update(
            not_before=Now() + timedelta(seconds=campaign.cool_down_seconds)
        )
    return run


def storable(text: str) -> str:
    """Replace what PostgreSQL takes in no text: NUL, and halves of surrogate pairs."""
    return text.encode(errors="replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


def settle(attempt: Attempt, run: Run, attempt_state: str, reason: str) -> None:
    """Give a run the state that follows from its attempt's end. Campaign and run must be locked.

    Void and lost attempts are repeated at once, in their block, up to the run's limit; those that
    a shutdown interrupted do not count. What a person cancelled is not repeated.
    """
    tries = run.attempts.filter(interrupted_at=None).count()
    stopping = run.campaign.state == Campaign.State.CANCELLING
    if attempt_state in ENDS:
        run.state, run.reason = ENDS[Attempt.State(attempt_state)], reason
    elif stopping or run.attempts.filter(pk=attempt.pk, cancel_requested_at__isnull=False).exists():
        run.state, run.reason = Run.State.CANCELLED, run.reason or run.campaign.state_reason
    elif tries < run.attempts_allowed:
        run.state, run.reason, run.started_at = Run.State.PLANNED, "", None
    else:
        run.state = Run.State.VOID
        run.reason = f"{reason} ({tries} attempts)" if tries > 1 else reason
    Run.objects.filter(pk=run.pk).update(
        state=run.state,
        reason=run.reason,
        started_at=run.started_at,
        finished_at=Now() if run.state in Run.CLOSED else None,
    )


def release_leases(attempts: Collection[int]) -> None:
    """Give back what attempts hold."""
    for lease in (TargetLease, GeneratorLease):
        lease.objects.filter(attempt__in=attempts).update(attempt=None, holder="", expires_at=None)


@dataclass(frozen=True, slots=True)
class ImportedValue:
    """One value from outside, with its unit and direction."""

    metric: str
    value: float
    unit: str
    lower_is_better: bool
    fidelity: str = Campaign.Fidelity.RAW
    censored: bool = False


@transaction.atomic
def import_run(
    run: Run,
    values: Sequence[ImportedValue],
    *,
    started_at: datetime | None,
    finished_at: datetime | None,
    environment: Mapping[str, str] | None = None,
) -> Attempt:
    """Store a run that was measured elsewhere, as one accepted attempt."""
    attempt = Attempt.objects.create(
        run=run,
        number=1,
        state=Attempt.State.ACCEPTED,
        pool="",
        worker="import",
        token=0,
        queued_at=started_at or Now(),
        claimed_at=started_at or Now(),
        measure_started_at=started_at,
        measure_finished_at=finished_at,
        finished_at=finished_at or Now(),
        units_done=1,
    )
    Measurement.objects.bulk_create(
        (
            Measurement(
                attempt=attempt,
                metric=value.metric,
                value=value.value,
                unit=value.unit,
                lower_is_better=value.lower_is_better,
                fidelity=value.fidelity,
                censored=value.censored,
            )
            for value in values
        ),
        batch_size=BATCH,
    )
    _store_environment(attempt, {EnvironmentFact.Side.TARGET: environment or {}})
    run.state, run.started_at, run.finished_at = Run.State.DONE, started_at, finished_at
    run.save(update_fields=["state", "started_at", "finished_at"])
    return attempt


def _store(attempt: Attempt, campaign: Campaign, outcome: Outcome) -> None:
    if outcome.measured is not None:
        _store_measured(attempt, campaign, outcome.measured)
    Phase.objects.bulk_create(
        [
            Phase(attempt=attempt, of=Phase.Of.ATTEMPT, name=name, seconds=seconds)
            for name, seconds in outcome.steps.items()
        ]
    )
    Proof.objects.bulk_create(
        Proof(
            attempt=attempt,
            step=step,
            name=proof.name,
            expected=proof.expected,
            measured=proof.measured,
            unit=proof.unit,
            ok=proof.ok,
        )
        for step, proofs in (
            (Proof.Step.RESET, outcome.clean_state),
            (Proof.Step.VERIFY, outcome.same_work),
        )
        for proof in proofs
    )
    EffectiveSetting.objects.bulk_create(
        EffectiveSetting(
            attempt=attempt,
            name=setting.name,
            asked=setting.asked,
            in_force=setting.in_force,
            ok=setting.ok,
        )
        for setting in outcome.settings
    )
    _store_environment(attempt, outcome.environment)


def _store_measured(attempt: Attempt, campaign: Campaign, measured: driving.Measured) -> None:
    declared = {metric.name: metric for metric in driver_of(campaign.kind).metrics}
    if unknown := sorted(set(measured.values) - set(declared)):
        raise UnknownMetric(
            f"The kind {campaign.kind} measured {', '.join(unknown)}, but declares only "
            f"{', '.join(declared)}."
        )
    if bad := [name for name, value in measured.values.items() if not isfinite(value)]:
        raise NotANumber(f"{', '.join(bad)} came out as no number, or as an infinite one.")
    saturated = measured.health.verdict == "saturated"
    Measurement.objects.bulk_create(
        Measurement(
            attempt=attempt,
            metric=name,
            value=value,
            unit=declared[name].unit,
            lower_is_better=declared[name].lower_is_better,
            censored=name in measured.censored,
            bound=saturated,
        )
        for name, value in measured.values.items()
    )
    Phase.objects.bulk_create(
        Phase(attempt=attempt, of=Phase.Of.MEASURE, name=phase.name, seconds=phase.seconds)
        for phase in measured.phases
    )
    Series.objects.bulk_create(
        Series(
            attempt=attempt,
            name=series.name,
            unit=series.unit,
            step_seconds=series.step_seconds,
            values=list(series.values),
        )
        for series in measured.series
    )
    Distribution.objects.bulk_create(
        Distribution(
            attempt=attempt,
            name=distribution.name,
            encoded=distribution.encoded,
            count=distribution.count,
            dropped=distribution.dropped,
        )
        for distribution in measured.distributions
    )
    if measured.samples:
        RawSamples.objects.create(
            attempt=attempt,
            count=len(next(iter(measured.samples.values()))),
            columns=pack_samples(measured.samples),
        )


def pack_samples(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Code columns of equal length as compressed JSON."""
    return zlib.compress(
        json.dumps({name: list(column) for name, column in columns.items()}).encode()
    )


def _store_environment(attempt: Attempt, environment: Mapping[str, Mapping[str, str]]) -> None:
    EnvironmentFact.objects.bulk_create(
        EnvironmentFact(attempt=attempt, side=side, name=name, value=str(value))
        for side, facts in environment.items()
        for name, value in facts.items()
    )
