"""Fields that state a search for capacity: which load, from where, and how far. No HTML, no database."""

from collections.abc import Mapping, Sequence

from django import forms

from campaigns.kit.mappings import Json, JsonObject
from campaigns.kit.numbers import plain
from campaigns.kit.pages.forms import with_errors
from campaigns.planning.search import FIELDS, FIRST, MOST_RUNS, shown

PATH = "search"
NAMES = tuple(f"search_{name}" for name in FIELDS)
LABELS = {
    "load": "Search for the capacity of",
    "first": "First load",
    "largest": "Stop above",
    "lowest": "Smallest load",
    "most_runs": "Most runs",
    "most_failed": "Most failed work",
    "person": "Who stops it",
}
HELP = {
    "load": "The search chooses the levels, so do not vary it. The target has to allow overloads.",
    "first": "A load that the target surely carries.",
    "largest": "No run has a larger load. The owner's limit may be smaller.",
    "lowest": "It halves down to this, where the first load fails.",
    "most_runs": "Of each setting, without checks of recovery.",
    "most_failed": "In all runs together; then the search ends. Needed for a production server.",
    "person": "An account that may cancel it, and is told when it begins. Needed for a production server.",
}
HINTS = {"first": plain(FIRST), "lowest": "1", "most_runs": str(MOST_RUNS), "most_failed": "any"}


class SearchForm(forms.Form):
    """The search as typed or as stored; `planning.search` checks it."""

    def __init__(
        self,
        loads: Sequence[str],
        values: Mapping[str, str],
        errors: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        super().__init__(initial={name: values.get(name, "") for name in NAMES})
        for name, field_name in zip(FIELDS, NAMES, strict=True):
            if name == "load":
                field: forms.Field = forms.ChoiceField(
                    choices=[("", "do not search"), *((load, load) for load in loads)],
                    label=LABELS[name],
                    help_text=HELP[name],
                )
            else:
                field = forms.CharField(
                    label=LABELS[name],
                    help_text=HELP[name],
                    widget=forms.TextInput(
                        {
                            "inputmode": "text" if name == "person" else "numeric",
                            "placeholder": HINTS.get(name, ""),
                        }
                    ),
                )
            self.fields[field_name] = field
        places = {
            f"search_{path.removeprefix('search.')}": messages
            for path, messages in (errors or {}).items()
            if path.startswith("search.")
        }
        with_errors(self, places)


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
