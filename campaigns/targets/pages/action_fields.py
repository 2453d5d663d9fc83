"""The form of an action: all three ways at once; what a way has no use for is not read."""

import json
from collections.abc import Mapping
from typing import Any

from django import forms

WAYS = (
    ("http", "by an HTTP request"),
    ("command", "by a command over SSH"),
    ("hand", "manually: somebody is asked"),
)
OF_WAY = {
    "http": ("method", "url", "body", "login", "at", "expect", "seconds"),
    "command": ("arguments", "at", "expect", "seconds"),
    "hand": ("words",),
}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


class ActionForm(forms.Form):
    """An action that sets, reads back, resets or awaits; `targets.actions.parse` checks what it means.

    title: what the page calls it. has_value: a value stands in it. is_step: it resets or awaits.
    """

    way = forms.ChoiceField(choices=WAYS)
    method = forms.ChoiceField(choices=[(each, each) for each in METHODS], required=False)
    url = forms.CharField(
        required=False,
        label="URL",
        help_text="A path on the target, such as /settings/puma_workers; or a whole URL that is allowed.",
    )
    body = forms.CharField(
        required=False, strip=False, widget=forms.Textarea(attrs={"rows": 3}), help_text="JSON"
    )
    login = forms.BooleanField(
        required=False, label="Send the target's user name and password with it"
    )
    arguments = forms.CharField(
        required=False,
        strip=False,
        label="Program and arguments",
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    at = forms.CharField(
        required=False,
        label="Field in the answer",
        help_text="For an answer of JSON: names and numbers with dots, such as results.0.value.",
    )
    expect = forms.CharField(
        required=False,
        label="Expected value",
        help_text="For readiness only. Empty: any successful answer.",
    )
    words = forms.CharField(
        required=False,
        label="Instructions",
        help_text="Such as: set it, then restart Puma.",
    )
    seconds = forms.CharField(
        required=False, label="Limit", help_text="Timeout in seconds; 60 by default."
    )

    def __init__(
        self,
        data: Mapping[str, Any] | None,
        path: str,
        action: Mapping[str, Any],
        title: str,
        *,
        has_value: bool = False,
    ) -> None:
        super().__init__(data, prefix=path, initial=_typed(action))
        self.title, is_step = title, path == "action"
        value = " {value} alone becomes the value." if has_value else ""
        sample = '{"value": "{value}"}' if has_value else '{"force": true}'
        self.fields["body"].help_text = f"JSON, such as {sample}.{value} Empty: none."
        self.fields[
            "arguments"
        ].help_text = f"One per line; each line is one argument.{value} For administrators."
        self.fields["seconds"].unit = "s"  # type: ignore[attr-defined]
        absent = {"body": not (has_value or is_step), "at": has_value, "expect": not is_step}
        for name in [name for name, is_absent in absent.items() if is_absent]:
            del self.fields[name]

    def add_prefix(self, field_name: str) -> str:
        """Return the name of an input, such as apply_url."""
        return f"{self.prefix}_{field_name}"

    def clean_body(self) -> Any:
        """Read JSON; None where there is none. Raise ValidationError."""
        text = self.cleaned_data["body"]
        try:
            return json.loads(text) if text else None
        except json.JSONDecodeError as error:
            raise forms.ValidationError(f"This is no JSON: {error}.") from None
        except (RecursionError, ValueError):
            raise forms.ValidationError(
                "This is no JSON: Nested too deeply, or a number too long."
            ) from None

    def clean_arguments(self) -> list[str]:
        """Split at the ends of lines."""
        return [line for line in self.cleaned_data["arguments"].splitlines() if line]

    def action(self) -> dict[str, Any]:
        """Return the action that was entered, with what its way has a use for."""
        clean = self.cleaned_data
        result = {name: clean[name] for name in OF_WAY[clean["way"]] if name in clean}
        return {"way": clean["way"]} | {
            name: value
            for name, value in result.items()
            if (value is not None if name == "body" else value)
        }


def _typed(action: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stored action as somebody would type it."""
    body = action.get("body")
    return {
        **action,
        "body": "" if body is None else json.dumps(body, ensure_ascii=False),
        "arguments": "\n".join(action.get("arguments", ())),
    }


def stored_action(path: str, action: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stored action by the names of its inputs."""
    known = dict.fromkeys(ActionForm.base_fields, "") | _typed(action)
    return {f"{path}_{name}": value for name, value in known.items()}
