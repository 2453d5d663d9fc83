"""The parameters of the kind `registration`."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from campaigns.kinds.base import load_fields
from campaigns.kinds.base.load_fields import MOST_HOSTS
from campaigns.kinds.base.parameters import (
    ChoiceParameter,
    IntegerParameter,
    ListParameter,
    TextParameter,
)
from campaigns.kinds.registration.program.profiles import PROFILES
from campaigns.kit.mappings import Parameters

NAME = re.compile(r"[^\s,/?#&\\\"'<>]{1,120}\Z")
ARRIVALS = "arrivals"
MOST_PACKAGES = 5000
LABELS = {
    "rhsm-1.30": "rhsm-1.30: subscription-manager 1.30, 10 requests on 3 connections",
    "rhsm-1.29": "rhsm-1.29: subscription-manager 1.29, 12 requests on 4 connections",
    "foreman-global": "foreman-global: Foreman's script, with rhsm-1.30 in it",
}


def check_name(value: str) -> None:
    """Raise ValidationError where the text is no valid label of an organization."""
    if not NAME.match(value):
        raise ValidationError("Give a label, without blanks, commas, quotes, / ? # and &.")


class Keys(ListParameter):
    """Names of activation keys, separated by commas as for the client; the first takes precedence."""

    def to_python(self, value: Any) -> str:
        """Return the names, each once. Raise ValidationError."""
        written = [part.strip() for part in super().to_python(value).split(",") if part.strip()]
        for part in written:
            check_name(part)
        return ",".join(dict.fromkeys(written))


class RegistrationForm(forms.Form):
    """The parameters of one run, in which each host registers once."""

    hosts = load_fields.hosts(
        "Hosts that register, all of them at once. With arrivals: the most at a time; who arrives beyond is not begun."
    )
    profile = ChoiceParameter(
        label="Profile",
        role="work",
        essential=True,
        initial="rhsm-1.30",
        choices=[(name, LABELS[name]) for name in PROFILES],
        help_text="Which client's requests are made.",
    )
    organization = TextParameter(
        label="Organization",
        essential=True,
        initial="ACME",
        max_length=120,
        validators=[check_name],
        help_text="Label of the organization; a Candlepin calls it the owner's key.",
    )
    activation_keys = Keys(
        label="Activation keys",
        essential=True,
        initial="bench-ak",
        max_length=400,
        help_text="Names of activation keys of that organization, separated by commas.",
    )
    packages = IntegerParameter(
        label="Packages",
        role="work",
        initial=500,
        min_value=0,
        max_value=MOST_PACKAGES,
        help_text="Packages in the profile that each host uploads; rhsm-1.29 uploads none.",
    )
    start = ChoiceParameter(
        label="Start",
        role="work",
        essential=True,
        initial="barrier",
        choices=[
            ("barrier", "barrier: all at one instant"),
            ("ramp", "ramp: one after the other, evenly"),
            ("arrivals", "arrivals: at a rate, whatever the server does; each is another host"),
        ],
        help_text="When the hosts begin.",
    )
    ramp_seconds = load_fields.ramp_seconds(
        "With a ramp: seconds over which the hosts begin, evenly. With arrivals: seconds in which hosts arrive.",
        initial=10.0,
        least=0.1,
    )
    rate = load_fields.rate(
        "With arrivals: hosts that arrive in a second, over all generators.", MOST_HOSTS
    )
    arrivals = load_fields.arrivals(
        "hosts", required=False, help_text="With arrivals: when hosts arrive."
    )
    timeout_seconds = load_fields.timeout_seconds(
        "Longest wait for one answer; 180 is the client's own limit.", initial=180.0
    )
    retry_rounds = IntegerParameter(
        label="Retry rounds",
        initial=0,
        min_value=0,
        max_value=5,
        help_text=(
            "How often failed hosts try again, after all have ended. The times of retries are not "
            "counted."
        ),
    )
    retry_hosts = IntegerParameter(
        label="Retry hosts",
        initial=4,
        min_value=1,
        max_value=1000,
        help_text="How many hosts at a time try again.",
    )

    def clean(self) -> dict[str, Any]:
        """Check that arrivals have a rate, and nothing else has."""
        values: dict[str, Any] = super().clean() or {}
        values["arrivals"] = values.get("arrivals") or "constant"
        arrive = values.get("start") == ARRIVALS
        load_fields.check_rate(
            self,
            needed=arrive,
            needless="Only arrivals have a rate: leave it empty, or let hosts start by arrivals.",
            missing="Arrivals need a rate: hosts that arrive in a second.",
        )
        if arrive and not self.errors:
            count = hosts_of(values)
            if not 1 <= count <= MOST_HOSTS:
                self.add_error(
                    "rate",
                    f"{count:,} hosts would arrive in {values['ramp_seconds']:g} s; 1 to {MOST_HOSTS:,} may. Change rate or seconds.",
                )
        return values


def hosts_of(parameters: Parameters) -> int:
    """Return how many hosts register in a run: with arrivals rate x seconds, of which `hosts` are the most at a time."""
    if parameters.get("start") != ARRIVALS:
        return int(parameters["hosts"])
    return round(float(parameters["rate"]) * float(parameters["ramp_seconds"]))
