"""Compares what somebody chose among campaigns that can be compared."""

from collections.abc import Mapping, Sequence
from typing import Any

from campaigns.findings.compare_choice import Choice
from campaigns.findings.compared import Side
from campaigns.findings.compute.compared import Compared, compare_campaigns, compare_chosen


def compare(choice: Choice, sides: Sequence[Side]) -> Compared | None:
    """Compare chosen cells, or whole campaigns; None where there are not two. sides: usable ones."""
    if not choice.cells:
        return compare_campaigns(sides) if len(sides) > 1 else None
    by_key = {side.campaign.pk: _by_key(side) for side in sides}
    chosen = [(campaign, cell) for campaign, cell in choice.cells if campaign in by_key]
    if len(chosen) < 2:
        return None
    owners = list(dict.fromkeys(campaign for campaign, _ in chosen))
    ordered = sorted(
        (side for side in sides if side.campaign.pk in owners),
        key=lambda side: owners.index(side.campaign.pk),
    )
    return compare_chosen(
        ordered, [(owners.index(campaign), by_key[campaign][cell]) for campaign, cell in chosen]
    )


def _by_key(side: Side) -> dict[int, Mapping[str, Any]]:
    return {cell["cell"]: cell for cell in (side.cells or {"cells": ()})["cells"]}
