"""Render a bound Django form with the fields of `components/_field.html`."""

from collections.abc import Sequence
from dataclasses import replace

from django import forms
from django.template import Library

from campaigns.kit.pages.fields import Field, from_form

register = Library()
PASSED_ON = ("autofocus", "inputmode", "maxlength")
"""Attributes of a widget that the page keeps."""


@register.filter
def fields(form: forms.Form) -> Sequence[Field]:
    """Return the visible fields of a form as they were typed; no password is ever written back."""
    return [_field(form, name) for name in form.fields if not form[name].is_hidden]


def _field(form: forms.Form, name: str) -> Field:
    bound = form[name]
    widget = bound.field.widget
    value = "" if isinstance(widget, forms.PasswordInput) else bound.value()
    drawn = from_form(name, bound.field, value, [str(error) for error in bound.errors])
    attributes = {each: str(widget.attrs[each]) for each in PASSED_ON if each in widget.attrs}
    if form.non_field_errors():
        attributes["aria-invalid"] = "true"
    return replace(drawn, attributes={**drawn.attributes, **attributes})
