"""Queue the next run of a campaign in the transaction that closes the one before, for the same worker.

Only where dispatch would choose it, too: it is left to dispatch wherever anything else might come first. What is
queued here is claimed as if a message had come. Where the process dies before, dispatch sends the message, as soon as
the lease has expired or the worker begins anew.
"""

from datetime import datetime

from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

from campaigns.execution.dispatch.limits import may_begin
from campaigns.execution.leases import lease_target
from campaigns.execution.restore_settings import due
from campaigns.models import Attempt, Campaign, Dispatcher, Run, Setting, TargetLease, TargetStep
from campaigns.planning.analyses import awaited_by_runs, is_due_after
from campaigns.planning.pools import generator_pools
from campaigns.targets.actions import HAND


def queue_next(ended: Attempt, run: Run) -> Attempt | None:
    """Queue the run after this one, and return its attempt; None where dispatch is to decide.

    ended: the attempt of `run` that was just closed. The campaign of `run` must be locked.
    """
    campaign = run.campaign
    if campaign.state != Campaign.State.RUNNING or run.purpose == Run.Purpose.TRIAL:
        return None
    if campaign.cool_down_seconds or is_due_after(run):
        return None
    planned = campaign.runs.select_related("cell__target").filter(state=Run.State.PLANNED)
    following = planned.order_by("position").first()
    before = ended.run.target
    if following is None or before is None:
        return None
    if ended.run.campaign.target_id == campaign.target_id:
        campaign.target = ended.run.campaign.target  # which the claim has read
    following.campaign = campaign
    target = following.target
    if target is None or target.address != before.address or generator_pools(following):
        return None
    now = _now_if_nothing_comes_first(campaign, target.address)
    if now is None or not may_begin(following, now):
        return None
    return lease_target(following, target.address)


def _now_if_nothing_comes_first(campaign: Campaign, address: str) -> datetime | None:
    """Return the time of the database; None where dispatch has anything else to look at before the run."""
    held = TargetLease.objects.filter(
        Q(attempt__state=Attempt.State.RUNNING) | Q(expires_at__gte=Now()),
        attempt__run__campaign=OuterRef("pk"),
    )
    planned = Run.objects.filter(campaign=OuterRef("pk"), state=Run.State.PLANNED)
    ahead = Q(queue_place=None) | Q(queue_place__lte=campaign.queue_place or 0)
    others = Campaign.objects.filter(
        Q(state=Campaign.State.RUNNING, not_before=None)
        | Q(state=Campaign.State.RUNNING, not_before__lte=Now())
        | Q(state=Campaign.State.DRAFT),
        ahead,
        Exists(planned),
        ~Exists(held),
    ).exclude(pk=campaign.pk)
    in_the_way = (
        others,
        Campaign.objects.filter(awaited_by_runs(), analysis_requested_at__isnull=False),
        Dispatcher.objects.filter(hold_until__gt=Now()),
        due().filter(setting__target__address=address),
        Setting.objects.filter(target__address=address, apply__way=HAND),
        TargetStep.objects.filter(target__address=address, action__way=HAND),
    )
    free = Campaign.objects.filter(*(~Exists(rows) for rows in in_the_way), pk=campaign.pk)
    now: datetime | None = free.annotate(now=Now()).values_list("now", flat=True).first()
    return now
