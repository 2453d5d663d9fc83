"""Turn a stored design into stored blocks and runs."""

from django.contrib.auth.models import User
from django.db.models import F, Max
from django.db.models.functions import Now

from campaigns.models import Block, Campaign, Factor, Run, Session
from campaigns.planning.lifecycle.rows import log
from campaigns.planning.plan import Design, Plan, plan_runs


def design_of(
    campaign: Campaign, *, repetitions: int | None = None, warm_ups: int | None = None
) -> Design:
    """Return the design of a stored campaign."""
    factors = list(campaign.factors.prefetch_related("levels"))
    return Design(
        factors={factor.name: [level.value for level in factor.levels.all()] for factor in factors},
        order=campaign.order,
        repetitions=campaign.repetitions if repetitions is None else repetitions,
        seed=campaign.seed,
        excluded=campaign.excluded,
        paired_factor=campaign.paired_factor,
        warm_ups=campaign.warm_ups if warm_ups is None else warm_ups,
        hard=tuple(factor.name for factor in factors if factor.hard_to_change),
        visited=next((each.name for each in factors if each.role == Factor.Role.TARGET), ""),
    )


def new_session(campaign: Campaign, kind: Session.Kind, user: User | None) -> Session:
    """Create the next session of a campaign."""
    last = campaign.sessions.aggregate(Max("number"))["number__max"] or 0
    return Session.objects.create(campaign=campaign, number=last + 1, kind=kind, user=user)


def planned_sessions(campaign: Campaign) -> int:
    """Return the number of planned sessions, which the order of runs depends on besides the seed. Try-outs do not count."""
    return campaign.sessions.exclude(kind=Session.Kind.TRIAL).count()


def store_plan(campaign: Campaign, session: Session, plan: Plan) -> None:
    """Store a plan as blocks and runs."""
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


def add_block(campaign: Campaign, text: str) -> None:
    """Plan one more repetition in the last session, for an adaptive stop rule. The campaign must be locked."""
    last = campaign.runs.exclude(purpose=Run.Purpose.TRIAL).aggregate(
        last_position=Max("position"),
        last_block=Max("block__number"),
        last_repetition=Max("block__repetition"),
    )
    repetition = (last["last_repetition"] or 0) + 1
    session = campaign.sessions.exclude(kind=Session.Kind.TRIAL).order_by("-number")[0]
    plan = plan_runs(
        design_of(campaign, repetitions=1, warm_ups=0),
        session=f"{planned_sessions(campaign)}/{repetition}",
        first_repetition=repetition,
        first_position=(last["last_position"] or 0) + 1,
        first_block=(last["last_block"] or 0) + 1,
    )
    store_plan(campaign, session, plan)
    for place in campaign.places.exclude(out_at=None):
        campaign.runs.filter(cell__target=place.target_id, state=Run.State.PLANNED).update(
            state=Run.State.CANCELLED, reason=f"{place.level} is out", finished_at=Now()
        )
    Campaign.objects.filter(pk=campaign.pk).update(repetitions=F("repetitions") + 1)
    log(campaign, f"block {repetition} is added: {text}")
