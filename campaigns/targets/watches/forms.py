"""The form of a watch. Validation only."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from campaigns.kit.forms import SecretArea, Text, form_field
from campaigns.kit.mappings import CleanedData, FieldValues, JsonObject
from campaigns.kit.ssh.keys import wrong_key
from campaigns.models import Watch
from campaigns.targets.watches.base import SSH, Option, Source

PREFIX = "option_"
"""What the names of the inputs of options begin with."""


class WatchForm(forms.ModelForm):
    """How one source is reached. An empty key or password leaves the stored one.

    The fields are those that the source needs; `options` have inputs of their own.
    """

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
        help_text="Encrypted at rest, and never shown again.",
    )
    confirm_address = forms.BooleanField(
        required=False,
        label="This address is mine; perfdash may connect to it",
        help_text="Needed for a loopback or private address that no rule allows yet.",
    )

    class Meta:
        model = Watch
        formfield_callback = form_field
        fields = ("address", "username", "step_seconds", "is_on")

    field_order = ("address", "username", "key", "password")
    instance: Watch

    def __init__(self, data: FieldValues | None, *, watch: Watch, source: Source) -> None:
        self.source = source
        super().__init__(data, instance=watch)
        if watch._state.adding:
            self.initial["step_seconds"] = source.steps[0]
        fields = self.fields
        fields["address"].help_text = source.address_help
        fields["step_seconds"].unit = "s"  # type: ignore[attr-defined]
        fields["step_seconds"].required = False
        fields["username"].required = source.uses_ssh
        if source.may_use_ssh:
            key = fields["key"]
            key.label, key.help_text = f"{key.label} for {SSH}", f"For {SSH} alone. {key.help_text}"
        if source.uses_ssh:
            fields["username"].help_text = "A user without rights, who does nothing else."
            fields[
                "password"
            ].help_text = "In place of a key. Encrypted at rest, and never shown again."
        for name in absent(source):
            del fields[name]
        for option in source.options:
            fields[PREFIX + option.name] = _field_of(option)
            self.initial[PREFIX + option.name] = watch.options.get(option.name, option.initial)
        last = [name for name in ("step_seconds", "is_on", "confirm_address") if name in fields]
        self.order_fields([*(name for name in fields if name not in last), *last])

    def clean_address(self) -> str:
        """Return the address as the source writes it. Raise ValidationError."""
        try:
            return self.source.check_address(self.cleaned_data["address"])
        except ValueError as error:
            raise ValidationError(str(error)) from None

    def clean_step_seconds(self) -> float:
        """Return the source's own step where the field is empty. Raise ValidationError below its least."""
        usual, least = self.source.steps
        step = self.cleaned_data["step_seconds"]
        if step is None:
            return usual
        if step < least:
            raise ValidationError(
                f"{self.source.label} is read at most every {least:g} s: give {least:g} or more."
            )
        return float(step)

    def clean_key(self) -> str:
        """Raise ValidationError for a key that cannot be used."""
        key: str = self.cleaned_data["key"]
        if key and (wrong := wrong_key(key)):
            raise ValidationError(wrong)
        return key

    def options(self) -> JsonObject:
        """Return the checked values of the source's options."""
        return {each.name: self.cleaned_data[PREFIX + each.name] for each in self.source.options}

    def clean(self) -> CleanedData:
        """Return the cleaned data. Raise ValidationError for what an address by SSH needs, and another has no use for."""
        clean = super().clean() or self.cleaned_data
        if not self.source.may_use_ssh or "address" not in clean:
            return clean
        if not self.source.is_by_ssh(clean["address"]):
            if clean.get("key"):
                self.add_error("key", f"Only an address that begins with {SSH} takes a key.")
            return clean
        needed = [each.name for each in self.source.options if each.required_by_ssh]
        for name in ("username", *(PREFIX + name for name in needed)):
            if name in clean and not clean[name]:
                self.add_error(name, f"An address that begins with {SSH} needs it.")
        return clean


def absent(source: Source) -> list[str]:
    """Return the fields that a source has no use for."""
    by_ssh = source.uses_ssh or source.may_use_ssh
    names = [] if by_ssh else ["key"]
    return names if by_ssh or source.has_login else [*names, "username", "password"]


def as_data(watch: Watch) -> CleanedData:
    """Return a watch as input of its form, without its secrets: a change begins with it."""
    stored = forms.model_to_dict(watch, WatchForm.Meta.fields)
    return stored | {PREFIX + name: value for name, value in watch.options.items()}


def with_options(data: Mapping[str, Any], options: Mapping[str, Any]) -> CleanedData:
    """Return input of the form with options by the names of their inputs."""
    return {**data, **{PREFIX + name: value for name, value in options.items()}}


def _field_of(option: Option) -> forms.Field:
    named: dict[str, Any] = {
        "label": option.label,
        "help_text": option.help,
        "required": option.required,
    }
    match option.type:
        case "boolean":
            return forms.BooleanField(**named | {"required": False})
        case "integer":
            return forms.IntegerField(**named, min_value=0, max_value=2**31)
        case "choice":
            return forms.ChoiceField(**named, choices=[(each, each) for each in option.choices])
    return Text(**named, max_length=1000)
