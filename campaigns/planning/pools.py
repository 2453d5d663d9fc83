"""Return the pools of workers that a run needs: one that measures, and those of its generators."""

from django.core.exceptions import ValidationError

from campaigns.kinds.base.generating import POOL, read_pools
from campaigns.kinds.registry import UnknownKind, driver_of
from campaigns.kit.mappings import FieldValues
from campaigns.kit.messages import ANALYSIS
from campaigns.models import Campaign, Run
from campaigns.planning.workers import present_by_pool

MEASURE = "measure"
OTHERS = frozenset({POOL, "control", ANALYSIS})
"""Queues whose workers measure nothing."""


def measuring_pools() -> list[str]:
    """Return the names of the pools with a worker that may measure."""
    return sorted(present_by_pool().keys() - OTHERS)


def check_measuring_pool(name: str) -> None:
    """Raise ValidationError for an invalid name, several names, or a pool whose workers do not measure."""
    read_pools(name)
    if "," in name:
        raise ValidationError("Name one pool; a run is measured by one worker.")
    if name in OTHERS:
        raise ValidationError(f"The workers of “{name}” do not measure; name another pool.")


def generator_pools(run: Run) -> frozenset[str]:
    """Return the pools of a run's generators; none where its worker generates the load itself."""
    return _of(run.campaign, {**run.campaign.parameters, **run.cell.levels_by_factor})


def needed_pools(campaign: Campaign) -> frozenset[str]:
    """Return all pools that the runs of the campaign need."""
    if not _can_be_several(campaign):
        return frozenset({campaign.pool})
    levels = [
        {"generators": level.value}
        for factor in campaign.factors.filter(name="generators").prefetch_related("levels")
        for level in factor.levels.all()
    ]
    results = [_of(campaign, campaign.parameters | level) for level in levels or [{}]]
    return frozenset({campaign.pool}).union(*results)


def _can_be_several(campaign: Campaign) -> bool:
    try:
        return driver_of(campaign.kind).generators
    except UnknownKind:
        return False


def _of(campaign: Campaign, values: FieldValues) -> frozenset[str]:
    if not _can_be_several(campaign) or values.get("generators", 1) < 2:
        return frozenset()
    return frozenset(read_pools(values.get("generator_pools") or POOL))
