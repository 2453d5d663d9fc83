"""What the compare page is written from. Computed by campaigns.analysis; here it is put in order."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from campaigns.analysis.compared import Compared, compare_campaigns, compare_chosen
from campaigns.analysis.compared_answer import answer_of
from campaigns.analysis.compared_names import Names
from campaigns.models import Campaign
from campaigns.queries.compared import Side, sides_of
from campaigns.web.compare_address import Address
from campaigns.web.compare_choice import cell_fields, chosen_of, metric_field, offered
from campaigns.web.compare_plot import compare_plot
from campaigns.web.compare_tables import environment_of, tables_of


def context(address: Address, text: str) -> dict[str, Any]:
    """Everything; text: what is looked for among the campaigns that are offered."""
    sides = sides_of(address.all_campaigns, address.metric)
    address, wrong = _cleaned(address, sides)
    unusable = {side.campaign.pk: why for side in sides if (why := _unusable(side))}
    shown: dict[str, Any] = {
        "address": address,
        "problems": [*address.wrong, *wrong, *unusable.values()],
        "text": text,
        "offered": offered(text, address.all_campaigns, sides),
    }
    if not sides:
        return shown
    names, usable = Names(sides), [side for side in sides if side.campaign.pk not in unusable]
    shown |= {
        "chosen": chosen_of(address, sides, names, unusable),
        "cell_fields": cell_fields(address, usable),
        "metric_field": metric_field(usable[0]) if usable else None,
    }
    found = _compared(address, usable)
    if found is None:
        return shown
    return shown | {
        "compared": found,
        "answer": answer_of(found),
        "plot": compare_plot(found),
        "tables": tables_of(found),
        "environment": environment_of(found),
        "delta": f"{100 * found.criteria.delta:g} %",
        "margin": f"{100 * found.criteria.margin:g} %",
        "of_one_campaign": bool(address.cells) and len(found.measured) < len(address.cells),
    }


def compared_of(address: Address) -> Compared | None:
    """The comparison alone; None where there is nothing to compare."""
    sides = sides_of(address.all_campaigns, address.metric)
    address, _ = _cleaned(address, sides)
    return _compared(address, [side for side in sides if not _unusable(side)])


def _cleaned(address: Address, sides: Sequence[Side]) -> tuple[Address, list[str]]:
    """Leave out what there is not, so that no link keeps it; say so."""
    known = {side.campaign.pk: side for side in sides}
    lost = [str(key) for key in address.all_campaigns if key not in known]
    wrong = [f"There is no campaign {', '.join(lost)}."] if lost else []
    cells = []
    for campaign, key in address.cells:
        side = known.get(campaign)
        if side is None:
            continue
        if side.cells is not None and key not in {cell["cell"] for cell in side.cells["cells"]}:
            wrong.append(f"“{side.campaign.name}” has no cell {key}.")
        else:
            cells.append((campaign, key))
    kept = tuple(key for key in address.campaigns if key in known)
    if address.cells and not cells:
        kept = tuple(known)
    return replace(address, campaigns=kept, cells=tuple(cells)), wrong


def _unusable(side: Side) -> str:
    """Say why a campaign cannot be compared now; empty where it can."""
    campaign = side.campaign
    if campaign.state == Campaign.State.DRAFT:
        return f"“{campaign.name}” is a draft: it has no runs to compare. Launch it first."
    if campaign.state in Campaign.ACTIVE:
        return (
            f"“{campaign.name}” is still measured: nothing is judged before its stop rule says so. "
            "It can be compared when it is finished."
        )
    if side.cells is not None:
        return ""
    if campaign.analysis_requested_at is not None:
        return f"“{campaign.name}” is being analysed. Load this page again in a moment."
    return f"“{campaign.name}” has no findings: nothing of it was analysed."


def _compared(address: Address, sides: Sequence[Side]) -> Compared | None:
    if not address.cells:
        return compare_campaigns(sides) if len(sides) > 1 else None
    by_key = {side.campaign.pk: _by_key(side) for side in sides}
    chosen = [(campaign, cell) for campaign, cell in address.cells if campaign in by_key]
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
