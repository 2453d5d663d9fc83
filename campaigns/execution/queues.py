"""List the queues: which campaigns wait for which server, in which order, and why. Reads only."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import reduce
from operator import or_

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Now

from campaigns.execution.live import seconds_left
from campaigns.execution.waiting import ORDER, UNNAMED, Wait, quoted_campaign, waiting_for
from campaigns.kit.rights import May
from campaigns.models import (
    Attempt,
    Campaign,
    Run,
    Target,
    TargetLease,
    on_address,
    runs_at,
)
from campaigns.planning.pools import needed_pools
from campaigns.planning.workers import present_by_pool
from campaigns.targets.allowed import same_server
from campaigns.targets.holders import held_by

DRAFT = "a draft of another team"
WAITING = (Campaign.State.RUNNING, Campaign.State.PAUSED)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A campaign in a queue; times in seconds.

    pk: None for a team that the reader does not belong to; then it has no name. may_move: the reader may
    move it. place: from 1. seconds_left: None where unknown. begins_in: until its turn; None where unknown.
    on: the position of its open run. why: None while one is open.
    """

    pk: int | None
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
    may_move: bool = False


@dataclass(frozen=True, slots=True)
class TryOut:
    """A try-out of a draft that waits or is executed; it goes before every campaign.

    campaign: None for a team that the reader does not belong to.
    """

    campaign: int | None
    name: str
    position: int
    on: bool


@dataclass(frozen=True, slots=True)
class Queue:
    """All who want one server. `empty_pools`: pools that no worker serves.

    held_by: the run that loads the server now, as text; holder: its campaign, None where the reader may not
    see it. targets: those that the reader may see.
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
        """The names of the targets of the queue."""
        return ", ".join(target.name for target in self.targets) or self.address


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a campaign, from 1, and the length of the queue. `before`: the campaign ahead, or empty."""

    pk: int
    target: str
    place: int
    length: int
    before: str


def queues(may: May) -> list[Queue]:
    """Return a queue for each server in use or waited for, of which the user sees a target.

    The longest first.
    """
    used = (
        Q(retired_at=None) | Q(campaign__state__in=WAITING) | Q(places__campaign__state__in=WAITING)
    )
    targets = Target.objects.filter(used, team__in=may.see).distinct()
    by_address: dict[str, list[Target]] = {}
    for target in targets:
        by_address.setdefault(target.address, []).append(target)
    results = [_queue(address, rows, may) for address, rows in by_address.items()]
    return sorted(results, key=lambda queue: (-len(queue.waiting), queue.name))


def queue_of(target: Target, may: May) -> Queue:
    """Return the queue of a server, with all targets of the same server that the user sees."""
    seen = [row for row in same_server(target) if row.team_id in may.see]
    return _queue(target.address, seen, may)


def place_of(campaign: Campaign) -> Place | None:
    """Return the place of a campaign in the queue of its server; None where it does not wait."""
    queue = list(in_queues_of(campaign).order_by(*ORDER).only("pk", "name", "team"))
    index = next((at for at, row in enumerate(queue) if row.pk == campaign.pk), None)
    if index is None:
        return None
    before = quoted_campaign(queue[index - 1], campaign.team_id) if index else ""
    return Place(campaign.pk, campaign.target_names, index + 1, len(queue), before)


def in_queues_of(campaign: Campaign) -> QuerySet[Campaign]:
    """Return the campaigns that stand in a queue with this one, itself included: those with a server of it."""
    addresses = [target.address for target in campaign.targets]
    return Campaign.objects.filter(
        reduce(or_, map(on_address, addresses), Q(pk__in=[])), state__in=WAITING
    )


def _queue(address: str, targets: Sequence[Target], may: May) -> Queue:
    lease = (
        TargetLease.objects.filter(address=address, attempt__isnull=False, expires_at__gt=Now())
        .select_related("attempt__run__campaign")
        .first()
    )
    attempt = lease.attempt if lease else None
    campaigns = list(
        Campaign.objects.filter(on_address(address), state__in=WAITING)
        .select_related("target")
        .prefetch_related("places__target")
        .order_by(*ORDER)
    )
    on = dict(
        Attempt.objects.filter(runs_at(address, "run__"), state=Attempt.State.RUNNING).values_list(
            "run__campaign", "run__position"
        )
    )
    empty = _empty_pools(frozenset[str]().union(*map(needed_pools, campaigns)))
    return Queue(
        address=address,
        targets=tuple(targets),
        held_by=held_by(lease, may.see),
        holder=attempt.run.campaign_id
        if attempt and attempt.run.campaign.team_id in may.see
        else None,
        try_outs=_try_outs(address, may),
        waiting=_waiting(campaigns, on, empty, may),
        empty_pools=tuple(sorted(empty)),
    )


def _waiting(
    campaigns: Sequence[Campaign], on: Mapping[int, int], empty_pools: Set[str], may: May
) -> tuple[Waiting, ...]:
    left = _runs_left(campaigns)
    entries: list[Waiting] = []
    ahead: float | None = 0.0
    leader: Campaign | None = None
    for place, campaign in enumerate(campaigns, start=1):
        seconds = seconds_left(campaign, None)
        runs, seen = campaign.state == Campaign.State.RUNNING, campaign.team_id in may.see
        why = _why(campaign, leader) if seen and campaign.pk not in on else None
        entries.append(
            Waiting(
                pk=campaign.pk if seen else None,
                name=campaign.name if seen else UNNAMED,
                state=campaign.state,
                target=campaign.target_names if seen else "",
                place=place,
                runs_left=left.get(campaign.pk, 0),
                seconds_left=seconds,
                begins_in=ahead if runs else None,
                on=on.get(campaign.pk) if seen else None,
                why=why,
                first=place == 1,
                last=place == len(campaigns),
                may_move=campaign.team_id in may.operate,
            )
        )
        blocked = empty_pools and needed_pools(campaign) & empty_pools
        if runs and left.get(campaign.pk) and not blocked:
            leader = leader or campaign
            known = ahead is not None and seconds is not None and not (why and why.open_end)
            ahead = (ahead or 0.0) + (seconds or 0.0) if known else None
    return tuple(entries)


def _why(campaign: Campaign, leader: Campaign | None) -> Wait:
    """Return why a campaign is not executed; it first waits for the campaigns ahead."""
    if leader and campaign.state == Campaign.State.RUNNING:
        first = quoted_campaign(leader, campaign.team_id)
        return Wait(f"Waits until {first} has made its runs.")
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


def _try_outs(address: str, may: May) -> tuple[TryOut, ...]:
    runs = Run.objects.filter(
        runs_at(address),
        campaign__state=Campaign.State.DRAFT,
        purpose=Run.Purpose.TRIAL,
        state__in=Run.OPEN,
    ).select_related("campaign")
    return tuple(
        TryOut(run.campaign_id, run.campaign.name, run.position, run.state == Run.State.RUNNING)
        if run.campaign.team_id in may.see
        else TryOut(None, DRAFT, run.position, run.state == Run.State.RUNNING)
        for run in runs.order_by("pk")
    )


def _empty_pools(pools: Set[str]) -> set[str]:
    return pools - present_by_pool().keys() if pools else set()
