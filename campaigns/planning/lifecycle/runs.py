"""The life of a run: cancel, run again, exclude, include."""

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now

from campaigns.kit.activity import Action, record
from campaigns.kit.errors import NotPossible
from campaigns.kit.rights import Right, require_right
from campaigns.models import Attempt, Campaign, Exclusion, LaunchRequest, LogLine, Run
from campaigns.planning.launch_checks import require_ready
from campaigns.planning.lifecycle import approval
from campaigns.planning.lifecycle.guards import require_confirmed
from campaigns.planning.lifecycle.rows import (
    locked_run,
    log,
    name_of,
    open_for_dispatch,
    withdraw_queued,
)


@transaction.atomic
def cancel_run(run: Run, reason: str, user: User | None = None) -> Run:
    """Cancel one run; the campaign continues without it."""
    run = locked_run(run)
    require_right(user, run.campaign, Right.OPERATE)
    if run.state in Run.CLOSED:
        raise NotPossible(f"Run {run.position} is {run.state} already.")
    reason = reason.strip() or "no reason given"
    open_attempts = run.attempts.filter(state__in=Attempt.OPEN)
    withdraw_queued(open_attempts, reason)
    if open_attempts.update(cancel_requested_at=Now()):
        done = "is being stopped"
        run.reason = reason
        run.save(update_fields=["reason"])
    else:
        done = "cancelled"
        run.state, run.reason, run.finished_at = Run.State.CANCELLED, reason, Now()
        run.save(update_fields=["state", "reason", "finished_at"])
    text = f"run {run.position} {done} by {name_of(user)}: {reason}"
    log(run.campaign, text, run, LogLine.Tone.BAD)
    record(Action.RUN_CANCELLED, user=user, subject=run, reason=reason)
    return Run.objects.get(pk=run.pk)


@transaction.atomic
def run_again(
    run: Run,
    user: User | None,
    confirmed_name: str = "",
    *,
    second: LaunchRequest | None = None,
) -> Run | LaunchRequest:
    """Plan a failed or void run again; its earlier attempts stay on record.

    Where that takes two people and `second` is no approval, one is requested, and the request is
    returned.
    """
    run = locked_run(run)
    require_right(user, run.campaign, Right.OPERATE)
    campaign = run.campaign
    if run.state not in (Run.State.FAILED, Run.State.VOID):
        raise NotPossible(
            f"Only a failed or void run is run again; run {run.position} is {run.state}."
        )
    if campaign.state not in (
        Campaign.State.RUNNING,
        Campaign.State.PAUSED,
        Campaign.State.FINISHED,
    ):
        raise NotPossible(f"The campaign is {campaign.state}; nothing can be run again in it.")
    if run.exclusions.filter(withdrawn_at=None).exists():
        raise NotPossible(
            f"Run {run.position} is excluded, and so would be its new value; include it first."
        )
    require_ready(campaign, [run.cell])
    require_confirmed(campaign, confirmed_name)
    if user is not None and second is None and approval.takes_two(campaign):
        return approval.request_approval(campaign, LaunchRequest.Step.AGAIN, user, run=run.position)
    log(
        campaign,
        f"run {run.position}, {run.state} ({run.reason}), is run again by {name_of(user)}",
        run,
        LogLine.Tone.BAD,
    )
    record(
        Action.RUN_REPEATED,
        user=user,
        subject=run,
        state=run.state,
        reason=run.reason,
        confirmed_name=confirmed_name,
    )
    run.state, run.reason, run.started_at, run.finished_at = Run.State.PLANNED, "", None, None
    run.attempts_allowed = run.attempts.filter(interrupted_at=None).count() + 1
    run.save(update_fields=["state", "reason", "started_at", "finished_at", "attempts_allowed"])
    if campaign.state == Campaign.State.FINISHED:
        open_for_dispatch(campaign)
    return run


@transaction.atomic
def exclude(run: Run, user: User | None, reason: str) -> Exclusion:
    """Take a run out of the analysis, by name and with a reason; it stays visible."""
    if not reason.strip():
        raise NotPossible("Say why the run is excluded.")
    run = locked_run(run)
    require_right(user, run.campaign, Right.WRITE)
    if run.purpose != Run.Purpose.MEASURED:
        raise NotPossible(f"A {run.get_purpose_display()} run is in no analysis anyway.")
    if run.state not in Run.CLOSED:
        raise NotPossible(f"Run {run.position} is {run.state}; only a closed run is excluded.")
    if run.exclusions.filter(withdrawn_at=None).exists():
        raise NotPossible(f"Run {run.position} is excluded already.")
    text = f"run {run.position} excluded by {name_of(user)}: {reason.strip()}"
    log(run.campaign, text, run, LogLine.Tone.BAD)
    record(Action.RUN_EXCLUDED, user=user, subject=run, reason=reason.strip())
    return Exclusion.objects.create(run=run, user=user, reason=reason.strip())


@transaction.atomic
def include(run: Run, user: User | None = None) -> None:
    """Withdraw the exclusion of a run; the record of it stays."""
    run = locked_run(run)
    require_right(user, run.campaign, Right.WRITE)
    if not run.exclusions.filter(withdrawn_at=None).update(withdrawn_at=Now()):
        raise NotPossible(f"Run {run.position} is not excluded.")
    text = f"run {run.position} counts again, says {name_of(user)}"
    log(run.campaign, text, run, LogLine.Tone.BAD)
    record(Action.RUN_INCLUDED, user=user, subject=run)
