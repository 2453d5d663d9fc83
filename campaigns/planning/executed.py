"""What servers execute that the author of a campaign wrote, such as SQL, and whether an admin confirmed the rights that it has there."""

from collections.abc import Iterable, Sequence

from campaigns.kinds.base.values import driver_levels
from campaigns.kit.errors import NotPossible
from campaigns.kit.mappings import Levels, Parameters
from campaigns.models import Campaign, Cell, Target
from campaigns.planning.checking import Definition
from campaigns.planning.metrics import driver_if_known
from campaigns.planning.plan import possible_cells
from campaigns.targets.rights import ask_rights, is_confirmed, why_not_confirmed

Executed = list[tuple[Target, str]]
"""Targets, each with what it executes, such as SQL."""


def executed_by(campaign: Campaign, cells: Sequence[Cell] | None = None) -> Executed:
    """Return what the targets of a stored campaign execute; of some of its cells only."""
    if campaign.target is None:
        return []
    places = {target.pk: target for target in campaign.targets}
    rows = campaign.cells.order_by("position") if cells is None else cells
    each = ((places.get(row.target_id or 0, campaign.target), row.levels_by_factor) for row in rows)
    return _executed(campaign.kind, campaign.parameters, each)


def executed_in(definition: Definition) -> Executed:
    """Return what the targets of a definition execute."""
    design, campaign = definition.design, definition.campaign
    each = (
        (target, cell)
        for cell in possible_cells(design.factors, design.excluded)
        if (target := definition.target_at(cell)) is not None
    )
    return _executed(campaign.kind, campaign.parameters, each)


def _executed(
    kind: str, parameters: Parameters, cells: Iterable[tuple[Target, Levels]]
) -> Executed:
    driver = driver_if_known(kind)
    found: dict[int, tuple[Target, str]] = {}
    if driver is None:
        return []
    for target, levels in cells:
        if what := driver.executes({**parameters, **driver_levels(levels)}):
            found.setdefault(target.pk, (target, what))
    return list(found.values())


def ask_rights_of(kind: str, executed: Executed) -> None:
    """Ask the targets for the rights of their logins now, in no transaction: it takes seconds, and a refusal must not undo it."""
    if (driver := driver_if_known(kind)) is not None:
        for target, _ in executed:
            ask_rights(target, driver)


def why_not_executed(executed: Executed) -> list[str]:
    """Return why what the author wrote is not executed, by a sentence for each target without a confirmation that it needs."""
    return [
        why_not_confirmed(target, what, target.rights or ())
        for target, what in executed
        if not is_confirmed(target)
    ]


def require_rights(campaign: Campaign, cells: Sequence[Cell] | None = None) -> None:
    """Raise NotPossible where what the author wrote would have rights that no admin confirmed. cells: by default all."""
    if refused := why_not_executed(executed_by(campaign, cells)):
        raise NotPossible(" ".join(refused))
