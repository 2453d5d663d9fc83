"""Close an attempt with its outcome."""

from collections.abc import Callable, Collection
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Max
from django.db.models.functions import Greatest, Now

from campaigns.kit.compiled import Compiled
from campaigns.kit.redaction import storable
from campaigns.kit.units import written
from campaigns.models import Attempt, Campaign, Generator, LogLine, Run, Target, TargetLease
from campaigns.planning.lifecycle.rows import release_leases
from campaigns.planning.lifecycle.stopping import pause_itself
from campaigns.results.settling import settle
from campaigns.results.storing import Outcome, simulator_of, store, without_secrets

HUNG_LEASE_SECONDS = 3.0
MOST_UNCOUNTED = 20
"""Attempts of a run that do not count as tries; a server that answers probes, and nothing else, ends it all the same."""


_generators = Compiled(
    lambda attempt: Generator.objects.filter(attempt=attempt).order_by().values_list("pk")[:1]
)


class Fenced(Exception):
    """The attempt is closed, or another keeper has it; nothing was stored."""


@transaction.atomic
def close(
    attempt: Attempt,
    outcome: Outcome,
    *,
    hung: bool = False,
    phase: str | None = None,
    succeed: Callable[[Run], bool] = lambda run: False,
) -> Run:
    """Store an outcome, close the attempt, release its leases and set the state of the run.

    hung: the process is killed right after; the target stays leased until then. phase: the last one; None: as stored.
    succeed: gives the leases to the next attempt, or returns False.

    Raise Fenced where the attempt was declared lost meanwhile, UnknownMetric for a metric that the driver
    does not declare, NotANumber. In each case nothing is stored.
    """
    outcome = without_secrets(outcome)
    campaigns = Campaign.objects.select_for_update(of=("self",), no_key=True)
    campaign = campaigns.select_related("target").get(pk=attempt.run.campaign_id)
    run = Run.objects.select_for_update(no_key=True).get(pk=attempt.run_id)
    run.campaign, run.cell = campaign, attempt.run.cell
    measured = outcome.measured
    # One of several targets that is away is left out; the others go on.
    away = outcome.away and campaign.state == Campaign.State.RUNNING and run.cell.target_id is None
    closed = Attempt.objects.filter(
        pk=attempt.pk, state=Attempt.State.RUNNING, token=attempt.token
    ).update(
        state=outcome.state,
        **({} if phase is None else {"phase": phase}),
        reason=storable(outcome.reason),
        traceback=storable(outcome.traceback),
        finished_at=Now(),
        measure_started_at=outcome.measure_started_at,
        measure_finished_at=outcome.measure_finished_at,
        simulator=simulator_of(outcome),
        facts_unread=storable(outcome.facts_unread),
        units_done=measured.units_done if measured else 0,
        units_failed=measured.units_failed if measured else 0,
        failures=dict(measured.failures) if measured else {},
        failure_examples={name: storable(text) for name, text in measured.examples.items()}
        if measured
        else {},
        health=measured.health.verdict if measured else "",
        health_reasons=list(measured.health.reasons) if measured else [],
        health_figures=dict(measured.health.figures) if measured else {},
        **({"interrupted_at": Now()} if away and _counts_not(run, outcome) else {}),
    )
    if not closed:
        raise Fenced(f"Attempt {attempt.pk} is not this keeper's any more.")
    store(attempt, campaign, outcome)
    several = bool(_generators.rows(attempt.pk))
    until = loaded_until(attempt) if several else None
    if several:
        clear_generators([attempt.pk])
    if hung or until:
        soon = Now() + timedelta(seconds=HUNG_LEASE_SECONDS)
        TargetLease.objects.filter(attempt=attempt).update(expires_at=Greatest(soon, until))
    if away:
        _wait_for_the_server(run, storable(outcome.reason), lasting=outcome.lasting)
    lasting = outcome.lasting and not away  # it is repeated once a person has resumed the campaign
    settle(attempt, run, outcome.state, storable(outcome.reason), lasting=lasting)
    if measured and measured.pauses and campaign.state == Campaign.State.RUNNING:
        pause_itself(campaign, measured.pauses, storable(outcome.reason))
    if campaign.cool_down_seconds:
        Campaign.objects.filter(pk=campaign.pk).update(
            not_before=Now() + timedelta(seconds=campaign.cool_down_seconds)
        )
    if hung or until or not succeed(run):
        release_leases([attempt.pk], targets=not (hung or until))
    return run


def _counts_not(run: Run, outcome: Outcome) -> bool:
    """Return whether an attempt that found no server is no try: nothing was measured that could have ended the server."""
    if outcome.measure_started_at is not None:
        return False
    return run.attempts.exclude(interrupted_at=None).count() < MOST_UNCOUNTED


def _wait_for_the_server(run: Run, reason: str, *, lasting: bool) -> None:
    """Let the runs of a locked campaign wait until a probe finds its server again; lasting: until a person resumes it."""
    campaign, target = run.campaign, run.target
    assert target is not None  # noqa: S101 - for the type checker: its run was executed
    Target.objects.filter(pk=target.pk).update(
        health=Target.Health.UNREACHABLE, health_message=reason, proofs=[], probed_at=Now()
    )
    if lasting:
        pause_itself(campaign, f"the machine of {target.name} does not let perfdash in", reason)
    elif campaign.away_since is None:
        Campaign.objects.filter(pk=campaign.pk).update(away_since=Now())
        wait = written(campaign.server_wait_seconds)
        LogLine.objects.create(
            campaign=campaign,
            text=f"{target.name} does not answer; the campaign waits for it, {wait} at most",
            tone=LogLine.Tone.BAD,
        )


def loaded_until(attempt: Attempt) -> datetime | None:
    """Return until when generators of an attempt may still load the target; None where none can.

    Some can only where the keeper of the run could not wait for their end.
    """
    loading = Generator.objects.filter(
        attempt=attempt, state__in=Generator.LOADING, expires_at__gt=Now()
    )
    result: datetime | None = loading.aggregate(latest=Max("expires_at"))["latest"]
    return result


def clear_generators(attempts: Collection[int]) -> None:
    """Delete the requests and samples of generators, and end those that are still open.

    The programs stop when they see that the attempt has ended.
    """
    rows = Generator.objects.filter(attempt__in=attempts)
    rows.update(request="", samples=None)
    rows.filter(state__in=Generator.OPEN).update(
        state=Generator.State.FAILED, reason="the attempt has ended", finished_at=Now()
    )
