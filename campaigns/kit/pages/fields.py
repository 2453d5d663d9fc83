"""What `components/_field.html` draws: one input with its label, hint and errors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django import forms

from campaigns.kit.forms import as_text


@dataclass(frozen=True, slots=True)
class Choice:
    """One option of a list, or one card. `note`: what stands below its label on a card."""

    value: str
    label: str
    chosen: bool = False
    disabled: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Field:
    """One input. `shape`: text, number, password, search, textarea, select, checkbox."""

    name: str
    label: str
    value: str = ""
    shape: str = "text"
    hint: str = ""
    unit: str = ""
    errors: Sequence[str] = ()
    choices: Sequence[Choice] = ()
    rows: int = 3
    required: bool = False
    checked: bool = False
    autocomplete: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The id of the input; those of hint and errors begin with it."""
        return f"f-{self.name}"

    @property
    def described_by(self) -> str:
        """Ids of what explains the input, for aria-describedby."""
        parts = [f"{self.id}-hint"] if self.hint else []
        if self.errors:
            parts.append(f"{self.id}-error")
        return " ".join(parts)


def shape_of(form_field: forms.Field) -> str:
    """Return how a field of a Django form is drawn."""
    if isinstance(form_field, forms.BooleanField):
        return "checkbox"
    if isinstance(form_field, forms.ChoiceField):
        return "select"
    if isinstance(form_field.widget, forms.Textarea):
        return "textarea"
    if isinstance(form_field.widget, forms.PasswordInput):
        return "password"
    if isinstance(form_field, forms.IntegerField):
        return "number"
    return "text"


def from_form(
    name: str,
    form_field: forms.Field,
    value: Any,
    errors: Sequence[str] = (),
    *,
    unit: str = "",
    label: str = "",
) -> Field:
    """Describe a field of a Django form that holds `value` as it was typed or stored."""
    text = as_text(value)
    attrs = form_field.widget.attrs
    choices = [
        Choice(str(key), str(words), chosen=str(key) == text)
        for key, words in getattr(form_field, "choices", ())
    ]
    return Field(
        name=name,
        label=label or str(form_field.label or name.replace("_", " ").capitalize()),
        value=text,
        shape=shape_of(form_field),
        hint=str(form_field.help_text),
        unit=unit,
        errors=errors,
        choices=choices,
        rows=int(attrs.get("rows", 3)),
        required=form_field.required,
        checked=value in (True, "on", "True", "true", "1"),
        autocomplete=str(attrs.get("autocomplete", "")),
        attributes={name: attrs[name] for name in ("list",) if name in attrs},
    )
