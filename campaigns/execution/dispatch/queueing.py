"""Lease free targets for the next run of each, and queue its attempt."""

from collections.abc import Iterator

from django.db.models import Q
from django.db.models.functions import Now

from campaigns.execution.dispatch.limits import may_begin
from campaigns.execution.leases import lease_target
from campaigns.execution.manual_steps import needed, number_of_next_attempt
from campaigns.execution.parcels import seal_for_attempt
from campaigns.execution.populations import addresses_at_work
from campaigns.execution.restore_settings import addresses_held
from campaigns.execution.waiting import ORDER
from campaigns.kit.database_clock import database_now
from campaigns.kit.mappings import JsonObject
from campaigns.kit.outbox import announce
from campaigns.models import (
    Announcement,
    Attempt,
    Campaign,
    GeneratorLease,
    LogLine,
    ManualStep,
    Run,
    Setting,
    TargetLease,
    TargetStep,
)
from campaigns.planning import workers
from campaigns.planning.pools import generator_pools


def queue_runs() -> Iterator[tuple[int, str]]:
    """Lease free targets for the next run of each; return (attempt, pool) to be sent."""
    room = _room_by_pool()
    now = database_now()
    served = addresses_held() | addresses_at_work() | _measured()
    busy = _with_a_run_on()
    for run in _next_runs():
        campaign, target = run.campaign, run.target
        own = [each.address for each in campaign.targets]
        if campaign.pk in busy:
            served.update(own)  # the queues of its other targets wait until it has made its runs
            continue
        if target is None or target.address in served or room.get(campaign.pool, 0) < 1:
            continue
        generators = generator_pools(run)
        if any(room.get(pool, 0) < 1 for pool in generators):
            continue
        if not may_begin(run, now):
            continue
        if waits_for_manual_step(run):
            served.update(own)
            continue
        attempt = lease_target(run, target.address)
        if attempt is not None or len(own) > 1:
            served.update(own)  # where it is first, nobody behind it comes between
        if attempt is not None:
            room[campaign.pool] -= 1
            room |= dict.fromkeys(generators, 0)  # another run would have to do with what is left
            seal_for_attempt(attempt)
            yield attempt.pk, campaign.pool


def _with_a_run_on() -> set[int]:
    """Return the campaigns with a run that is on or was sent: one with several targets makes one at a time."""
    leases = TargetLease.objects.filter(
        Q(attempt__state=Attempt.State.RUNNING) | Q(expires_at__gte=Now()), attempt__isnull=False
    )
    return set(leases.values_list("attempt__run__campaign", flat=True))


def _measured() -> set[str]:
    """Return servers that an attempt holds: no manual step is requested there meanwhile."""
    running = TargetLease.objects.filter(attempt__state=Attempt.State.RUNNING)
    return set(running.values_list("address", flat=True))


def _next_runs() -> Iterator[Run]:
    """Return the first planned run of each campaign that may start one, in the order of the queue."""
    waiting = Q(state=Campaign.State.RUNNING) | Q(
        state=Campaign.State.DRAFT,
        runs__purpose=Run.Purpose.TRIAL,
        runs__state=Run.State.PLANNED,
    )
    ready = (
        Campaign.objects.filter(waiting)
        .filter(Q(not_before=None) | Q(not_before__lte=Now()))
        .distinct()
        .select_related("target")
        .prefetch_related("places__target")
        .order_by(*ORDER)
    )
    for campaign in ready:
        run = (
            campaign.runs.select_related("cell__target")
            .filter(state=Run.State.PLANNED)
            .order_by("position")
            .first()
        )
        if run is not None:
            yield run


def _room_by_pool() -> dict[str, int]:
    """Return how many more attempts each pool can take: one for each host that measures nothing."""
    busy = set(GeneratorLease.objects.exclude(attempt=None).values_list("host", flat=True))
    free: dict[str, set[str]] = {}
    for worker in workers.present():
        for pool in worker.pools:
            free.setdefault(pool, set()).update({worker.host} - busy)
    room = {pool: len(hosts) for pool, hosts in free.items()}
    queued = Attempt.objects.filter(
        state=Attempt.State.QUEUED, targetlease__expires_at__gt=Now()
    ).values_list("pool", flat=True)
    for pool in queued:
        room[pool] = room.get(pool, 0) - 1
    return room


# The server's queue waits with a run that waits for a manual step, so that nobody changes the server while
# something is measured on it.
def waits_for_manual_step(run: Run) -> bool:
    """Return whether a run waits for manual steps; request those that are not requested yet."""
    target = run.target
    missing = needed(run)
    if target is None or not missing:
        return False
    number = number_of_next_attempt(run)
    new = []
    for what, value in missing:
        of: JsonObject = {"setting": what, "value": value}
        if isinstance(what, TargetStep):
            of = {"step": what}
        request, made = ManualStep.objects.get_or_create(
            run=run,
            attempt_number=number,
            done_at=None,
            **of,
            defaults={
                "target": target,
                "campaign": run.campaign,
                "words": _text(what, value),
            },
        )
        if made:
            new.append(request.words)
            LogLine.objects.create(
                campaign=run.campaign,
                run=run,
                tone=LogLine.Tone.NOW,
                text=f"run {run.position} waits for a manual step on {target.name}: {request.words}",
            )
    if new:
        announce(
            Announcement.Kind.CAMPAIGN_NEEDS_MANUAL_STEP,
            run.campaign.team,
            campaign=run.campaign,
            what=f"Run {run.position} of the campaign waits for a manual step on {target.name}.",
            words="\n".join(new),
        )
    return True


def _text(what: Setting | TargetStep, value: object) -> str:
    if isinstance(what, Setting):
        text = str(what.apply.get("words") or "")
        unit = f" {what.unit}" if what.unit else ""
        return f"Set {what.name} to {value}{unit}." + (f" {text}" if text else "")
    return str(what.action.get("words") or what.name)
