"""Fields that state a search for capacity: which load, from where, and how far. No HTML, no database."""

from collections.abc import Callable, Mapping, Sequence

from django import forms

from campaigns.kit.mappings import Json, JsonObject
from campaigns.kit.numbers import plain
from campaigns.kit.pages.forms import with_errors
from campaigns.kit.structs import fields_of
from campaigns.planning.leaves import Count
from campaigns.planning.search import FIELDS, StatedSearch, shown

PATH = "search"
NAMES = tuple(f"search_{name}" for name in FIELDS)


class SearchForm(forms.Form):
    """The search as typed or as stored; `planning.search` checks it."""

    def __init__(
        self,
        loads: Sequence[str],
        values: Mapping[str, str],
        errors: Mapping[str, Sequence[str]] | None = None,
        label_of: Callable[[str], str] = str,
    ) -> None:
        super().__init__(initial={name: values.get(name, "") for name in NAMES})
        for name, declared in fields_of(StatedSearch).items():
            field: forms.Field = forms.CharField(widget=_input(declared))
            if name == "load":
                known = ((load, label_of(load)) for load in loads)
                field = forms.ChoiceField(choices=[("", "do not search"), *known])
            field.label, field.help_text = declared.label, declared.help_text
            self.fields[f"search_{name}"] = field
        places = {
            f"search_{path.removeprefix('search.')}": messages
            for path, messages in (errors or {}).items()
            if path.startswith("search.")
        }
        with_errors(self, places)


def _input(declared: forms.Field) -> forms.TextInput:
    """Return the input of a leaf, as typed; `planning.search` reads it."""
    keys = "numeric" if isinstance(declared, Count) else "text"
    return forms.TextInput({"inputmode": keys, "placeholder": getattr(declared, "hint", "")})


def as_entered(stored: Json | None) -> dict[str, str]:
    """Write a stored search as the fields hold it."""
    search = shown(stored)
    return {
        field: plain(value) if isinstance(value, int | float) else str(value)
        for name, field in zip(FIELDS, NAMES, strict=True)
        for value in [search.get(name, "")]
    }


def read_entered(values: Mapping[str, str]) -> JsonObject | None:
    """Return the search as input of `check`; None where none is chosen."""
    stated = {
        name: values[field] if name == "person" else values[field].replace(",", "").replace(" ", "")
        for name, field in zip(FIELDS, NAMES, strict=True)
        if values.get(field)
    }
    return stated if stated.get("load") else None
