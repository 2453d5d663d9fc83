"""The names of production servers, which a person types before they are loaded."""

from campaigns.kit.errors import NotConfirmed
from campaigns.models import Campaign, Target
from campaigns.targets.allowed import allowed_on_each
from campaigns.targets.names import quoted_target


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
