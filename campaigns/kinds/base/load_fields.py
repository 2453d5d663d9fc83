"""Parameters that several kinds of load have, each declared once, and the rule of a rate.

A kind gives the words: what its hosts do, and how its loop and its connections are called.
"""

from typing import Any

from django import forms

from campaigns.kinds.base.parameters import ChoiceParameter, IntegerParameter, NumberParameter
from campaigns.kinds.load.schedule import CLOSED, CONSTANT, OPEN, POISSON

MOST_HOSTS = 20_000
KEPT, EACH = "kept", "each"


def hosts(help_text: str) -> IntegerParameter:
    """Return the number of virtual hosts."""
    return IntegerParameter(
        label="Hosts",
        role="load",
        essential=True,
        initial=10,
        min_value=1,
        max_value=MOST_HOSTS,
        help_text=help_text,
    )


def loop(*, closed: str, opened: str, **named: Any) -> ChoiceParameter:
    """Return what decides when work begins. closed, opened: how the loops work."""
    return ChoiceParameter(
        label="Loop",
        essential=True,
        initial=CLOSED,
        choices=[(CLOSED, f"closed: {closed}"), (OPEN, f"open: {opened}")],
        **named,
    )


def rate(help_text: str, most: float = 1_000_000) -> NumberParameter:
    """Return how much begins in a second, whatever the target does."""
    return NumberParameter(
        label="Rate",
        role="load",
        essential=True,
        min_value=0.01,
        max_value=most,
        required=False,
        help_text=help_text,
    )


def arrivals(users: str, **named: Any) -> ChoiceParameter:
    """Return at which instants work of a rate begins. users: who comes."""
    return ChoiceParameter(
        label="Arrivals",
        role="work",
        initial=CONSTANT,
        choices=[
            (CONSTANT, "constant: evenly spaced"),
            (POISSON, f"poisson: at random, as independent {users} come"),
        ],
        **named,
    )


def ramp_seconds(help_text: str, *, initial: float, least: float = 0) -> NumberParameter:
    """Return the seconds over which hosts begin. They are part of the shape of the load: fewer ask for more."""
    return NumberParameter(
        label="Ramp in seconds",
        role="work",
        initial=initial,
        min_value=least,
        max_value=3600,
        help_text=help_text,
    )


def timeout_seconds(help_text: str, *, initial: float) -> NumberParameter:
    """Return the seconds after which a host gives up an answer."""
    return NumberParameter(
        label="Timeout in seconds",
        role="work",
        time_limit=True,
        initial=initial,
        min_value=0.1,
        max_value=3600,
        help_text=help_text,
    )


def connections(*, kept: str, each: str, help_text: str) -> ChoiceParameter:
    """Return how long a connection lasts. kept, each: what that means here."""
    return ChoiceParameter(
        label="Connections",
        initial=KEPT,
        choices=[(KEPT, f"kept: {kept}"), (EACH, f"each: {each}")],
        help_text=help_text,
    )


def check_rate(form: forms.Form, *, needed: bool, needless: str, missing: str = "") -> None:
    """Add an error where the load begins at a rate that is not given, or has a rate that it does not begin at.

    needed: whether it begins at a rate. needless, missing: the messages; without `missing` something else looks for it.
    """
    given = form.cleaned_data.get("rate")
    if not needed and given is not None:
        form.add_error("rate", needless)
    elif needed and missing and given is None and "rate" not in form.errors:
        form.add_error("rate", missing)
