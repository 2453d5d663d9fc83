"""Rendering of Django forms. The setting `FORM_RENDERER` names the renderer; its templates are in templates/django/forms/.

A page renders a field with `{% include "django/forms/field.html" with field=form.name only %}`: unlike
`{{ form.name.as_field_group }}` that passes the request on, so that each term of the glossary is linked once per page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django import forms
from django.forms.renderers import TemplatesSetting

from campaigns.kit.filters import FilterForm
from campaigns.kit.mappings import HtmlAttributes, JsonObject, TemplateContext

AnyForm = TypeVar("AnyForm", bound=forms.BaseForm)
PLAIN = ("checkbox", "radio", "hidden", "file")
LEFT_OUT = ("maxlength", "minlength", "min", "max", "step", "cols", "placeholder")
"""Attributes that are not rendered, like `required`: browsers would cut pasted text, or show their own messages.
A placeholder would repeat the label, except in a FilterForm, whose labels are not visible.
"""


class Field(forms.BoundField):
    """A field of a form with the ids, classes and values that pages use."""

    @property
    def auto_id(self) -> str:
        """Return the id of the input; those of its hint and its errors begin with it."""
        if self.form.auto_id == "id_%s":  # Django's default
            return f"f-{self.html_name}"
        return str(super().auto_id)

    @property
    def aria_describedby(self) -> str:
        """Return the ids of hint and errors."""
        hint = [f"{self.auto_id}-hint"] if self.help_text else []
        return " ".join([*hint, f"{self.auto_id}-error"] if self.errors else hint)

    def build_widget_attrs(
        self, attrs: HtmlAttributes, widget: forms.Widget | None = None
    ) -> JsonObject:
        """Return the attributes of the input; one that is False is not rendered."""
        widget = widget or self.field.widget
        attributes = {**dict.fromkeys(LEFT_OUT, False), **attrs}
        if isinstance(self.form, FilterForm):
            del attributes["placeholder"]
        if getattr(widget, "input_type", None) not in PLAIN:
            attributes.setdefault("class", widget.attrs.get("class", "input"))
        if isinstance(widget, forms.PasswordInput) and self.form.non_field_errors():
            # The page does not reveal which of name and password is wrong.
            attributes["aria-invalid"] = "true"
        return {**super().build_widget_attrs(attributes, widget), "required": False}

    def value(self) -> Any:
        """Return the value as a user would type it: 5.0 as 5."""
        value = super().value()
        return int(value) if isinstance(value, float) and value.is_integer() else value


class Renderer(TemplatesSetting):
    """Renders with the templates of the project, or else those of Django."""

    bound_field_class = Field


@dataclass(frozen=True, slots=True)
class Problem:
    """One line of the summary above a form; `anchor` is empty for an error of no field."""

    label: str
    anchor: str
    message: str


def problems_of(form: forms.BaseForm) -> list[Problem]:
    """Return all errors of a form, in the order of its fields, with label and anchor."""
    of_fields = [
        Problem(str(field.label), field.auto_id, str(message))
        for field in form
        for message in field.errors
    ]
    return [*(Problem("", "", str(each)) for each in form.non_field_errors()), *of_fields]


def with_errors(form: AnyForm, errors: Mapping[str, Sequence[str]]) -> AnyForm:
    """Return a form that shows its input with these errors, without validating it."""
    form.cleaned_data = {}
    for name in form.fields.keys() & errors:
        form.add_error(name, list(errors[name]))
    return form


def selector(
    name: str,
    label: str,
    options: Sequence[tuple[str, str]],
    value: str = "",
    auto_id: str = "id_%s",
) -> forms.BoundField:
    """Return a list of (value, label) that chooses what a page shows; its form is sent by GET."""
    form = forms.Form(initial={name: value}, auto_id=auto_id)
    form.fields[name] = forms.ChoiceField(label=label, choices=options)
    return form[name]


class Cards(forms.RadioSelect):
    """Radio buttons as cards, in the order of their notes.

    notes: text below the label, by value. columns: a class of the style sheet, such as `four`.
    """

    template_name = "django/forms/widgets/cards.html"

    def __init__(
        self, notes: Mapping[Any, str], columns: str = "", attrs: HtmlAttributes | None = None
    ) -> None:
        super().__init__(attrs)
        self.notes = {str(value): note for value, note in notes.items()}
        self.columns = columns

    def get_context(self, name: str, value: Any, attrs: HtmlAttributes | None) -> TemplateContext:
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
    """Disables options that cannot be had, with the reason; selected ones can still be deselected."""

    def __init__(self, lacking: Mapping[str, str]) -> None:
        super().__init__()
        self.lacking = lacking

    def create_option(
        self, name: str, value: Any, label: Any, selected: bool, *more: Any, **named: Any
    ) -> JsonObject:
        """Add `note`, and disable the option where it has one."""
        option: JsonObject = super().create_option(name, value, label, selected, *more, **named)
        if note := self.lacking.get(str(value), ""):
            option["note"] = note
            option["attrs"] = {**option["attrs"], "disabled": not selected}
        return option


class LackingSelect(Lacking, forms.Select):
    """A list."""

    def create_option(
        self, name: str, value: Any, label: Any, selected: bool, *more: Any, **named: Any
    ) -> JsonObject:
        """Add the note to the label."""
        option = super().create_option(name, value, label, selected, *more, **named)
        if "note" in option:
            option["label"] = f"{label}: {option['note']}"
        return option


class LackingBoxes(Lacking, forms.CheckboxSelectMultiple):
    """A box for each value."""
