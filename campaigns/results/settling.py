"""What becomes of a run when its attempt has ended."""

from django.db.models.functions import Now

from campaigns.models import Attempt, Campaign, Run
from campaigns.results.limits import stop_where_too_much_fails

ENDS = {
    Attempt.State.ACCEPTED: Run.State.DONE,
    Attempt.State.FAILED: Run.State.FAILED,
    Attempt.State.CANCELLED: Run.State.CANCELLED,
}


def settle(
    attempt: Attempt, run: Run, attempt_state: str, reason: str, *, lasting: bool = False
) -> None:
    """Give a run the state that follows from its attempt's end. Campaign and run must be locked.

    Void and lost attempts are repeated at once, in their block, up to the run's limit; those that
    a shutdown or quiet hours interrupted do not count. What was told to stop is not repeated, nor what
    is `lasting`: it would end alike.
    A campaign in which too much failed is paused.
    """
    tries = run.attempts.filter(interrupted_at=None).count()
    stopping = run.campaign.state == Campaign.State.CANCELLING
    if attempt_state in ENDS:
        run.state, run.reason = ENDS[Attempt.State(attempt_state)], reason
    elif stopping or run.attempts.filter(pk=attempt.pk, cancel_requested_at__isnull=False).exists():
        run.state, run.reason = Run.State.CANCELLED, run.reason or run.campaign.state_reason
    elif tries < run.attempts_allowed and not lasting:
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
    if run.state in Run.CLOSED and run.purpose != Run.Purpose.TRIAL:
        stop_where_too_much_fails(run.campaign)
