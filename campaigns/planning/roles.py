"""The role of each factor: what its levels are, and so which cells may be compared.

The kind of test declares the roles of its parameters; a campaign may declare one as load where the kind
allows that (`Driver.may_be_load`). Submitted factors have the role that came with them.
"""

from collections.abc import Mapping

from campaigns.kinds.base import Driver
from campaigns.models import Campaign, Factor
from campaigns.planning.metrics import driver_if_known

Role = Factor.Role


def role_in(driver: Driver | None, name: str) -> Role:
    """Return the role that a kind declares for a factor. Load comes first: it is work besides."""
    if driver is None:
        return Role.SETTING
    if name in driver.load:
        return Role.LOAD
    if name in driver.work:
        return Role.WORK
    return Role.INSTRUMENT if name in driver.instruments else Role.SETTING


def roles_of(campaign: Campaign) -> Mapping[str, Role]:
    """Return the roles of a campaign's factors by name, in their order.

    A stored role counts where one is stored; campaigns of before roles were stored have those of their kind.
    """
    driver = driver_if_known(campaign.kind)
    return {
        factor.name: Role(factor.role) if factor.role else role_in(driver, factor.name)
        for factor in campaign.factors.all()
    }


def loads_of(campaign: Campaign) -> tuple[str, ...]:
    """Return the factors that are load, in their order: their levels are never ranked or judged against each other."""
    return _with(campaign, Role.LOAD)


def work_of(campaign: Campaign) -> tuple[str, ...]:
    """Return the parameters and factors that say what work is done: cells that differ in one are not compared."""
    driver = driver_if_known(campaign.kind)
    declared = driver.work if driver else ()
    return tuple(dict.fromkeys((*declared, *_with(campaign, Role.WORK))))


def _with(campaign: Campaign, role: Role) -> tuple[str, ...]:
    return tuple(name for name, each in roles_of(campaign).items() if each == role)
