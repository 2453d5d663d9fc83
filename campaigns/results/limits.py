"""A campaign stops by itself where too much of it fails.

Judged in the transaction that closes a run, so that the next one cannot begin before. What counts
are runs that were closed since the launch or the last resumption, but no try-out. Which came first
is told by their attempts' order, not by a clock that may have been set.
"""

from django.db.models import Count, Max, Q

from campaigns.activity import Action, record
from campaigns.announcing import announce
from campaigns.models import Announcement, Campaign, LogLine, Run

JUDGED_FROM = 10
"""A share of fewer runs says nothing."""
BAD = (Run.State.FAILED, Run.State.VOID)
ENDED = (Run.State.DONE, *BAD)
WHAT_TO_DO = "Look at the target, then resume or cancel."


def stop_where_too_much_fails(campaign: Campaign) -> None:
    """Pause a locked campaign, and say why, unless it is within its limits or over anyway."""
    still_open = campaign.runs.filter(state__in=Run.OPEN)
    if campaign.state != Campaign.State.RUNNING or not still_open.exists():
        return
    closed = campaign.runs.filter(state__in=ENDED).exclude(purpose=Run.Purpose.TRIAL)
    ended = closed.annotate(newest=Max("attempts")).filter(newest__gt=campaign.counted_after)
    latest = list(ended.order_by("-newest")[: campaign.max_consecutive_failures])
    counts = ended.aggregate(all=Count("pk"), bad=Count("pk", filter=Q(state__in=BAD)))
    if len(latest) == campaign.max_consecutive_failures and all(run.state in BAD for run in latest):
        what = f"{len(latest)} runs in a row failed or were void"
        if len(latest) == 1:
            what = "a run failed or was void"
    elif counts["all"] >= JUDGED_FROM and counts["bad"] > campaign.max_failed_share * counts["all"]:
        allowed = f"{campaign.max_failed_share * 100:g} %"
        what = f"{counts['bad']} of {counts['all']} runs failed or were void, above {allowed}"
    else:
        return
    last = ended.filter(state__in=BAD).latest("newest")
    reason = f"stopped automatically: {what}, the last one: {last.reason.rstrip('.')}. {WHAT_TO_DO}"
    campaign.state, campaign.state_reason = Campaign.State.PAUSED, reason
    campaign.save(update_fields=["state", "state_reason"])
    LogLine.objects.create(campaign=campaign, text=reason, tone=LogLine.Tone.BAD)
    record(Action.CAMPAIGN_STOPPED, user=None, campaign=campaign, reason=reason)
    announce(
        Announcement.Kind.CAMPAIGN_FAILED,
        campaign.team,
        campaign=campaign,
        what=f"The campaign paused automatically: {what}.",
        words=last.reason,
        to_do=WHAT_TO_DO,
    )
