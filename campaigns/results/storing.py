"""Store everything that an attempt observed."""

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from math import isfinite
from typing import Any

from django.db.models import Model

from campaigns.kinds import base as driving
from campaigns.kinds.programs.health import BOUNDS
from campaigns.kinds.registry import driver_of
from campaigns.kit import redaction
from campaigns.kit.redaction import storable
from campaigns.models import (
    Attempt,
    AttemptOutput,
    Campaign,
    Distribution,
    EffectiveSetting,
    EnvironmentFact,
    Measurement,
    MetricOfValues,
    Phase,
    Proof,
    RawSamples,
    Series,
    StoredMetric,
)
from campaigns.planning.watched_metrics import watched_metric
from campaigns.results.watched import WatchedRun, store_watched
from campaigns.results.watched_metrics import watched_values

MISSING_FACT = "not told"
MOST_LETTERS = 200


class UnknownMetric(LookupError):
    """A value belongs to a metric that the driver does not declare; nothing was stored."""


class NotANumber(ValueError):
    """A value is infinite or not a number; nothing was stored."""


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a metric, with its unit and direction."""

    metric: str
    value: float
    unit: str
    lower_is_better: bool | None
    fidelity: str = Campaign.Fidelity.RAW
    censored: bool = False
    bound: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt ended. `state` is one of Attempt.State except queued and running.

    environment_after: facts that were read again after the run, by side. facts_unread: why a side could not
    be read again. lasting: another attempt would end alike. away: the server does not answer a probe either.
    """

    state: str
    reason: str = ""
    traceback: str = ""
    clean_state: Sequence[driving.Proof] = ()
    same_work: Sequence[driving.Proof] = ()
    settings: Sequence[driving.EffectiveSetting] = ()
    measured: driving.Measured | None = None
    steps: Mapping[str, float] = field(default_factory=dict)
    environment: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    environment_after: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    facts_unread: str = ""
    measure_started_at: datetime | None = None
    measure_finished_at: datetime | None = None
    watched: WatchedRun | None = None
    lasting: bool = False
    away: bool = False


def without_secrets(outcome: Outcome) -> Outcome:
    """Remove secrets from all texts of a driver. Names of metrics are checked instead."""
    measured = outcome.measured
    if measured is not None:
        wordy = ("health", "samples", "series", "phases", "failures", "examples", "failure")
        measured = replace(
            measured,
            **{name: redaction.redact_all(getattr(measured, name)) for name in wordy},
        )
    return replace(
        outcome,
        measured=measured,
        clean_state=redaction.redact_all(outcome.clean_state),
        same_work=redaction.redact_all(outcome.same_work),
        settings=redaction.redact_all(outcome.settings),
        environment=redaction.redact_all(outcome.environment),
        environment_after=redaction.redact_all(outcome.environment_after),
    )


def store(attempt: Attempt, campaign: Campaign, outcome: Outcome) -> None:
    """Store what an attempt observed. Raise UnknownMetric or NotANumber."""
    if outcome.measured is not None:
        _store_measured(attempt, campaign, outcome.measured)
    steps = (driving.Phase(name, seconds) for name, seconds in outcome.steps.items())
    _store_each(Phase, steps, attempt=attempt, of=Phase.Of.ATTEMPT)
    _store_each(Proof, outcome.clean_state, attempt=attempt, step=Proof.Step.RESET)
    _store_each(Proof, outcome.same_work, attempt=attempt, step=Proof.Step.VERIFY)
    _store_each(EffectiveSetting, outcome.settings, attempt=attempt)
    store_environment(attempt, outcome.environment, outcome.environment_after)
    if outcome.watched is not None:
        store_watched(attempt, outcome.watched)
        _store_watched_values(attempt, campaign, outcome)


def simulator_of(outcome: Outcome) -> str:
    """Return the kind of simulated target that the target reported before or after; empty for a real one."""
    side = EnvironmentFact.Side.TARGET
    seen = (outcome.environment, outcome.environment_after)
    notes = (facts.get(side, {}).get(driving.SIMULATOR, "") for facts in seen)
    return next((storable(str(text))[:MOST_LETTERS] for text in notes if text), "")


def _store_measured(attempt: Attempt, campaign: Campaign, measured: driving.Measured) -> None:
    declared = {metric.name: metric for metric in driver_of(campaign.kind).metrics}
    if unknown := sorted(set(measured.values) - set(declared)):
        raise UnknownMetric(
            f"The kind {campaign.kind} measured {', '.join(unknown)}, but declares only "
            f"{', '.join(declared)}."
        )
    if bad := [name for name, value in measured.values.items() if not isfinite(value)]:
        raise NotANumber(f"{', '.join(bad)} came out as no number, or as an infinite one.")
    bound = measured.health.verdict in BOUNDS
    store_values(
        attempt,
        [
            Value(
                metric=name,
                value=value,
                unit=declared[name].unit,
                lower_is_better=declared[name].lower_is_better,
                censored=name in measured.censored,
                bound=bound,
            )
            for name, value in measured.values.items()
        ],
    )
    _store_each(Phase, measured.phases, attempt=attempt, of=Phase.Of.MEASURE)
    series = (replace(each, values=list(each.values)) for each in measured.series)
    _store_each(Series, series, attempt=attempt)
    _store_each(Distribution, measured.distributions, attempt=attempt)
    AttemptOutput.objects.bulk_create(
        AttemptOutput(
            attempt=attempt,
            name=output.name,
            size=len(output.content),
            content=zlib.compress(output.content),
            cut=output.cut,
        )
        for output in measured.outputs
    )
    if measured.samples:
        RawSamples.objects.create(
            attempt=attempt,
            count=len(next(iter(measured.samples.values()))),
            columns=pack_samples(measured.samples),
        )


def _store_each(row: type[Model], values: Iterable[Any], **shared: Any) -> None:
    """Store each value in a row: the fields of a value that has a column of the same name."""
    columns = {column.name for column in row._meta.concrete_fields}
    row._default_manager.bulk_create(
        row(
            **shared,
            **{
                each.name: getattr(value, each.name)
                for each in fields(value)
                if each.name in columns
            },
        )
        for value in values
    )


def _store_watched_values(attempt: Attempt, campaign: Campaign, outcome: Outcome) -> None:
    """Store the metrics that the watches of the target gave, beside those of the kind."""
    began_at, ended_at = outcome.measure_started_at, outcome.measure_finished_at
    if outcome.watched is None or outcome.measured is None or not (began_at and ended_at):
        return
    seconds = (ended_at - began_at).total_seconds()
    work = driver_of(campaign.kind).work_done(outcome.measured, seconds)
    values = watched_values(outcome.watched, seconds, work)
    metrics = {name: watched_metric(name) for name in values}
    store_values(
        attempt,
        [
            Value(name, value, metric.unit, metric.lower_is_better)
            for name, value in values.items()
            if (metric := metrics[name]) is not None and isfinite(value)
        ],
    )


def store_values(attempt: Attempt, values: Sequence[Value]) -> None:
    """Store the measurements of an attempt, made here or elsewhere."""
    metrics = StoredMetric.objects.keys_of(map(metric_of, values))
    Measurement.objects.bulk_create(
        Measurement(
            attempt=attempt,
            metric_id=metrics[metric_of(value)],
            value=value.value,
            censored=value.censored,
            bound=value.bound,
        )
        for value in values
    )


def metric_of(value: Value) -> MetricOfValues:
    """Return what a value has in common with all others of its metric."""
    return MetricOfValues(value.metric, value.unit, value.lower_is_better, value.fidelity)


def pack_samples(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Encode columns of equal length as compressed JSON."""
    return zlib.compress(
        json.dumps({name: list(column) for name, column in columns.items()}).encode()
    )


def store_environment(
    attempt: Attempt,
    environment: Mapping[str, Mapping[str, str]],
    after: Mapping[str, Mapping[str, str]] | None = None,
) -> None:
    """Store facts by side and name; of those read `after` the run, only what differs.

    A fact that is missing in one of the two readings is MISSING_FACT there.
    """
    rows = []
    for side in environment.keys() | (after or {}).keys():
        facts = environment.get(side, {})
        facts_after = (after or {}).get(side, facts)
        for name in facts.keys() | facts_after.keys():
            value, later = (
                str(each.get(name, "")) or MISSING_FACT for each in (facts, facts_after)
            )
            rows.append(
                EnvironmentFact(
                    attempt=attempt,
                    side=side,
                    name=name,
                    value=value,
                    value_after=later if later != value else "",
                )
            )
    EnvironmentFact.objects.bulk_create(rows)
