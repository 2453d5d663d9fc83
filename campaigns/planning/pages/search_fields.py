"""Inputs that state a search for capacity: which load, from where, and how far. No HTML, no database."""

from collections.abc import Callable, Mapping, Sequence

from django import forms

from campaigns.kit.mappings import Json, JsonObject
from campaigns.kit.structs import fields_of
from campaigns.planning.pages.part_form import PartForm, as_stated, nested
from campaigns.planning.search import StatedSearch, shown

PATH = "search"
LOAD = f"{PATH}.load"
INPUTS = frozenset(f"{PATH}.{name}" for name in fields_of(StatedSearch))
"""The paths of its inputs."""


class SearchForm(PartForm):
    """The search as typed or as stored."""

    def __init__(
        self,
        loads: Sequence[str],
        values: Mapping[str, str],
        errors: Mapping[str, Sequence[str]],
        label_of: Callable[[str], str] = str,
    ) -> None:
        declared = fields_of(StatedSearch)["load"]
        load = forms.ChoiceField(
            choices=[("", "do not search"), *((load, label_of(load)) for load in loads)],
            label=declared.label,
            help_text=declared.help_text,
        )
        super().__init__(StatedSearch, PATH, values, errors, load=load)

    @property
    def is_chosen(self) -> bool:
        """Whether a load is chosen."""
        return bool(self[LOAD].value())


def as_entered(stored: Json | None) -> dict[str, str]:
    """Write a stored search as texts by path."""
    return as_stated(shown(stored), PATH)


def read_entered(values: Mapping[str, str]) -> JsonObject | None:
    """Return the search as a definition has it; None where none is chosen. Numbers may be grouped."""
    part = nested(values, PATH)
    stated = {
        name: text if name == "person" else text.replace(",", "").replace(" ", "")
        for name, text in part.items()
    }
    return stated if stated.get("load") else None
