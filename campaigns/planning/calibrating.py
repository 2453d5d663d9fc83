"""Make an A/A draft from any campaign: a single setting under two blind labels."""

from dataclasses import replace
from random import SystemRandom

from django.contrib.auth.models import User

from campaigns.kinds.base import Driver
from campaigns.kinds.base.values import BLIND_LABEL, BLIND_LEVELS
from campaigns.kinds.registry import UnknownKind, driver_of
from campaigns.kit.errors import Invalid
from campaigns.kit.mappings import Levels
from campaigns.models import Campaign, Target
from campaigns.planning import drafts, storage
from campaigns.planning.checking import CheckedDefinition, check
from campaigns.planning.configurations import run_values
from campaigns.planning.plan import cells_of

PAIRS = 10
TAG = "A/A"


def question_of(target: str) -> str:
    """Return the question of an A/A campaign."""
    return f"How large a difference does {target} show between identical runs?"


def require_executable(kind: str, target: Target | None) -> tuple[Driver, Target]:
    """Raise Invalid for a kind whose runs come from outside, or that is not installed."""
    try:
        driver = driver_of(kind)
    except UnknownKind as error:
        raise Invalid({"kind": [str(error)]}) from None
    if target is None or not driver.executable:
        raise Invalid({"kind": [f"Runs of {driver.label} come from outside; nothing can be made."]})
    return driver, target


def calibration_of(definition: CheckedDefinition) -> CheckedDefinition:
    """Return the A/A campaign of a definition: of its baseline, else of its first cell.

    Raise Invalid for a kind whose runs come from outside.
    """
    cell = _cell(definition)
    driver, target = require_executable(definition.campaign.kind, definition.target_at(cell))
    calibration = definition.changed(
        target=target,
        question=question_of(target.name),
        name=f"A/A: {driver.label} on {target.name}"[:120],
        parameters=run_values(definition.campaign, cell),
        configurations=None,
        excluded=[],
        order=Campaign.Order.PAIRED,
        paired_factor=BLIND_LABEL,
        baseline=BLIND_LEVELS[0],
        repetitions=PAIRS,
        time_budget_seconds=None,
        seed=SystemRandom().randrange(2**31),
        stop_rule=Campaign.StopRule.FIXED,
        primary_contrast=None,
        criterion={},
        search=None,
        tags=list(dict.fromkeys([*definition.campaign.tags, TAG])),
    )
    factors = {BLIND_LABEL: BLIND_LEVELS}
    return replace(calibration, factors=factors, hard_to_change=(), roles={}, targets=(target,))


def calibrate(campaign: Campaign, author: User | None) -> Campaign:
    """Store the draft of an A/A campaign like this one. Raise Invalid."""
    require_executable(campaign.kind, campaign.target)
    definition = calibration_of(check(storage.definition_of(campaign)))
    return drafts.create(definition, author, clone_of=campaign)


def _cell(definition: CheckedDefinition) -> Levels:
    """Return the first cell at the baseline of the pairs, or of the primary contrast."""
    wanted: Levels = {}
    if definition.campaign.paired_factor:
        wanted = {definition.campaign.paired_factor: definition.campaign.baseline}
    elif contrast := definition.campaign.primary_contrast:
        wanted = {**contrast["at"], contrast["factor"]: contrast["baseline"]}
    cells = cells_of(definition.design)
    fitting = (cell for cell in cells if all(cell[name] == wanted[name] for name in wanted))
    return next(fitting, cells[0])
