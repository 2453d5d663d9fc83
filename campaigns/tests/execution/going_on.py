"""Let campaigns go on in tests: dispatch, execute, and let time have passed."""

from datetime import UTC, datetime, timedelta

from django.db.models import F

from campaigns.execution import dispatch
from campaigns.execution.claim import claim
from campaigns.execution.running import execute
from campaigns.models import Attempt, Campaign


def execute_next():
    """Dispatch, and execute what was queued; the run that it was, None where nothing was."""
    Campaign.objects.update(analysis_requested_at=None)
    dispatch.dispatch()
    attempt = Attempt.objects.filter(state=Attempt.State.QUEUED, targetlease__isnull=False).first()
    return execute(attempt.pk, "measure@here", "here") if attempt else None


def run_all(campaign, most=60):
    for _ in range(most):
        if execute_next() is None:
            break
    campaign.refresh_from_db()


def claimed(open_attempt):
    attempt = claim(open_attempt().pk, "measure@here", "here")
    assert attempt is not None
    return attempt


def back_date(campaign, seconds):
    """Let the launch, and the runs since then, have been so much earlier."""
    earlier = timedelta(seconds=seconds)
    Campaign.objects.filter(pk=campaign.pk).update(counted_from=F("counted_from") - earlier)
    Attempt.objects.filter(run__campaign=campaign).update(
        claimed_at=F("claimed_at") - earlier, finished_at=F("finished_at") - earlier
    )


def quiet_from(target, hours_ago, hours_more):
    """Quiet hours that began so many hours ago and go on for so many more, in UTC."""
    now = datetime.now(UTC)
    begin, end = now - timedelta(hours=hours_ago), now + timedelta(hours=hours_more)
    target.quiet_hours = f"daily {begin:%H:%M}-{end:%H:%M}"
    target.save()
    return end
