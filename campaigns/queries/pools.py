"""Which pools of workers a run needs: one that measures, and those of its generators."""

from collections.abc import Mapping
from typing import Any

from campaigns.drivers import UnknownKind, driver_of
from campaigns.drivers.base.generating import POOL, read_pools
from campaigns.models import Campaign, Run


def generator_pools(run: Run) -> frozenset[str]:
    """The pools of a run's generators; none where its worker generates the load itself."""
    return _of(run.campaign, {**run.campaign.parameters, **run.cell.levels_by_factor})


def needed_pools(campaign: Campaign) -> frozenset[str]:
    """Every pool without which some of the campaign's runs cannot begin."""
    if not _can_be_several(campaign):
        return frozenset({campaign.pool})
    levels = [
        {"generators": level.value}
        for factor in campaign.factors.filter(name="generators").prefetch_related("levels")
        for level in factor.levels.all()
    ]
    found = [_of(campaign, campaign.parameters | level) for level in levels or [{}]]
    return frozenset({campaign.pool}).union(*found)


def _can_be_several(campaign: Campaign) -> bool:
    try:
        return driver_of(campaign.kind).generators
    except UnknownKind:
        return False


def _of(campaign: Campaign, values: Mapping[str, Any]) -> frozenset[str]:
    if not _can_be_several(campaign) or values.get("generators", 1) < 2:
        return frozenset()
    return frozenset(read_pools(values.get("generator_pools") or POOL))
