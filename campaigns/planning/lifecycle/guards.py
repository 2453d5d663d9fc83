"""Conditions that must hold before anything loads a target."""

from campaigns.kinds.base.values import driver_levels
from campaigns.kinds.registry import UnknownKind, driver_of
from campaigns.kit import network
from campaigns.kit.database_clock import database_now
from campaigns.kit.errors import NotConfirmed, NotPossible
from campaigns.kit.owners import quoted_target
from campaigns.models import Campaign, Target
from campaigns.planning.limits import excess_at
from campaigns.targets import overload
from campaigns.targets.allowed import allowed_on
from campaigns.targets.saving import rules_for


def require_executable(campaign: Campaign) -> None:
    """Raise NotPossible where no worker could execute a run of the campaign on its target."""
    try:
        driver = driver_of(campaign.kind)
    except UnknownKind as error:
        raise NotPossible(f"{error} Install the package that brings it.") from None
    if not driver.executable or campaign.target is None:
        raise NotPossible("The runs of this campaign come from outside; it cannot be executed.")
    if campaign.target.retired_at is not None:
        raise NotPossible(f"The target was retired: {campaign.target.name}. Clone the campaign.")
    try:
        network.check_url(campaign.target.base_url, rules_for(campaign.target))
    except network.NetworkError as error:
        raise NotPossible(str(error)) from None
    allowed = allowed_on(campaign.target)
    for levels in campaign.cells.order_by("position").values_list("levels_by_factor", flat=True):
        if excess := excess_at(allowed, driver, campaign.parameters, driver_levels(levels)):
            raise NotPossible(excess)


def require_overload(campaign: Campaign) -> None:
    """Raise NotPossible where the campaign searches for capacity on a target that nothing may overload."""
    if not campaign.search or campaign.target is None:
        return
    if why := overload.why_never(campaign.target, database_now()):
        raise NotPossible(why)


def require_confirmed(campaign: Campaign, confirmed_name: str) -> None:
    """Raise NotConfirmed where a production server would be loaded and its name was not typed."""
    target = campaign.target
    production = production_server(campaign)
    if target is None or production is None or confirmed_name == target.name:
        return
    typed = (
        f"“{confirmed_name:.60}” is not its name." if confirmed_name else "Nobody typed its name."
    )
    also = (
        ""
        if production == target
        else f" (it is the same server as {quoted_target(production, target.team_id)})"
    )
    raise NotConfirmed(
        f"“{target.name}” is a production server{also}, which others depend on. {typed} Confirm the "
        "load by its exact name."
    )


def production_server(campaign: Campaign) -> Target | None:
    """Return the target that marks the campaign's server as a production server; None where none does."""
    return allowed_on(campaign.target).production if campaign.target else None
