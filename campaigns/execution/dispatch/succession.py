"""Claim the next run of a campaign in the transaction that closes the one before, for the same worker.

Only where dispatch would choose it, too: it is left to dispatch wherever anything else might come first. The leases go
from the one attempt to the next. Where the process dies after that, the next attempt is lost and repeated like any other that was claimed.
"""

from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Now

from campaigns.execution.dispatch.limits import may_begin
from campaigns.execution.leases import hand_over
from campaigns.execution.restore_settings import due
from campaigns.kit.compiled import Compiled
from campaigns.models import (
    Attempt,
    Campaign,
    Dispatcher,
    Generator,
    GeneratorLease,
    Run,
    Setting,
    Target,
    TargetLease,
    TargetStep,
    Worker,
)
from campaigns.planning.analyses import awaited_by_runs, is_due_after
from campaigns.planning.pools import generator_pools
from campaigns.targets.actions import MANUAL


def claim_next(ended: Attempt, run: Run) -> Attempt | None:
    """Claim the run after this one for the worker of `ended`, and return its attempt; None where dispatch is to decide.

    ended: the attempt of `run` that was just closed; it still holds its leases. The campaign of `run` must be locked.
    """
    campaign = run.campaign
    if campaign.state != Campaign.State.RUNNING or run.purpose == Run.Purpose.TRIAL:
        return None
    if campaign.cool_down_seconds or campaign.pool != ended.pool or is_due_after(run):
        return None
    following = _following(campaign)
    before, target = ended.run.target, None if following is None else following.target
    if following is None or before is None or target is None or target.address != before.address:
        return None
    if Attempt.State.QUEUED in following.states_of_attempts or generator_pools(following):
        return None
    looked = _free.rows(
        campaign.pk, campaign.queue_place or 0, target.address, ended.pk, ended.host
    )
    if not looked:
        return None
    now, restricted = looked[0]
    restricted = restricted or campaign.search or campaign.time_budget_seconds is not None
    if (restricted and not may_begin(following, now)) or not _present.rows(ended.worker):
        return None
    return hand_over(ended, following, len(following.states_of_attempts) + 1, now)


def _following(campaign: Campaign) -> Any:
    """Lock and return the first planned run of a locked campaign; None where there is none, or it is being claimed."""
    planned = Run.objects.filter(campaign=campaign, state=Run.State.PLANNED)
    states = Attempt.objects.filter(run=OuterRef("pk")).values("state")
    rows = (
        planned.filter(pk=Subquery(planned.order_by("position").values("pk")[:1]))
        .select_for_update(of=("self",), no_key=True, skip_locked=True)
        .select_related("cell__target", "block")
        .annotate(states_of_attempts=ArraySubquery(states))
    )
    following = next(iter(rows.order_by()), None)
    if following is not None:
        following.campaign = campaign
    return following


def _free_of_others(
    campaign: int, place: int, address: str, ended: int, host: str
) -> QuerySet[Campaign, Any]:
    """Return the time, and whether anything restricts when the server is loaded; no row where anything comes before the run."""
    held = TargetLease.objects.filter(
        Q(attempt__state=Attempt.State.RUNNING) | Q(expires_at__gte=Now()),
        attempt__run__campaign=OuterRef("pk"),
    )
    planned = Run.objects.filter(campaign=OuterRef("pk"), state=Run.State.PLANNED)
    ahead = Q(queue_place=None) | Q(queue_place__lte=place)
    others = Campaign.objects.filter(
        Q(state=Campaign.State.RUNNING, not_before=None)
        | Q(state=Campaign.State.RUNNING, not_before__lte=Now())
        | Q(state=Campaign.State.DRAFT),
        ahead,
        Exists(planned),
        ~Exists(held),
    ).exclude(pk=campaign)
    in_the_way = (
        others,
        Campaign.objects.filter(awaited_by_runs(), analysis_requested_at__isnull=False),
        Dispatcher.objects.filter(hold_until__gt=Now()),
        due().filter(setting__target__address=address),
        Setting.objects.filter(target__address=address, apply__way=MANUAL),
        TargetStep.objects.filter(target__address=address, action__way=MANUAL),
        Generator.objects.filter(attempt=ended),
    )
    leases = (
        TargetLease.objects.filter(attempt=ended, address=address),
        GeneratorLease.objects.filter(attempt=ended, host=host),
    )
    same = Target.objects.filter(address=address)
    return (
        Campaign.objects.filter(*(~Exists(rows) for rows in in_the_way), *map(Exists, leases))
        .filter(pk=campaign)
        .annotate(now=Now(), restricted=Exists(same.exclude(quiet_hours="", is_production=False)))
        .values_list("now", "restricted")
        .order_by()
    )


def _going_on(worker: str) -> QuerySet[Worker, Any]:
    """Lock the row of a worker; none where it is about to end: it interrupts what it has claimed until then."""
    rows = Worker.objects.select_for_update(no_key=True, skip_locked=True)
    return rows.filter(name=worker).order_by().values_list("pk")


_free, _present = Compiled(_free_of_others), Compiled(_going_on)
