"""What is wrong with what somebody typed or sent, field by field."""

import json
from collections.abc import Mapping
from typing import Any

from django import forms


def messages_of(form: forms.Form) -> dict[str, list[str]]:
    """Messages of a checked form, by field."""
    return {
        name: [problem["message"] for problem in problems]
        for name, problems in json.loads(form.errors.as_json()).items()
    }


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
