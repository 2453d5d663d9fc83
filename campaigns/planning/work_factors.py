"""Factors that change what work is done: cells that differ in one are not compared."""

from campaigns.models import Campaign
from campaigns.planning.metrics import driver_if_known


def work_of(campaign: Campaign) -> tuple[str, ...]:
    """Return the names of the factors that its kind declares, and those submitted with its runs."""
    driver = driver_if_known(campaign.kind)
    declared = driver.work if driver else ()
    if driver is not None and driver.executable:
        return declared
    return (*declared, *(each.name for each in campaign.factors.all() if each.is_work))
