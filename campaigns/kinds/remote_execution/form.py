"""The parameters of the kind `remote_execution`."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from campaigns.kinds.base.parameters import IntegerParameter, ParameterField
from campaigns.kit.forms import Text
from campaigns.kit.mappings import Parameters

SCRIPT_DEFAULT, ANSIBLE_DEFAULT = "Run Command - Script Default", "Run Command - Ansible Default"
MOST_HOSTS = 20_000
MOST_INPUTS = 20
NAME = re.compile(r"[\w.-]{1,100}\Z", re.ASCII)
HARMLESS = ({"command": "date"}, {"command": "true"})
"""Inputs of the two templates above that change nothing on a host."""


class Named(ParameterField, Text):
    """The name of something in Foreman, or a query."""


class Inputs(ParameterField, forms.CharField):
    """Values of a template's inputs, a line each as name=value."""

    def __init__(self, **named: Any) -> None:
        super().__init__(widget=forms.Textarea({"rows": 2, "spellcheck": "false"}), **named)

    def to_python(self, value: Any) -> str:
        """Return the lines, without blank ones. Raise ValidationError."""
        lines = [line.strip() for line in str(super().to_python(value)).splitlines()]
        lines = [line for line in lines if line]
        names = [line.partition("=")[0].strip() for line in lines]
        for line, name in zip(lines, names, strict=True):
            if "=" not in line or not NAME.match(name):
                raise ValidationError(
                    f"“{line[:60]}” is no input; give a line each, such as command=date."
                )
        if twice := next((name for name in names if names.count(name) > 1), ""):
            raise ValidationError(f"{twice} is given twice; an input has one value.")
        if len(lines) > MOST_INPUTS:
            raise ValidationError(f"Give at most {MOST_INPUTS} inputs.")
        return "\n".join(lines)


class RemoteExecutionForm(forms.Form):
    """One job on a number of hosts."""

    hosts = IntegerParameter(
        label="Hosts",
        role="load",
        essential=True,
        initial=100,
        min_value=1,
        max_value=MOST_HOSTS,
        help_text="How many of the hosts that the query finds the job runs on: those with the lowest ids.",
    )
    search_query = Named(
        label="Search query",
        role="work",
        essential=True,
        initial="name ~ perfdash",
        max_length=1000,
        help_text="Which hosts of Foreman there are for it, as in Foreman's own search, such as name ~ container.",
    )
    template = Named(
        label="Template",
        essential=True,
        required=False,
        initial=SCRIPT_DEFAULT,
        max_length=255,
        help_text="Its name in Foreman. The template decides which backend works on the hosts.",
    )
    feature = Named(
        label="Feature",
        required=False,
        max_length=100,
        help_text="In place of a template: the label of a feature of remote execution, such as katello_package_update.",
    )
    inputs = Inputs(
        label="Inputs of the template",
        role="work",
        essential=True,
        required=False,
        initial="command=date",
        max_length=10_000,
        help_text="A line each, as name=value. They are stored with the campaign: give no secrets.",
    )
    concurrency_level = IntegerParameter(
        label="Concurrency level",
        essential=True,
        required=False,
        min_value=1,
        max_value=MOST_HOSTS,
        help_text="Foreman works on at most so many hosts at a time. Empty: no limit.",
    )
    execution_timeout_seconds = IntegerParameter(
        label="Timeout of a host in seconds",
        role="work",
        initial=3600,
        min_value=1,
        max_value=86_400,
        help_text="After which the smart proxy ends the script on a host.",
    )
    time_to_pickup_seconds = IntegerParameter(
        label="Time to pickup in seconds",
        role="work",
        initial=600,
        min_value=1,
        max_value=86_400,
        help_text="Until when a host that is asked by MQTT has to fetch its job. Other hosts ignore it.",
    )
    give_up_seconds = IntegerParameter(
        label="Give up after seconds",
        role="work",
        essential=True,
        initial=1800,
        min_value=5,
        max_value=86_400,
        help_text="Without any host that ends: the job is cancelled then, and the run has failed.",
    )

    def clean(self) -> dict[str, Any]:
        """Ask for a template or a feature."""
        cleaned = super().clean() or {}
        template, feature = cleaned.get("template"), cleaned.get("feature")
        if template and feature:
            self.add_error("feature", "Give a job template or a feature, not both.")
        elif not template and not feature and "template" not in self.errors:
            self.add_error(
                "template", f"Name a job template, such as {SCRIPT_DEFAULT}, or a feature."
            )
        return cleaned


def inputs_of(parameters: Parameters) -> dict[str, str]:
    """Return the inputs by name."""
    lines = str(parameters.get("inputs") or "").splitlines()
    parts = [line.partition("=") for line in lines if line.strip()]
    return {name.strip(): value.strip() for name, _, value in parts}


def changes_nothing(parameters: Parameters) -> bool:
    """Return whether the job is one that changes nothing on a host, whoever has written the campaign."""
    known = parameters.get("template") in (SCRIPT_DEFAULT, ANSIBLE_DEFAULT)
    return known and inputs_of(parameters) in HARMLESS
