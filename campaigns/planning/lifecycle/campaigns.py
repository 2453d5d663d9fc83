"""The life of a campaign: try, launch, pause, resume, extend, cancel."""

from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Max, prefetch_related_objects
from django.db.models.functions import Now

from campaigns.kit.activity import Action, record
from campaigns.kit.errors import NotPossible
from campaigns.kit.numbers import grouped
from campaigns.kit.outbox import announce
from campaigns.kit.rights import Right, require_right
from campaigns.models import (
    Announcement,
    Attempt,
    Block,
    Campaign,
    CampaignTarget,
    Cell,
    LaunchRequest,
    LineApproval,
    LogLine,
    Run,
    Session,
)
from campaigns.planning.definition import MOST_REPETITIONS
from campaigns.planning.drafts import require_draft
from campaigns.planning.launch_checks import caveat_of, require_ready
from campaigns.planning.lifecycle import approval
from campaigns.planning.lifecycle.guards import require_confirmed
from campaigns.planning.lifecycle.planning import (
    design_of,
    new_session,
    planned_sessions,
    store_plan,
)
from campaigns.planning.lifecycle.rows import (
    count_from_now,
    lock_open_runs,
    locked,
    log,
    name_of,
    open_for_dispatch,
    stop_everything,
)
from campaigns.planning.plan import plan_runs
from campaigns.planning.search import search_of
from campaigns.planning.stopper import who_stops
from campaigns.targets.machines import machines_of

MOST_RUNS_EVER = 20_000


@transaction.atomic
def launch(
    campaign: Campaign,
    user: User | None,
    confirmed_name: str = "",
    *,
    second: LaunchRequest | LineApproval | None = None,
) -> Campaign:
    """Lock the definition, plan the runs and open the campaign for dispatch.

    Where that takes two people and `second` is no approval, one is requested: the returned campaign is
    still a draft then.
    """
    campaign = locked(campaign)
    prefetch_related_objects([campaign], "places__target")
    require_right(user, campaign, Right.OPERATE)
    require_draft(campaign)
    caveat = caveat_of(campaign, require_ready(campaign, launch=True))
    require_confirmed(campaign, confirmed_name)
    lock_open_runs(campaign)
    if campaign.runs.filter(attempts__state__in=Attempt.OPEN).exists():
        raise NotPossible("A try-out run is going on; launch when it has ended.")
    if user is not None and second is None and approval.takes_two(campaign):
        approval.request_approval(campaign, LaunchRequest.Step.LAUNCH, user)
        return _fresh(campaign)
    campaign.runs.filter(state=Run.State.PLANNED).update(
        state=Run.State.CANCELLED, reason="launched before it began", finished_at=Now()
    )
    session = new_session(campaign, Session.Kind.LAUNCH, user)
    runs = 0
    if not campaign.search:  # dispatch plans the runs of a search, one by one
        plan = plan_runs(design_of(campaign), session=planned_sessions(campaign))
        store_plan(campaign, session, plan)
        runs = len(plan.runs)
    _store_machines(campaign)
    campaign.launched_at, campaign.caveat = Now(), caveat
    campaign.save(update_fields=["launched_at", "caveat"])
    open_for_dispatch(campaign)
    what = "a search for capacity" if campaign.search else f"{runs} runs, order {campaign.order}"
    log(campaign, f"launched: {what}, seed {campaign.seed}, by {name_of(user)}")
    if caveat:
        log(campaign, caveat)
    _tell_who_stops_it(campaign, user)
    facts: dict[str, Any] = {"unfit": caveat} if caveat else {}
    record(
        Action.CAMPAIGN_LAUNCHED,
        user=user,
        campaign=campaign,
        runs=runs,
        seed=campaign.seed,
        confirmed_name=confirmed_name,
        **facts,
    )
    return _fresh(campaign)


def _tell_who_stops_it(campaign: Campaign, user: User | None) -> None:
    """Tell the person whom a search names to stop it that it begins."""
    search = search_of(campaign.search)
    person = search and who_stops(search, campaign.team)
    if not search or not person or campaign.target is None:
        return
    announce(
        Announcement.Kind.MENTIONED,
        campaign.team,
        campaign=campaign,
        to=[person],
        by=user,
        what=f"You are named to stop the search on “{campaign.target.name}”, which begins: up to {grouped(search.largest)} {search.load}.",
        to_do="Watch it, and cancel it where the server is in danger.",
    )


def _store_machines(campaign: Campaign) -> None:
    """Resolve the hosts of several targets, so that no analysis needs a name server."""
    places = list(campaign.places.all())
    machines = machines_of([place.target for place in places]) if places else {}
    for place in places:
        place.machine = sorted(machines[place.target_id])
    CampaignTarget.objects.bulk_update(places, ["machine"])


@transaction.atomic
def extend(
    campaign: Campaign,
    blocks: int,
    user: User | None,
    confirmed_name: str = "",
    *,
    second: LaunchRequest | None = None,
) -> Campaign:
    """Add repetitions to a launched campaign, in a session of their own; `second`: as for `launch`."""
    campaign = locked(campaign)
    require_right(user, campaign, Right.OPERATE)
    possible = (Campaign.State.RUNNING, Campaign.State.PAUSED, Campaign.State.FINISHED)
    if campaign.state not in possible:
        raise NotPossible(
            f"Only a launched campaign can be extended; this one is {campaign.state}."
        )
    require_ready(campaign)
    require_confirmed(campaign, confirmed_name)
    if not 1 <= blocks <= MOST_REPETITIONS:
        raise NotPossible(f"Extend by 1 to {MOST_REPETITIONS} repetitions.")
    if user is not None and second is None and approval.takes_two(campaign):
        approval.request_approval(campaign, LaunchRequest.Step.EXTEND, user, blocks=blocks)
        return _fresh(campaign)
    if campaign.search:
        return _extend_search(campaign, blocks, user, confirmed_name)
    last = campaign.runs.exclude(purpose=Run.Purpose.TRIAL).aggregate(
        last_position=Max("position"),
        last_block=Max("block__number"),
        last_repetition=Max("block__repetition"),
    )
    session = new_session(campaign, Session.Kind.EXTENSION, user)
    design = design_of(campaign, repetitions=blocks, warm_ups=0)
    plan = plan_runs(
        design,
        session=planned_sessions(campaign),
        first_repetition=(last["last_repetition"] or 0) + 1,
        first_position=(last["last_position"] or 0) + 1,
        first_block=(last["last_block"] or 0) + 1,
    )
    if (last["last_position"] or 0) + len(plan.runs) > MOST_RUNS_EVER:
        raise NotPossible(f"A campaign has at most {MOST_RUNS_EVER:,} runs.")
    store_plan(campaign, session, plan)
    campaign.places.update(out_at=None, out_reason="")  # somebody asks for all of them anew
    campaign.repetitions = F("repetitions") + blocks
    campaign.save(update_fields=["repetitions"])
    if campaign.state == Campaign.State.FINISHED:
        open_for_dispatch(campaign)
    log(
        campaign,
        f"extended by {name_of(user)}: {blocks} more repetitions, {len(plan.runs)} more runs",
    )
    record(
        Action.CAMPAIGN_EXTENDED,
        user=user,
        campaign=campaign,
        repetitions=blocks,
        runs=len(plan.runs),
        confirmed_name=confirmed_name,
    )
    return _fresh(campaign)


def _extend_search(
    campaign: Campaign, blocks: int, user: User | None, confirmed_name: str
) -> Campaign:
    """Let a search confirm with so many more blocks of the loads that it confirmed last."""
    search = dict(campaign.search or {})
    left = MOST_REPETITIONS - search.get("extra_blocks", 0)
    if blocks > left:
        raise NotPossible(
            f"A search confirms with {MOST_REPETITIONS} more blocks at most; {left} are left."
        )
    new_session(campaign, Session.Kind.EXTENSION, user)
    campaign.search = search | {"extra_blocks": search.get("extra_blocks", 0) + blocks}
    campaign.save(update_fields=["search"])
    if campaign.state == Campaign.State.FINISHED:
        open_for_dispatch(campaign)
    log(campaign, f"extended by {name_of(user)}: {blocks} more blocks that confirm")
    record(
        Action.CAMPAIGN_EXTENDED,
        user=user,
        campaign=campaign,
        repetitions=blocks,
        runs=0,
        confirmed_name=confirmed_name,
    )
    return _fresh(campaign)


@transaction.atomic
def try_one(
    campaign: Campaign, user: User | None, cell: Cell | None = None, confirmed_name: str = ""
) -> Run:
    """Plan one run of a draft, which no analysis includes. Raise NotPossible where it takes two people."""
    made = try_or_request_approval(campaign, user, cell, confirmed_name)
    if isinstance(made, LaunchRequest):
        raise NotPossible("A try-out on this server needs approval by a second person.")
    return made


@transaction.atomic
def try_or_request_approval(
    campaign: Campaign,
    user: User | None,
    cell: Cell | None = None,
    confirmed_name: str = "",
    *,
    second: LaunchRequest | None = None,
) -> Run | LaunchRequest:
    """Plan one run of a draft, or request approval by a second person; `second`: as for `launch`."""
    campaign = locked(campaign)
    require_right(user, campaign, Right.OPERATE)
    require_draft(campaign)
    cell = cell or campaign.cells.order_by("position").first()
    require_ready(campaign, [cell] if cell else None)
    assert cell is not None  # noqa: S101 - what can be executed has cells
    require_confirmed(campaign, confirmed_name)
    if campaign.runs.filter(state__in=Run.OPEN).exists():
        raise NotPossible("A try-out run is waiting or going on already.")
    if user is not None and second is None and approval.takes_two(campaign):
        return approval.request_approval(campaign, LaunchRequest.Step.TRY, user, cell=cell.position)
    last = campaign.runs.aggregate(Max("position"))["position__max"] or 0
    session = campaign.sessions.filter(kind=Session.Kind.TRIAL).first()
    if session is None:
        session = new_session(campaign, Session.Kind.TRIAL, user)
    number = (campaign.blocks.aggregate(Max("number"))["number__max"] or 1_000_000) + 1
    block = Block.objects.create(campaign=campaign, session=session, number=number, repetition=0)
    run = Run.objects.create(
        campaign=campaign,
        cell=cell,
        block=block,
        position=last + 1,
        purpose=Run.Purpose.TRIAL,
        attempts_allowed=1,
    )
    log(campaign, f"try-out of {str(cell) or 'the only cell'} asked for by {name_of(user)}", run)
    record(
        Action.CAMPAIGN_TRIED, user=user, campaign=campaign, run=run.position, cell=cell.position
    )
    return run


@transaction.atomic
def pause(campaign: Campaign, user: User | None = None, reason: str = "") -> Campaign:
    """Start no further run; the current one ends as planned. reason: of an automatic pause."""
    require_right(user, campaign, Right.OPERATE)
    text = reason or f"paused by {name_of(user)}; the current run ends as planned"
    why = {"state_reason": reason} if reason else {}
    moved = _move(campaign, Campaign.State.RUNNING, Campaign.State.PAUSED, text, **why)
    record(Action.CAMPAIGN_PAUSED, user=user, campaign=moved)
    return moved


@transaction.atomic
def resume(campaign: Campaign, user: User | None = None, confirmed_name: str = "") -> Campaign:
    """Resume a paused campaign; time budget and failures are counted from zero."""
    campaign = locked(campaign)
    require_right(user, campaign, Right.OPERATE)
    if campaign.state == Campaign.State.PAUSED:
        require_ready(campaign)
        require_confirmed(campaign, confirmed_name)
    text = f"resumed by {name_of(user)}"
    anew = count_from_now(campaign) | {"state_reason": ""}
    moved = _move(campaign, Campaign.State.PAUSED, Campaign.State.RUNNING, text, **anew)
    record(Action.CAMPAIGN_RESUMED, user=user, campaign=moved, confirmed_name=confirmed_name)
    return moved


@transaction.atomic
def cancel(campaign: Campaign, reason: str, user: User | None = None) -> Campaign:
    """End a campaign: cancel its planned runs, and request that active ones stop."""
    campaign = locked(campaign)
    require_right(user, campaign, Right.OPERATE)
    if campaign.state not in (Campaign.State.RUNNING, Campaign.State.PAUSED):
        raise NotPossible(
            f"Only a running or paused campaign can be cancelled; it is {campaign.state}."
        )
    reason = reason.strip() or "no reason given"
    campaign.state = Campaign.State.CANCELLING
    campaign.state_reason = reason
    campaign.save(update_fields=["state", "state_reason"])
    lock_open_runs(campaign)
    stop_everything(campaign, reason)
    log(campaign, f"cancelled by {name_of(user)}: {reason}", tone=LogLine.Tone.BAD)
    record(Action.CAMPAIGN_CANCELLED, user=user, campaign=campaign, reason=reason)
    return _fresh(campaign)


def _fresh(campaign: Campaign) -> Campaign:
    return Campaign.objects.get(pk=campaign.pk)


def _move(
    campaign: Campaign, before: Campaign.State, after: Campaign.State, text: str, **more: Any
) -> Campaign:
    if not Campaign.objects.filter(pk=campaign.pk, state=before).update(state=after, **more):
        now = _fresh(campaign)
        raise NotPossible(f"The campaign is {now.state}, not {before.value}.")
    log(campaign, text)
    return _fresh(campaign)
