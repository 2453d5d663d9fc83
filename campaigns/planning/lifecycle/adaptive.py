"""Plan the next block of a campaign with an adaptive stop rule."""

from django.db.models import F, Max

from campaigns.models import Campaign, Run, Session
from campaigns.planning.lifecycle.planning import design_of, planned_sessions, store_plan
from campaigns.planning.lifecycle.rows import log
from campaigns.planning.plan import plan_runs


def add_block(campaign: Campaign, text: str) -> None:
    """Plan one more repetition in the last session. The campaign must be locked."""
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
    Campaign.objects.filter(pk=campaign.pk).update(repetitions=F("repetitions") + 1)
    log(campaign, f"block {repetition} is added: {text}")
