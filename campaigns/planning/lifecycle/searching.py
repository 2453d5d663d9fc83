"""Plan the next run of a search for capacity. The campaign must be locked."""

from datetime import timedelta

from django.db.models import Max
from django.db.models.functions import Now

from campaigns.kit.mappings import Levels
from campaigns.models import Block, Campaign, Cell, Factor, Level, Run, Session
from campaigns.planning.lifecycle.rows import log
from campaigns.stats.capacity_search import Phase, Step

PHASES = {
    Phase.EXPLORE: Block.Phase.EXPLORE,
    Phase.CONFIRM: Block.Phase.CONFIRM,
    Phase.CHECK: Block.Phase.CHECK,
}
LEAST_PAUSE_SECONDS = 10.0
"""Of a further check of recovery: twice this, then four times."""


def add_run(campaign: Campaign, step: Step, load: str, setting: Levels, text: str) -> Run:
    """Plan the run of a step, with the level, the cell and the block that it needs."""
    if step.phase is None:
        raise ValueError("The search has ended.")
    cell = _cell(campaign, load, setting, step.load)
    planned = campaign.runs.exclude(purpose=Run.Purpose.TRIAL)
    last = planned.aggregate(last=Max("position"))["last"] or 0
    check = step.phase == Phase.CHECK
    run = Run.objects.create(
        campaign=campaign,
        cell=cell,
        block=_block(campaign, step),
        position=last + 1,
        purpose=Run.Purpose.WARM_UP if check else Run.Purpose.MEASURED,  # no analysis has checks
        **({"attempts_allowed": 1} if check else {}),
    )
    if check and step.checks:
        pause = max(campaign.cool_down_seconds, LEAST_PAUSE_SECONDS) * 2**step.checks
        Campaign.objects.filter(pk=campaign.pk).update(not_before=Now() + timedelta(seconds=pause))
    log(campaign, text, run)
    return run


def _block(campaign: Campaign, step: Step) -> Block:
    """Return the block of a step. Its repetition is its number within its phase, from 1; checks of recovery share one."""
    phase = PHASES[step.phase] if step.phase else Block.Phase.NONE
    repetition = 0 if phase == Block.Phase.CHECK else step.block + 1
    session = campaign.sessions.exclude(kind=Session.Kind.TRIAL).order_by("-number")[0]
    blocks = campaign.blocks.exclude(session__kind=Session.Kind.TRIAL)
    block = blocks.filter(phase=phase, repetition=repetition).first()
    if block is not None:
        return block
    number = (blocks.aggregate(last=Max("number"))["last"] or 0) + 1
    return Block.objects.create(
        campaign=campaign, session=session, number=number, repetition=repetition, phase=phase
    )


def _cell(campaign: Campaign, load: str, setting: Levels, value: float) -> Cell:
    """Return the cell of a setting at a load; it is made where the search comes to it first."""
    level = int(value)
    names = list(campaign.factors.values_list("name", flat=True))
    levels = {name: level if name == load else setting[name] for name in names}
    for cell in campaign.cells.all():
        if cell.levels_by_factor == levels:
            return cell
    last = campaign.cells.aggregate(last=Max("position"))["last"] or 0
    cell = Cell.objects.create(campaign=campaign, position=last + 1, levels_by_factor=levels)
    factor = campaign.factors.get(name=load)
    cell.levels.add(_level(factor, level))
    for other in campaign.factors.exclude(name=load).prefetch_related("levels"):
        cell.levels.add(*(each for each in other.levels.all() if each.value == setting[other.name]))
    return cell


def _level(factor: Factor, value: int) -> Level:
    """Return a level of the load; levels stand in the order of their values."""
    levels = list(factor.levels.all())
    for level in levels:
        if level.value == value:
            return level
    made = Level.objects.create(
        factor=factor, position=1 + max((each.position for each in levels), default=0), value=value
    )
    ordered = sorted([*levels, made], key=lambda each: float(each.value))
    beyond = 1 + max(each.position for each in ordered)
    for start in (beyond, 1):  # positions are unique at every moment
        for place, each in enumerate(ordered):
            each.position = start + place
        Level.objects.bulk_update(ordered, ["position"])
    return made
