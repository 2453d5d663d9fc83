"""Split a load between several generators.

A driver that declares `generators = True` gets the parameters of GeneratorsForm. It makes the request of a
load program, splits it with `parts_of`, and passes the parts to `Context.generate`, which returns one
outcome: the sum of those of all programs.
"""

import re
from collections.abc import Callable, Sequence
from threading import Event
from types import new_class

from django import forms
from django.core.exceptions import ValidationError

from campaigns.kinds.base.errors import DriverError
from campaigns.kinds.base.parameters import IntegerParameter, ListParameter
from campaigns.kinds.programs.program import Outcome
from campaigns.kit.mappings import ProgramProgress, ProgramRequest

MOST_GENERATORS = 20
POOL = "generate"
"""The default queue of the workers that generate load."""
POOL_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,49}\Z", re.ASCII)

Progress = Callable[[ProgramProgress], None]
Gather = Callable[[str, Sequence[ProgramRequest], float, Progress, Event], Outcome]
"""Runs an engine module once for each request, all at once, within a number of seconds, unless the flag is set (Context.generate)."""


def read_pools(text: str) -> tuple[str, ...]:
    """Return the names of pools in a text. Raise ValidationError where one is invalid."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if not POOL_NAME.match(name):
            raise ValidationError(
                f"“{name:.60}” is no name of a pool: use small letters, digits, “_”, “-”, “.”."
            )
    return names or (POOL,)


def check_pools(text: str) -> None:
    """Raise ValidationError where one of the names of pools is invalid."""
    read_pools(text)


class GeneratorsForm(forms.Form):
    """How many generators make the load, and in which pools."""

    generators = IntegerParameter(
        label="Generators",
        role="instrument",
        initial=1,
        min_value=1,
        max_value=MOST_GENERATORS,
        help_text="Programs that share the load. One runs in the worker itself; several start at the "
        "same instant on workers of the pools below.",
    )
    generator_pools = ListParameter(
        label="Generator pools",
        varies=False,
        initial=POOL,
        max_length=200,
        required=False,
        validators=[check_pools],
        help_text="Pools of the generators, separated by commas, used in turn. Not used with one generator.",
    )


def with_generators(form: type[forms.Form]) -> type[forms.Form]:
    """Return a kind's form with the parameters of GeneratorsForm after its own."""
    if issubclass(form, GeneratorsForm):
        return form
    added = new_class(form.__name__, (GeneratorsForm, form), {"metaclass": type(form)})
    added.__module__, added.__doc__ = form.__module__, form.__doc__
    return added


def parts_of(request: ProgramRequest, generators: int) -> list[ProgramRequest]:
    """Split the request of a load program into one for each generator, each with its part of the schedule.

    The limits of the target's owner stay those of the whole run: each program takes its share of them (`load.job`). Raise
    DriverError where a share would be less than one.
    """
    if generators == 1:
        return [dict(request)]
    most = request.get("most_concurrent")
    if most is not None and most < generators:
        raise DriverError(
            f"The target's owner allows {most} requests at a time; that is less than one for each of "
            f"{generators} generators. Use fewer, or ask for more."
        )
    return [
        {**request, "shard": [number, generators], "wait_for_start": True}
        for number in range(generators)
    ]
