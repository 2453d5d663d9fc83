"""Forms of a target's settings, steps, their actions, and the SSH login. Validation only."""

import json
import re
from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from campaigns.kinds.base.values import BLIND_LABEL
from campaigns.kinds.registry import all_kinds
from campaigns.kit.forms import SecretArea, form_field
from campaigns.kit.mappings import CleanedData, FieldValues, Json, JsonObject
from campaigns.models import Setting, SshLogin, TargetStep
from campaigns.targets.actions.values import COMMAND, FIELDS, HTTP, MANUAL, METHODS, SQL

NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
MOST_CHOICES = 50
MOST_SETTINGS, MOST_STEPS = 50, 20
MOST_ROWS, LETTERS_A_ROW = 40, 64


class Choices(forms.Field):
    """Texts: a list, or one per line."""

    widget = forms.Textarea(attrs={"rows": 3})

    def prepare_value(self, value: Any) -> Any:
        """Return the texts, one per line."""
        return value if isinstance(value, str) else "\n".join(map(str, value or ()))

    def clean(self, value: Any) -> list[str]:
        """Return the texts without duplicates. Raise ValidationError."""
        provided = value.splitlines() if isinstance(value, str) else value or []
        if not isinstance(provided, list | tuple) or not all(
            isinstance(each, str | int | float) and not isinstance(each, bool) for each in provided
        ):
            raise ValidationError("Give the choices as a list of texts.")
        texts = list(dict.fromkeys(str(each).strip() for each in provided if str(each).strip()))
        if len(texts) > MOST_CHOICES:
            raise ValidationError(f"Give at most {MOST_CHOICES} choices.")
        if long := [text for text in texts if len(text) > 200 or text.startswith("-")]:
            raise ValidationError(
                f"“{long[0][:40]}” is longer than 200 letters, or begins with - like an option."
            )
        return texts


class SettingForm(forms.ModelForm):
    """The name of a setting, and its possible values."""

    choices = Choices(required=False, help_text="One per line; only for the type choice.")

    class Meta:
        model = Setting
        formfield_callback = form_field
        fields = (
            "name",
            "label",
            "unit",
            "type",
            "minimum",
            "maximum",
            "unlimited",
            "choices",
            "hard_to_change",
            "is_build",
        )

    instance: Setting

    def clean_name(self) -> str:
        """Raise ValidationError for an invalid name, or one of a parameter or of perfdash."""
        name: str = self.cleaned_data["name"]
        if not NAME.match(name):
            raise ValidationError("Begin with a small letter; then small letters, digits and _.")
        for kind, driver in all_kinds().items():
            known = driver.parameters.base_fields
            if self.instance.target.family in driver.families and name in known:
                raise ValidationError(
                    f"The kind {kind} has a parameter “{name}”; take another name."
                )
        if name == BLIND_LABEL:
            raise ValidationError(f"“{name}” is a name of perfdash itself.")
        return name

    def clean(self) -> CleanedData:
        """Add errors for an empty range, a choice of one, and one setting too many."""
        clean: CleanedData = super().clean() or self.cleaned_data
        low, high = clean.get("minimum"), clean.get("maximum")
        if low is not None and high is not None and low > high:
            self.add_error("maximum", f"It is below the minimum, {low:g}.")
        is_choice = clean.get("type") == Setting.Type.CHOICE
        if is_choice and "choices" in clean and len(clean["choices"]) < 2:
            self.add_error("choices", "Give at least two choices.")
        if clean.get("unlimited") is not None:
            self._check_unlimited(clean)
        if clean.get("is_build"):
            clean["hard_to_change"] = True
            if clean.get("type") not in (Setting.Type.TEXT, Setting.Type.CHOICE):
                self.add_error(
                    "type", "A build is a version, such as 3.105.0: choose text or choice."
                )
        is_new = self.instance._state.adding
        if is_new and self.instance.target.setting_rows.count() >= MOST_SETTINGS:
            self.add_error("name", f"A target has at most {MOST_SETTINGS} settings.")
        return clean

    def _check_unlimited(self, clean: CleanedData) -> None:
        number, low, high = clean["unlimited"], clean.get("minimum"), clean.get("maximum")
        if clean.get("type") not in (Setting.Type.INTEGER, Setting.Type.NUMBER):
            self.add_error("unlimited", "Only a number can mean no limit.")
        elif clean["type"] == Setting.Type.INTEGER and not number.is_integer():
            self.add_error("unlimited", "The type is integer: give a whole number.")
        elif (low is not None and number < low) or (high is not None and number > high):
            self.add_error("unlimited", "It is no possible value: change the minimum or maximum.")


class StepForm(forms.ModelForm):
    """The name of a step, and when it is performed."""

    class Meta:
        model = TargetStep
        formfield_callback = form_field
        fields = ("name", "purpose", "position")

    instance: TargetStep

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.fields["purpose"].required = False

    def clean_purpose(self) -> str:
        """Return a reset where the field is empty."""
        return self.cleaned_data["purpose"] or TargetStep.Purpose.RESET

    def clean_position(self) -> int:
        """Return 1 where the field is empty."""
        return self.cleaned_data["position"] or 1

    def clean(self) -> CleanedData:
        """Add an error for one step too many."""
        if self.instance._state.adding and self.instance.target.steps.count() >= MOST_STEPS:
            self.add_error("name", f"A target has at most {MOST_STEPS} steps.")
        return super().clean() or self.cleaned_data


class ActionForm(forms.Form):
    """An action that sets, reads back, resets or awaits; `targets.actions.parse` checks its meaning.

    title: its heading on the page. has_value: it contains the value of a setting. is_step: it resets or awaits.
    """

    way = forms.ChoiceField(
        choices=[
            (HTTP, "by an HTTP request"),
            (COMMAND, "by a command over SSH"),
            (SQL, "by SQL: a parameter of PostgreSQL"),
            (MANUAL, "manually: somebody is asked"),
        ]
    )
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
    parameter = forms.CharField(required=False, help_text="Of PostgreSQL, such as work_mem.")
    unit = forms.CharField(
        required=False,
        label="Unit of its values",
        help_text="Such as MB or ms. Empty: that of pg_settings, such as kB, or blocks of 8 kB.",
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
        data: FieldValues | None,
        path: str,
        action: Json,
        title: str,
        *,
        has_value: bool = False,
    ) -> None:
        super().__init__(data, prefix=path, initial=_typed(action))
        self.title, is_step = title, path in ("action", "ready")
        value = " {value} alone becomes the value." if has_value else ""
        sample = '{"value": "{value}"}' if has_value else '{"force": true}'
        self.fields["body"].help_text = f"JSON, such as {sample}.{value} Empty: none."
        self.fields[
            "arguments"
        ].help_text = f"One per line; each line is one argument.{value} For administrators."
        self.fields["seconds"].unit = "s"  # type: ignore[attr-defined]
        rows = _rows_for(action.get("arguments") or ())
        self.fields["arguments"].widget.attrs["rows"] = rows
        if has_value:
            self.fields[
                "arguments"
            ].help_text += (
                " By SQL: the program that restarts PostgreSQL, for parameters that take a restart."
            )
        absent = {"body": not (has_value or is_step), "at": has_value, "expect": not is_step}
        for name in [name for name, is_absent in absent.items() if is_absent]:
            del self.fields[name]

    def add_prefix(self, field_name: str) -> str:
        """Return the name of an input, such as apply_url."""
        return f"{self.prefix}_{field_name}"

    def clean_body(self) -> Any:
        """Return the parsed JSON; None for an empty field. Raise ValidationError."""
        text = self.cleaned_data["body"]
        try:
            return json.loads(text) if text else None
        except json.JSONDecodeError as error:
            raise ValidationError(f"This is no JSON: {error}.") from None
        except (RecursionError, ValueError):
            raise ValidationError(
                "This is no JSON: Nested too deeply, or a number too long."
            ) from None

    def clean_arguments(self) -> list[str]:
        """Return the arguments, one per line."""
        return [line for line in self.cleaned_data["arguments"].splitlines() if line]

    def action(self) -> JsonObject:
        """Return the action that was entered, without empty fields and those of other ways."""
        clean = self.cleaned_data
        return {
            name: clean[name]
            for name in FIELDS[clean["way"]]
            if name in clean and (clean[name] is not None if name == "body" else clean[name])
        }


def _rows_for(arguments: Sequence[str]) -> int:
    """Return how many rows show a program and its arguments, of which a script takes several."""
    rows = sum(1 + len(text) // LETTERS_A_ROW for text in arguments)
    return max(3, min(MOST_ROWS, rows))


def _typed(action: Json) -> JsonObject:
    """Return a stored action as a user would type it."""
    body = action.get("body")
    return {
        **action,
        "body": "" if body is None else json.dumps(body, ensure_ascii=False),
        "arguments": "\n".join(action.get("arguments") or ()),
    }


def stored_action(path: str, action: Json) -> JsonObject:
    """Return a stored action by the names of its inputs."""
    known = dict.fromkeys(ActionForm.base_fields, "") | _typed(action)
    return {f"{path}_{name}": value for name, value in known.items()}


class SshForm(forms.ModelForm):
    """Machine, user, and key or password; an empty one leaves the stored one."""

    key = forms.CharField(
        max_length=50_000,
        required=False,
        label="Private key",
        widget=SecretArea(attrs={"rows": 4, "spellcheck": "false", "autocomplete": "off"}),
        help_text="OpenSSH or PEM, without a passphrase. Encrypted at rest, and never shown again.",
    )
    password = forms.CharField(
        max_length=500,
        required=False,
        strip=False,
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "new-password"}),
        help_text="In place of a key. Encrypted at rest, and never shown again.",
    )
    confirm_address = forms.BooleanField(
        required=False,
        label="This machine is mine; commands may run there",
        help_text="Needed for a loopback or private address that no rule allows yet.",
    )

    class Meta:
        model = SshLogin
        formfield_callback = form_field
        fields = ("host", "port", "username")

    instance: SshLogin

    def clean_port(self) -> int:
        """Return port 22 where the field is empty."""
        return self.cleaned_data["port"] or 22

    def clean_host(self) -> str:
        """Raise ValidationError unless it is a host name or an address."""
        host = str(self.cleaned_data["host"])
        if any(letter in "/?#@[]\\" or letter.isspace() for letter in host) or (
            ":" in host and not _is_address(host)
        ):
            raise ValidationError(
                f"“{host:.60}” is no machine: give its name or address alone, without user, port, path or "
                "brackets."
            )
        return host


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
