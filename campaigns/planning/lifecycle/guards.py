"""Conditions that must hold before anything loads a target."""

from collections.abc import Sequence
from itertools import combinations

from campaigns.kinds.base.values import driver_levels
from campaigns.kinds.program.stored import why_not_run
from campaigns.kinds.registry import UnknownKind, driver_of
from campaigns.kit import network
from campaigns.kit.database_clock import database_now
from campaigns.kit.errors import NotConfirmed, NotPossible
from campaigns.kit.owners import quoted_target
from campaigns.models import Campaign, Cell, Target
from campaigns.planning.carried import why_permission
from campaigns.planning.limits import excess_at
from campaigns.planning.search import search_of
from campaigns.planning.stopper import no_one_to_stop, who_stops
from campaigns.targets import overload
from campaigns.targets.allowed import allowed_on, allowed_on_each
from campaigns.targets.saving import rules_for


def require_executable(campaign: Campaign) -> None:
    """Raise NotPossible where no worker could execute a run of the campaign on its target."""
    try:
        driver = driver_of(campaign.kind)
    except UnknownKind as error:
        raise NotPossible(f"{error} Install the package that brings it.") from None
    if not driver.executable or campaign.target is None:
        raise NotPossible("The runs of this campaign come from outside; it cannot be executed.")
    if why := why_not_run(campaign.kind):
        raise NotPossible(why)
    targets = campaign.targets
    if gone := [target.name for target in targets if target.retired_at is not None]:
        raise NotPossible(f"The target was retired: {gone[0]}. Clone the campaign.")
    require_apart(targets)
    try:
        for target in targets:
            network.check_url(target.base_url, rules_for(target), network.SCHEMES)
    except network.NetworkError as error:
        raise NotPossible(str(error)) from None
    limits = allowed_on_each(targets)
    for cell in campaign.cells.order_by("position"):
        allowed = limits[cell.target_id or campaign.target.pk]
        levels = driver_levels(cell.levels_by_factor)
        if excess := excess_at(allowed, driver, campaign.parameters, levels):
            raise NotPossible(excess)


def require_overload(campaign: Campaign, cells: Sequence[Cell] | None = None) -> None:
    """Raise NotPossible where the campaign may overload a target whose owner has not allowed that. cells: by default all."""
    reasons = why_permission(campaign, cells)
    now = database_now() if reasons else None
    for target in campaign.targets:
        because = reasons.get(target.pk)
        if because and now and (why := overload.why_never(target, now, because)):
            raise NotPossible(why)
    require_watched_search(campaign)


def require_watched_search(campaign: Campaign) -> None:
    """Raise NotPossible where a search would load a production server without a limit of failures, or nobody to stop it."""
    search, target = search_of(campaign.search), campaign.target
    if search is None or target is None or allowed_on(target).production is None:
        return
    if search.most_failed is None or not search.person:
        raise NotPossible(
            f"“{target.name}” is a production server: a search needs `most_failed`, the work that may fail in all its runs "
            "together, and `person`, the account of who is to stop it."
        )
    if who_stops(search, campaign.team) is None:
        raise NotPossible(no_one_to_stop(search, campaign.team))


def require_apart(targets: Sequence[Target]) -> None:
    """Raise NotPossible where two targets of a campaign turned out to be one server since it was designed."""
    for one, other in combinations(targets, 2):
        if one.address == other.address:
            raise NotPossible(
                f"“{one.name}” and “{other.name}” are the same server ({one.address}); nothing "
                "can be compared between them. Clone the campaign with one of them."
            )


def require_confirmed(campaign: Campaign, confirmed_name: str) -> None:
    """Raise NotConfirmed where a production server would be loaded and its name was not typed."""
    marked = _marked(campaign)
    name = ", ".join(target.name for target, _ in marked)
    if not name or confirmed_name == name:
        return
    if len(marked) > 1:
        raise NotConfirmed(
            f"“{name}” are production servers, which others depend on. Confirm the load by their "
            "exact names, with commas between them."
        )
    target, production = marked[0]
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
    """Return the target that marks a server of the campaign as a production server; None where none does."""
    return next((production for _, production in _marked(campaign)), None)


def name_to_confirm(campaign: Campaign) -> str:
    """Return what has to be typed: the names of its production servers; empty where it loads none."""
    return ", ".join(target.name for target, _ in _marked(campaign))


def _marked(campaign: Campaign) -> list[tuple[Target, Target]]:
    """Return the production servers of a campaign, each with the target that marks it."""
    targets = campaign.targets
    limits = allowed_on_each(targets)
    marks = [(target, limits[target.pk].production) for target in targets]
    return [(target, mark) for target, mark in marks if mark is not None]
