"""The fields of a design as the model, pages and sentences have them; `definition` declares them."""

from collections.abc import Mapping

from django import forms
from django.forms.utils import pretty_name

from campaigns.kit.mappings import CleanedData, Columns
from campaigns.kit.numbers import plain_percent
from campaigns.kit.structs import Problems, fields_of
from campaigns.models import Campaign
from campaigns.planning.definition import FEWEST_ADAPTIVE, Definition
from campaigns.planning.leaves import Declared, columns_of

IN_BLOCKS = (Campaign.Order.INTERLEAVED, Campaign.Order.PAIRED)
NO_BLOCKS = "Only interleaved and paired campaigns go on block by block."


def too_wide(margin: float, effect: float) -> str:
    """Return the message for a margin above the smallest effect, both in percent."""
    return (
        f"The margin ({plain_percent(margin)}) is wider than the smallest effect of interest "
        f"({plain_percent(effect)}); make it at most as wide."
    )


def _declared() -> dict[str, Declared]:
    """Return the fields by name, with the columns that have the same name."""
    fields = {}
    for name, field in fields_of(Definition).items():
        if isinstance(field, Declared):
            field.column = field.column or name.removesuffix("_percent")
            fields[name] = field
    return fields


FIELDS: Mapping[str, Declared] = _declared()
COLUMNS = tuple(field.column for field in FIELDS.values())
LOCKED = tuple(name for name, field in FIELDS.items() if field.locked)


class DesignForm(forms.Form):
    """The fields of the design as a page shows them."""


DesignForm.base_fields = DesignForm.declared_fields = dict(FIELDS)


def in_group(group: str) -> list[str]:
    """Return the names of the fields of a group."""
    return [name for name, field in FIELDS.items() if field.group == group]


def label_of(name: str) -> str:
    """Return the label of a field, as a form writes it."""
    return str(FIELDS[name].label or pretty_name(name))


def check_design(sent: Definition, problems: Problems) -> None:
    """Note what contradicts itself in a design, of fields that are right by themselves."""
    margin, effect = sent.margin_percent, sent.smallest_effect_percent
    if margin > effect and problems.keys().isdisjoint(
        ("margin_percent", "smallest_effect_percent")
    ):
        problems.note("margin_percent", too_wide(margin, effect))
    if sent.stop_rule != Campaign.StopRule.PRECISION:
        return
    if sent.order not in IN_BLOCKS:
        problems.note("stop_rule", NO_BLOCKS)
    if "repetitions" in problems:
        return
    if sent.repetitions < FEWEST_ADAPTIVE:
        problems.note(
            "repetitions",
            f"A stop at the first narrow interval favours small noise: begin with {FEWEST_ADAPTIVE} blocks at least.",
        )
    elif "stop_most" not in problems and sent.stop_most < sent.repetitions:
        problems.note("stop_most", f"It begins with {sent.repetitions} blocks; allow as many.")


def as_columns(sent: Definition) -> Columns:
    """Return checked values by column."""
    return columns_of(FIELDS, sent)


def values_of(campaign: Campaign, *, every: bool = False) -> CleanedData:
    """Return the design of a campaign as a definition has it; every: also what it does not name."""
    return {
        name: field.shown(getattr(campaign, field.column))
        for name, field in FIELDS.items()
        if every or field.stated_in(campaign)
    }
