"""What is wrong with what somebody typed or sent, field by field."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS

from campaigns.kit.errors import Invalid


def messages_of(form: forms.BaseForm) -> dict[str, list[str]]:
    """Messages of a checked form, by field."""
    return {
        name: [problem["message"] for problem in problems]
        for name, problems in json.loads(form.errors.as_json()).items()
    }


def add_errors(form: forms.BaseForm, invalid: Invalid) -> None:
    """Add messages to a form: beside its fields, and above it what is about none of them."""
    for path, texts in invalid.errors.items():
        name = path if path in form.fields else None
        known: Sequence[Any] = form.errors.get(name or NON_FIELD_ERRORS, [])
        for text in [text for text in texts if text not in known]:
            form.add_error(name, text)


def is_list_of_words(value: Any) -> bool:
    """Whether a value is a list of texts, such as tags."""
    return isinstance(value, list | tuple) and all(isinstance(word, str) for word in value)


def many_for_one(
    data: Mapping[str, Any], known: Mapping[str, forms.Field], prefix: str = ""
) -> dict[str, list[str]]:
    """Messages for what holds several values where one belongs; a form would take it as text."""
    return {
        f"{prefix}{name}": ["Give one value, not a list or an object."]
        for name, field in known.items()
        if isinstance(data.get(name), list | tuple | dict)
        and not isinstance(field, forms.MultipleChoiceField)
        and not (name == "tags" and is_list_of_words(data[name]))
    }
