"""What must be true of runs, attempts and leases at every moment, whatever happened before."""

from collections import Counter
from itertools import groupby

from campaigns.models import Attempt, Campaign, GeneratorLease, Run, TargetLease


def check_the_books() -> None:
    """Look at every row."""
    campaigns = dict(Campaign.objects.values_list("pk", "state"))
    runs = {run.pk: run for run in Run.objects.all()}
    attempts = list(Attempt.objects.order_by("run_id", "number"))
    by_run = {run: list(group) for run, group in groupby(attempts, lambda each: each.run_id)}
    for pk, run in runs.items():
        _check_run(run, by_run.get(pk, []))
        _check_against_campaign(run, by_run.get(pk, []), campaigns[run.campaign_id])
    _check_leases({attempt.pk: attempt for attempt in attempts})


def _check_run(run: Run, attempts: list[Attempt]) -> None:
    said = f"{run} is {run.state}, its attempts {[attempt.state for attempt in attempts]}"
    states = Counter(attempt.state for attempt in attempts)
    queued, running = states[Attempt.State.QUEUED], states[Attempt.State.RUNNING]
    assert states[Attempt.State.ACCEPTED] == (run.state == Run.State.DONE), said
    assert running == (run.state == Run.State.RUNNING), said
    assert queued <= (run.state == Run.State.PLANNED), said
    assert [attempt.number for attempt in attempts] == list(range(1, len(attempts) + 1)), said
    tries = [attempt for attempt in attempts if attempt.interrupted_at is None]
    assert len(tries) <= run.attempts_allowed, said
    assert (run.finished_at is not None) == (run.state in Run.CLOSED), said
    assert (run.started_at is not None) or run.state != Run.State.RUNNING, said
    for attempt in attempts:
        assert (attempt.finished_at is None) == (attempt.state in Attempt.OPEN), said
        bad = attempt.state in (Attempt.State.LOST, Attempt.State.VOID, Attempt.State.FAILED)
        assert not bad or attempt.reason, f"{said}; nobody says why it is {attempt.state}"
    if run.state in (Run.State.FAILED, Run.State.VOID, Run.State.CANCELLED):
        assert run.reason, f"{said}; nobody says why"


def _check_against_campaign(run: Run, attempts: list[Attempt], state: str) -> None:
    said = f"{run} is {run.state} in a campaign that is {state}"
    if state in Campaign.CLOSED:
        assert run.state in Run.CLOSED, said
    if state == Campaign.State.CANCELLING:
        assert run.state != Run.State.PLANNED, said
    if state == Campaign.State.DRAFT:
        assert run.purpose == Run.Purpose.TRIAL, said
    elif run.purpose == Run.Purpose.TRIAL:
        assert run.state in Run.CLOSED, said


def _check_leases(attempts: dict[int, Attempt]) -> None:
    at_targets = {lease.attempt_id: lease for lease in TargetLease.objects.all()}
    at_hosts = {lease.attempt_id: lease for lease in GeneratorLease.objects.all()}
    for attempt in attempts.values():
        if attempt.state != Attempt.State.RUNNING:
            assert attempt.pk not in at_hosts, f"{attempt} is {attempt.state} and holds its host"
            continue
        assert attempt.pk in at_targets, f"{attempt} runs without its target's lease"
        assert attempt.pk in at_hosts, f"{attempt} runs without its host's lease"
        assert at_targets[attempt.pk].token == attempt.token
        assert at_hosts[attempt.pk].host == attempt.host
    for lease in at_targets.values():
        if lease.attempt_id is not None:
            assert attempts[lease.attempt_id].state in Attempt.OPEN, f"{lease} is held by the dead"
            assert attempts[lease.attempt_id].token == lease.token
            assert lease.expires_at is not None
