"""Numbers, instants and names as filters; no line breaks between a number and its unit."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from django.template import Library

from campaigns.kit import formats, numbers

register = Library()
P = ParamSpec("P")


def _unbroken(write: Callable[P, str]) -> Callable[P, str]:
    @wraps(write)
    def filter_(*arguments: P.args, **named: P.kwargs) -> str:
        return write(*arguments, **named).replace(" ", "\u00a0")

    return filter_


for _write in (
    numbers.number,
    numbers.share,
    numbers.duration,
    numbers.about,
    numbers.amount,
    formats.observed,
):
    register.filter(_write.__name__, _unbroken(_write))
for _filter in (
    formats.minus,
    formats.direction,
    formats.ordinal,
    formats.unbroken,
    formats.breakable,
    formats.instant,
    formats.age,
    formats.ago,
):
    register.filter(_filter)
