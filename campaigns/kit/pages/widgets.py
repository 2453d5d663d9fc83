"""Inputs for choices whose options say more than their label."""

from collections.abc import Mapping
from typing import Any

from django import forms


class Cards(forms.RadioSelect):
    """Radio buttons as cards, in the order of their notes.

    notes: what stands below the label, by value. columns: a class of the style sheet, such as `four`.
    """

    template_name = "django/forms/widgets/cards.html"

    def __init__(
        self, notes: Mapping[Any, str], columns: str = "", attrs: dict[str, Any] | None = None
    ) -> None:
        super().__init__(attrs)
        self.notes = {str(value): note for value, note in notes.items()}
        self.columns = columns

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        """Add the notes and the columns."""
        context = super().get_context(name, value, attrs)
        order = list(self.notes)
        cards = [option for _, options, _ in context["widget"]["optgroups"] for option in options]
        for card in cards:
            card["note"] = self.notes[str(card["value"])]
        cards.sort(key=lambda card: order.index(str(card["value"])))
        context["widget"] |= {"cards": cards, "columns": self.columns}
        return context


class Lacking(forms.widgets.ChoiceWidget):
    """Greys what no worker can do, and says why; what is chosen already can still be taken away."""

    def __init__(self, lacking: Mapping[str, str]) -> None:
        super().__init__()
        self.lacking = lacking

    def create_option(
        self, name: str, value: Any, label: Any, selected: bool, *more: Any, **named: Any
    ) -> dict[str, Any]:
        """Add `note`, and disable the option where it has one."""
        option: dict[str, Any] = super().create_option(name, value, label, selected, *more, **named)
        if note := self.lacking.get(str(value), ""):
            option["note"] = note
            option["attrs"] = {**option["attrs"], "disabled": not selected}
        return option


class LackingSelect(Lacking, forms.Select):
    """A list."""

    def create_option(
        self, name: str, value: Any, label: Any, selected: bool, *more: Any, **named: Any
    ) -> dict[str, Any]:
        """Add the note to the label."""
        option = super().create_option(name, value, label, selected, *more, **named)
        if "note" in option:
            option["label"] = f"{label}: {option['note']}"
        return option


class LackingBoxes(Lacking, forms.CheckboxSelectMultiple):
    """A box for each value."""
