"""The fields of a target's settings, steps and SSH login. Validation only."""

from ipaddress import ip_address
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from campaigns.kit.forms import Text
from campaigns.models import Setting, TargetStep

MOST_CHOICES = 50


class Choices(forms.Field):
    """Texts: a list of them, or one a line."""

    widget = forms.Textarea(attrs={"rows": 3})

    def clean(self, value: Any) -> list[str]:
        """Read them. Raise ValidationError."""
        given = value.splitlines() if isinstance(value, str) else value or []
        if not isinstance(given, list | tuple) or not all(
            isinstance(each, str | int | float) and not isinstance(each, bool) for each in given
        ):
            raise ValidationError("Give the choices as a list of texts.")
        texts = list(dict.fromkeys(str(each).strip() for each in given if str(each).strip()))
        if len(texts) > MOST_CHOICES:
            raise ValidationError(f"Give at most {MOST_CHOICES} choices.")
        if long := [text for text in texts if len(text) > 200 or text.startswith("-")]:
            raise ValidationError(
                f"“{long[0][:40]}” is longer than 200 letters, or begins with - like an option."
            )
        return texts


class SettingForm(forms.Form):
    """What a setting is called, and which values it takes."""

    name = Text(
        max_length=50,
        help_text="As campaigns call it, such as puma_workers.",
    )
    label = Text(max_length=100, required=False, help_text="As people read it. Empty: the name.")
    unit = Text(max_length=20, required=False)
    type = forms.ChoiceField(choices=Setting.Type.choices, initial=Setting.Type.INTEGER)
    minimum = forms.FloatField(required=False, min_value=-1e15, max_value=1e15)
    maximum = forms.FloatField(required=False, min_value=-1e15, max_value=1e15)
    choices = Choices(required=False, help_text="One per line; only for the type choice.")
    hard_to_change = forms.BooleanField(
        required=False,
        initial=True,
        label="Hard to change",
        help_text="Changing it costs much, such as a restart: campaigns change it as seldom as they can.",
    )

    def clean(self) -> dict[str, Any]:
        """Refuse a range without anything in it."""
        cleaned = super().clean() or self.cleaned_data
        low, high = cleaned.get("minimum"), cleaned.get("maximum")
        if low is not None and high is not None and low > high:
            self.add_error("maximum", f"It is below the minimum, {low:g}.")
        return cleaned


class StepForm(forms.Form):
    """What a step is called, and when it is done."""

    name = Text(max_length=80, help_text="Such as “restart the services”; it names its proof.")
    purpose = forms.ChoiceField(
        choices=TargetStep.Purpose.choices,
        initial=TargetStep.Purpose.RESET,
        required=False,
        label="When",
        help_text="A reset is done before each run; readiness is awaited after a reset or a setting.",
    )
    position = forms.IntegerField(
        min_value=1, max_value=1000, required=False, initial=1, help_text="Lower ones come first."
    )


class SshForm(forms.Form):
    """Machine, user and what lets in; what is empty stays as it is."""

    host = Text(max_length=253, help_text="Name or address of the machine.")
    port = forms.IntegerField(min_value=1, max_value=65535, required=False, initial=22)
    username = Text(max_length=200, label="User name")
    key = forms.CharField(
        max_length=50_000,
        required=False,
        label="Private key",
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false", "autocomplete": "off"}),
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

    def clean_host(self) -> str:
        """Refuse what is more than a name or an address. Raise ValidationError."""
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
