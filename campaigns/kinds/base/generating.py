"""Load that one machine generates, or several together, as a driver asks for it.

A driver that declares `generators = True` gets the parameters of GeneratorsForm. It makes the request of a
load program, cuts it with `parts_of`, and hands the parts to `Context.generate`; what it gets back is
the same whether one program did the work or several: one outcome, merged by addition.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from types import new_class
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from campaigns.kinds.base.errors import DriverError
from campaigns.kinds.programs.program import Outcome

MOST_GENERATORS = 20
POOL = "generate"
"""The queue of the workers that generate, unless a campaign names others."""
POOL_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,49}\Z", re.ASCII)

Progress = Callable[[Mapping[str, Any]], None]
Gather = Callable[[str, Sequence[Mapping[str, Any]], float, Progress], Outcome]
"""Runs an engine module with several requests at once, for at most so many seconds; see Context.generate."""


def read_pools(text: str) -> tuple[str, ...]:
    """Split the names of pools. Raise ValidationError where one of them is none."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if not POOL_NAME.match(name):
            raise ValidationError(
                f"“{name:.60}” is no name of a pool: take small letters, digits, “_”, “-”, “.”."
            )
    return names or (POOL,)


def check_pools(text: str) -> None:
    """Raise ValidationError where one of the names is none of a pool."""
    read_pools(text)


class GeneratorsForm(forms.Form):
    """From how many places the load comes, and which."""

    generators = forms.IntegerField(
        initial=1,
        min_value=1,
        max_value=MOST_GENERATORS,
        help_text="Programs that share the load. One runs in the worker itself; several start at one "
        "instant, wherever workers of the pools below stand.",
    )
    generator_pools = forms.CharField(
        initial=POOL,
        max_length=200,
        required=False,
        validators=[check_pools],
        help_text="Pools of the generators, with commas between; they take turns. Not used with one.",
    )


def with_generators(form: type[forms.Form]) -> type[forms.Form]:
    """Add the parameters of GeneratorsForm behind those of a kind."""
    if issubclass(form, GeneratorsForm):
        return form
    added = new_class(form.__name__, (GeneratorsForm, form), {"metaclass": type(form)})
    added.__module__, added.__doc__ = form.__module__, form.__doc__
    return added


def parts_of(request: Mapping[str, Any], generators: int) -> list[dict[str, Any]]:
    """Make the requests of so many generators out of that of a load program: each its part of the schedule.

    What the target's owner allows is shared out, too. Raise DriverError where it is less than one each.
    """
    if generators == 1:
        return [dict(request)]
    parts = [
        {**request, "shard": [part, generators], "wait_for_start": True}
        for part in range(generators)
    ]
    most, rate = request.get("most_concurrent"), request.get("most_per_second")
    if most is not None and most < generators:
        raise DriverError(
            f"The target's owner allows {most} requests at a time; that is less than one for each of "
            f"{generators} generators. Use fewer, or ask for more."
        )
    for part, made in enumerate(parts):
        if most is not None:
            made["most_concurrent"] = most // generators + (part < most % generators)
        if rate is not None:
            made["most_per_second"] = rate / generators
    return parts
