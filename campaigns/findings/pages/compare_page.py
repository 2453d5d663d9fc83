"""Build the compare page from computed comparisons."""

from collections.abc import Set
from typing import Any

from campaigns.findings.compare_choice import there_is, why_unusable
from campaigns.findings.compared import sides_of
from campaigns.findings.compute.compared import Compared, compare
from campaigns.findings.compute.compared_answer import answer_of
from campaigns.findings.compute.compared_names import Names
from campaigns.findings.pages.compare_address import Address
from campaigns.findings.pages.compare_choice import cell_fields, chosen_of, metric_field, offered
from campaigns.findings.pages.compare_plot import compare_plot
from campaigns.findings.pages.compare_tables import environment_of, tables_of


def context(
    address: Address, text: str, teams: Set[int], page: str | None = None
) -> dict[str, Any]:
    """Everything; text, page: what is looked for among the campaigns of teams that are offered."""
    sides = sides_of(address.all_campaigns, teams, address.metric)
    address, wrong = there_is(address, sides)
    unusable = {side.campaign.pk: why for side in sides if (why := why_unusable(side))}
    shown: dict[str, Any] = {
        "address": address,
        "problems": [*address.wrong, *wrong, *unusable.values()],
        "text": text,
        "offered": offered(text, address.all_campaigns, sides, teams, page),
    }
    if not sides:
        return shown
    names, usable = Names(sides), [side for side in sides if side.campaign.pk not in unusable]
    shown |= {
        "chosen": chosen_of(address, sides, names, unusable),
        "cell_fields": cell_fields(address, usable),
        "metric_field": metric_field(usable[0]) if usable else None,
    }
    compared = compare(address, usable)
    if compared is None:
        return shown
    return shown | {
        "compared": compared,
        "answer": answer_of(compared),
        "plot": compare_plot(compared),
        "tables": tables_of(compared),
        "environment": environment_of(compared),
        "delta": f"{100 * compared.criteria.delta:g} %",
        "margin": f"{100 * compared.criteria.margin:g} %",
        "of_one_campaign": bool(address.cells) and len(compared.measured) < len(address.cells),
    }


def compared_of(address: Address, teams: Set[int]) -> Compared | None:
    """The comparison alone; None where there is nothing to compare."""
    sides = sides_of(address.all_campaigns, teams, address.metric)
    address, _ = there_is(address, sides)
    return compare(address, [side for side in sides if not why_unusable(side)])
