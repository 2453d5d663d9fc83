"""The life of a campaign: try, launch, pause, resume, extend, cancel, run again, exclude.

Each function changes rows in one transaction and sends nothing; the caller asks dispatch.
"""

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Max, QuerySet
from django.db.models.functions import Now

from campaigns import network
from campaigns.definition.drafts import require_draft
from campaigns.definition.servers import rules_for
from campaigns.drivers import UnknownKind, driver_of
from campaigns.models import (
    Attempt,
    Block,
    Campaign,
    Cell,
    Exclusion,
    LogLine,
    Run,
    Session,
)
from campaigns.plan import Design, Plan, plan_runs
from campaigns.results import release_leases

MOST_RUNS_EVER = 20_000


class NotPossible(ValueError):
    """The campaign or run is not in a state for it; the message says which one it is in."""


@transaction.atomic
def launch(campaign: Campaign, user: User | None) -> Campaign:
    """Lock the definition, plan the runs and open the campaign for dispatch."""
    campaign = _locked(campaign)
    require_draft(campaign)
    _require_executable(campaign)
    _lock_open_runs(campaign)
    if campaign.runs.filter(attempts__state__in=Attempt.OPEN).exists():
        raise NotPossible("A try-out run is going on; launch when it has ended.")
    campaign.runs.filter(state=Run.State.PLANNED).update(
        state=Run.State.CANCELLED, reason="launched before it began", finished_at=Now()
    )
    session = _new_session(campaign, Session.Kind.LAUNCH, user)
    plan = plan_runs(design_of(campaign), session=_planned_sessions(campaign))
    _store(campaign, session, plan)
    campaign.state = Campaign.State.RUNNING
    campaign.launched_at = Now()
    campaign.save(update_fields=["state", "launched_at"])
    _log(
        campaign,
        f"launched: {len(plan.runs)} runs, order {campaign.order}, seed {campaign.seed}, "
        f"by {_name(user)}",
    )
    return _fresh(campaign)


@transaction.atomic
def extend(campaign: Campaign, blocks: int, user: User | None) -> Campaign:
    """Add repetitions to a launched campaign, in a session of their own."""
    campaign = _locked(campaign)
    possible = (Campaign.State.RUNNING, Campaign.State.PAUSED, Campaign.State.FINISHED)
    if campaign.state not in possible:
        raise NotPossible(
            f"Only a launched campaign can be extended; this one is {campaign.state}."
        )
    _require_executable(campaign)
    if not 1 <= blocks <= 200:
        raise NotPossible("Extend by 1 to 200 repetitions.")
    last = campaign.runs.exclude(purpose=Run.Purpose.TRIAL).aggregate(
        last_position=Max("position"),
        last_block=Max("block__number"),
        last_repetition=Max("block__repetition"),
    )
    session = _new_session(campaign, Session.Kind.EXTENSION, user)
    design = design_of(campaign, repetitions=blocks, warm_ups=0)
    plan = plan_runs(
        design,
        session=_planned_sessions(campaign),
        first_repetition=(last["last_repetition"] or 0) + 1,
        first_position=(last["last_position"] or 0) + 1,
        first_block=(last["last_block"] or 0) + 1,
    )
    if (last["last_position"] or 0) + len(plan.runs) > MOST_RUNS_EVER:
        raise NotPossible(f"A campaign has at most {MOST_RUNS_EVER:,} runs.")
    _store(campaign, session, plan)
    campaign.repetitions = F("repetitions") + blocks
    if campaign.state == Campaign.State.FINISHED:
        campaign.state = Campaign.State.RUNNING
        campaign.closed_at = None
    campaign.save(update_fields=["repetitions", "state", "closed_at"])
    _log(
        campaign,
        f"extended by {_name(user)}: {blocks} more repetitions, {len(plan.runs)} more runs",
    )
    return _fresh(campaign)


@transaction.atomic
def try_one(campaign: Campaign, user: User | None, cell: Cell | None = None) -> Run:
    """Plan one run of a draft that no analysis will ever see."""
    campaign = _locked(campaign)
    require_draft(campaign)
    _require_executable(campaign)
    if campaign.runs.filter(state__in=[Run.State.PLANNED, Run.State.RUNNING]).exists():
        raise NotPossible("A try-out run is waiting or going on already.")
    if cell is None:
        cell = campaign.cells.order_by("position")[0]
    last = campaign.runs.aggregate(Max("position"))["position__max"] or 0
    session = campaign.sessions.filter(kind=Session.Kind.TRIAL).first()
    if session is None:
        session = _new_session(campaign, Session.Kind.TRIAL, user)
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
    _log(campaign, f"try-out of {str(cell) or 'the only cell'} asked for by {_name(user)}", run)
    return run


@transaction.atomic
def pause(campaign: Campaign, user: User | None = None) -> Campaign:
    """Begin no further run; the one that is going on ends as planned."""
    text = f"paused by {_name(user)}; a run that is on ends as planned"
    return _move(campaign, Campaign.State.RUNNING, Campaign.State.PAUSED, text)


@transaction.atomic
def resume(campaign: Campaign, user: User | None = None) -> Campaign:
    """Go on after a pause."""
    text = f"resumed by {_name(user)}"
    return _move(campaign, Campaign.State.PAUSED, Campaign.State.RUNNING, text)


@transaction.atomic
def cancel(campaign: Campaign, reason: str, user: User | None = None) -> Campaign:
    """End a campaign: what is planned is cancelled, what is going on is told to stop."""
    campaign = _locked(campaign)
    if campaign.state not in (Campaign.State.RUNNING, Campaign.State.PAUSED):
        raise NotPossible(
            f"Only a running or paused campaign can be cancelled; it is {campaign.state}."
        )
    reason = reason.strip() or "no reason given"
    campaign.state = Campaign.State.CANCELLING
    campaign.state_reason = reason
    campaign.save(update_fields=["state", "state_reason"])
    _lock_open_runs(campaign)
    open_attempts = Attempt.objects.filter(run__campaign=campaign, state__in=Attempt.OPEN)
    _withdraw_queued(open_attempts, reason)
    open_attempts.update(cancel_requested_at=Now())
    campaign.runs.filter(state=Run.State.PLANNED).update(
        state=Run.State.CANCELLED, reason=reason, finished_at=Now()
    )
    _log(campaign, f"cancelled by {_name(user)}: {reason}", tone=LogLine.Tone.BAD)
    return _fresh(campaign)


@transaction.atomic
def cancel_run(run: Run, reason: str, user: User | None = None) -> Run:
    """End one run; the campaign goes on without it."""
    run = _locked_run(run)
    if run.state in Run.CLOSED:
        raise NotPossible(f"Run {run.position} is {run.state} already.")
    reason = reason.strip() or "no reason given"
    open_attempts = run.attempts.filter(state__in=Attempt.OPEN)
    _withdraw_queued(open_attempts, reason)
    if open_attempts.update(cancel_requested_at=Now()):
        done = "is told to stop"
        run.reason = reason
        run.save(update_fields=["reason"])
    else:
        done = "cancelled"
        run.state, run.reason, run.finished_at = Run.State.CANCELLED, reason, Now()
        run.save(update_fields=["state", "reason", "finished_at"])
    text = f"run {run.position} {done} by {_name(user)}: {reason}"
    _log(run.campaign, text, run, LogLine.Tone.BAD)
    return Run.objects.get(pk=run.pk)


@transaction.atomic
def run_again(run: Run, user: User | None) -> Run:
    """Plan a failed or void run once more; its former attempts stay on record."""
    run = _locked_run(run)
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
    _require_executable(campaign)
    _log(
        campaign,
        f"run {run.position}, {run.state} ({run.reason}), is run again by {_name(user)}",
        run,
        LogLine.Tone.BAD,
    )
    run.state, run.reason, run.started_at, run.finished_at = Run.State.PLANNED, "", None, None
    run.attempts_allowed = run.attempts.filter(interrupted_at=None).count() + 1
    run.save(update_fields=["state", "reason", "started_at", "finished_at", "attempts_allowed"])
    if campaign.state == Campaign.State.FINISHED:
        campaign.state, campaign.closed_at = Campaign.State.RUNNING, None
        campaign.save(update_fields=["state", "closed_at"])
    return run


@transaction.atomic
def exclude(run: Run, user: User | None, reason: str) -> Exclusion:
    """Take a run out of the analysis, by name and with a reason; it stays visible."""
    if not reason.strip():
        raise NotPossible("Say why the run is excluded.")
    run = _locked_run(run)
    if run.purpose != Run.Purpose.MEASURED:
        raise NotPossible(f"A {run.get_purpose_display()} run is in no analysis anyway.")
    if run.state not in Run.CLOSED:
        raise NotPossible(f"Run {run.position} is {run.state}; only a closed run is excluded.")
    if run.exclusions.filter(withdrawn_at=None).exists():
        raise NotPossible(f"Run {run.position} is excluded already.")
    text = f"run {run.position} excluded by {_name(user)}: {reason.strip()}"
    _log(run.campaign, text, run, LogLine.Tone.BAD)
    return Exclusion.objects.create(run=run, user=user, reason=reason.strip())


@transaction.atomic
def include(run: Run, user: User | None = None) -> None:
    """Withdraw the exclusion of a run; the record of it stays."""
    if not run.exclusions.filter(withdrawn_at=None).update(withdrawn_at=Now()):
        raise NotPossible(f"Run {run.position} is not excluded.")
    text = f"run {run.position} counts again, says {_name(user)}"
    _log(run.campaign, text, run, LogLine.Tone.BAD)


def design_of(
    campaign: Campaign, *, repetitions: int | None = None, warm_ups: int | None = None
) -> Design:
    """Read a stored campaign's design."""
    return Design(
        factors={
            factor.name: [level.value for level in factor.levels.all()]
            for factor in campaign.factors.prefetch_related("levels")
        },
        order=campaign.order,
        repetitions=campaign.repetitions if repetitions is None else repetitions,
        seed=campaign.seed,
        excluded=campaign.excluded,
        paired_factor=campaign.paired_factor,
        warm_ups=campaign.warm_ups if warm_ups is None else warm_ups,
    )


def _locked(campaign: Campaign) -> Campaign:
    return Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)


def _locked_run(run: Run) -> Run:
    """Lock the campaign of a run, then the run: the order of everybody."""
    campaign = _locked(run.campaign)
    run = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
    run.campaign = campaign
    return run


def _lock_open_runs(campaign: Campaign) -> None:
    """Let no run of a campaign be queued or claimed until the transaction ends."""
    list(
        campaign.runs.select_for_update(no_key=True)
        .filter(state__in=[Run.State.PLANNED, Run.State.RUNNING])
        .values_list("pk")
    )


def _fresh(campaign: Campaign) -> Campaign:
    return Campaign.objects.get(pk=campaign.pk)


def _require_executable(campaign: Campaign) -> None:
    try:
        executable = driver_of(campaign.kind).executable
    except UnknownKind as error:
        raise NotPossible(f"{error} Install the package that brings it.") from None
    if not executable or campaign.target is None:
        raise NotPossible("The runs of this campaign come from outside; it cannot be executed.")
    if campaign.target.retired_at is not None:
        raise NotPossible(f"The target was retired: {campaign.target.name}. Clone the campaign.")
    try:
        network.check_url(campaign.target.base_url, rules_for(campaign.target))
    except network.NetworkError as error:
        raise NotPossible(str(error)) from None


def _new_session(campaign: Campaign, kind: Session.Kind, user: User | None) -> Session:
    last = campaign.sessions.aggregate(Max("number"))["number__max"] or 0
    return Session.objects.create(campaign=campaign, number=last + 1, kind=kind, user=user)


def _planned_sessions(campaign: Campaign) -> int:
    """Count what the order of runs depends on beside the seed; a try-out changes no order."""
    return campaign.sessions.exclude(kind=Session.Kind.TRIAL).count()


def _store(campaign: Campaign, session: Session, plan: Plan) -> None:
    blocks = {
        block.number: block
        for block in Block.objects.bulk_create(
            (
                Block(
                    campaign=campaign,
                    session=session,
                    number=planned.number,
                    repetition=planned.repetition,
                    stratum=planned.stratum,
                )
                for planned in plan.blocks
            ),
            batch_size=1000,
        )
    }
    cells = list(campaign.cells.order_by("position"))
    Run.objects.bulk_create(
        (
            Run(
                campaign=campaign,
                cell=cells[planned.cell],
                block=blocks[planned.block],
                position=planned.position,
                purpose=Run.Purpose.WARM_UP if planned.warm_up else Run.Purpose.MEASURED,
            )
            for planned in plan.runs
        ),
        batch_size=1000,
    )


def _move(campaign: Campaign, before: Campaign.State, after: Campaign.State, text: str) -> Campaign:
    if not Campaign.objects.filter(pk=campaign.pk, state=before).update(state=after):
        now = _fresh(campaign)
        raise NotPossible(f"The campaign is {now.state}, not {before.value}.")
    _log(campaign, text)
    return _fresh(campaign)


def _withdraw_queued(attempts: QuerySet[Attempt], reason: str) -> None:
    """Cancel attempts that nobody has claimed, and give their leases back."""
    queued = dict(attempts.filter(state=Attempt.State.QUEUED).values_list("pk", "run_id"))
    Attempt.objects.filter(pk__in=queued).update(
        state=Attempt.State.CANCELLED, reason=reason, finished_at=Now()
    )
    Run.objects.filter(pk__in=queued.values()).update(
        state=Run.State.CANCELLED, reason=reason, finished_at=Now()
    )
    release_leases(queued)


def _name(user: User | None) -> str:
    return user.get_username() if user else "perfdash"


def _log(
    campaign: Campaign, text: str, run: Run | None = None, tone: str = LogLine.Tone.PLAIN
) -> None:
    LogLine.objects.create(campaign=campaign, run=run, text=text, tone=tone)
