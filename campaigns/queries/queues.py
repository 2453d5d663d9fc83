"""Who waits for which server, in which order, and why. Reads only."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from django.db.models import Count, Q
from django.db.models.functions import Now

from campaigns.models import Attempt, Campaign, Run, Target, TargetLease
from campaigns.queries.allowed import same_server
from campaigns.queries.live import seconds_left
from campaigns.queries.order import ORDER
from campaigns.queries.waiting import Wait, waiting_for
from campaigns.queries.workers import present_by_pool

WAITING = (Campaign.State.RUNNING, Campaign.State.PAUSED)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A campaign in a queue; times in seconds.

    place: from 1. seconds_left: None where nothing tells it. begins_in: until it is its turn; None
    where nobody knows. on: the position of its run that is on. why: None while one is on.
    """

    pk: int
    name: str
    state: str
    target: str
    place: int
    runs_left: int
    seconds_left: float | None
    begins_in: float | None
    on: int | None
    why: Wait | None
    first: bool
    last: bool


@dataclass(frozen=True, slots=True)
class TryOut:
    """A try-out of a draft that waits or is on; it goes before every campaign."""

    campaign: int
    name: str
    position: int
    on: bool


@dataclass(frozen=True, slots=True)
class Queue:
    """Everybody who wants one server. `empty_pools`: those that no worker serves.

    held_by: the run that loads the server now, in words; holder: its campaign.
    """

    address: str
    targets: tuple[Target, ...]
    held_by: str
    holder: int | None
    try_outs: tuple[TryOut, ...]
    waiting: tuple[Waiting, ...]
    empty_pools: tuple[str, ...]

    @property
    def name(self) -> str:
        """The targets whose queue it is."""
        return ", ".join(target.name for target in self.targets) or self.address


@dataclass(frozen=True, slots=True)
class Place:
    """Where a campaign stands: from 1, and of how many. `before`: who goes before it, or empty."""

    pk: int
    target: str
    place: int
    length: int
    before: str


def queues() -> list[Queue]:
    """One for each server in use, or that somebody waits for; the longest first."""
    targets = Target.objects.filter(Q(retired_at=None) | Q(campaign__state__in=WAITING)).distinct()
    by_address: dict[str, list[Target]] = {}
    for target in targets:
        by_address.setdefault(target.address, []).append(target)
    found = [_queue(address, rows) for address, rows in by_address.items()]
    return sorted(found, key=lambda queue: (-len(queue.waiting), queue.name))


def queue_of(target: Target) -> Queue:
    """The queue of a server, with all targets that are the same server."""
    return _queue(target.address, same_server(target))


def place_of(campaign: Campaign) -> Place | None:
    """Where a campaign stands in the queue of its server; None where it does not wait."""
    if campaign.target is None:
        return None
    rows = Campaign.objects.filter(target__address=campaign.target.address, state__in=WAITING)
    names = dict(rows.order_by(*ORDER).values_list("pk", "name"))
    if campaign.pk not in names:
        return None
    index = list(names).index(campaign.pk)
    before = list(names.values())[index - 1] if index else ""
    return Place(campaign.pk, campaign.target.name, index + 1, len(names), before)


def _queue(address: str, targets: Sequence[Target]) -> Queue:
    lease = (
        TargetLease.objects.filter(address=address, attempt__isnull=False, expires_at__gt=Now())
        .select_related("attempt__run__campaign")
        .first()
    )
    attempt = lease.attempt if lease else None
    campaigns = list(
        Campaign.objects.filter(target__address=address, state__in=WAITING)
        .select_related("target")
        .order_by(*ORDER)
    )
    on = dict(
        Attempt.objects.filter(
            run__campaign__target__address=address, state=Attempt.State.RUNNING
        ).values_list("run__campaign", "run__position")
    )
    empty = _empty_pools({campaign.pool for campaign in campaigns})
    return Queue(
        address=address,
        targets=tuple(targets),
        held_by=(lease.holder or f"run {attempt.run.position}") if lease and attempt else "",
        holder=attempt.run.campaign_id if attempt else None,
        try_outs=_try_outs(address),
        waiting=_waiting(campaigns, on, empty),
        empty_pools=tuple(sorted(empty)),
    )


def _waiting(
    campaigns: Sequence[Campaign], on: Mapping[int, int], empty_pools: Set[str]
) -> tuple[Waiting, ...]:
    left = _runs_left(campaigns)
    entries: list[Waiting] = []
    ahead: float | None = 0.0
    leader = ""
    for place, campaign in enumerate(campaigns, start=1):
        seconds = seconds_left(campaign, None)
        runs = campaign.state == Campaign.State.RUNNING
        why = None if campaign.pk in on else _why(campaign, leader)
        entries.append(
            Waiting(
                pk=campaign.pk,
                name=campaign.name,
                state=campaign.state,
                target=campaign.target.name if campaign.target else "",
                place=place,
                runs_left=left.get(campaign.pk, 0),
                seconds_left=seconds,
                begins_in=ahead if runs else None,
                on=on.get(campaign.pk),
                why=why,
                first=place == 1,
                last=place == len(campaigns),
            )
        )
        if runs and left.get(campaign.pk) and campaign.pool not in empty_pools:
            leader = leader or campaign.name
            known = ahead is not None and seconds is not None and not (why and why.open_end)
            ahead = (ahead or 0.0) + (seconds or 0.0) if known else None
    return tuple(entries)


def _why(campaign: Campaign, leader: str) -> Wait:
    """Why a campaign does not go on; it waits for the first that may, before anything else."""
    if leader and campaign.state == Campaign.State.RUNNING:
        return Wait(f"Waits until “{leader}” has made its runs.")
    return waiting_for(campaign)


def _runs_left(campaigns: Sequence[Campaign]) -> dict[int, int]:
    rows = (
        Run.objects.filter(
            campaign__in=[campaign.pk for campaign in campaigns],
            state__in=Run.OPEN,
        )
        .exclude(purpose=Run.Purpose.TRIAL)
        .order_by()
        .values_list("campaign")
        .annotate(Count("pk"))
    )
    return dict(rows)


def _try_outs(address: str) -> tuple[TryOut, ...]:
    runs = Run.objects.filter(
        campaign__target__address=address,
        campaign__state=Campaign.State.DRAFT,
        purpose=Run.Purpose.TRIAL,
        state__in=Run.OPEN,
    ).select_related("campaign")
    return tuple(
        TryOut(run.campaign_id, run.campaign.name, run.position, run.state == Run.State.RUNNING)
        for run in runs.order_by("pk")
    )


def _empty_pools(pools: Set[str]) -> set[str]:
    return pools - present_by_pool().keys() if pools else set()
