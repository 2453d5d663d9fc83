"""Find all sources of watches: the modules of `sources`. The module's name is the source's."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from campaigns.targets.watches import sources
from campaigns.targets.watches.base import Source


class UnknownSource(LookupError):
    """There is no source of that name."""


@cache
def all_sources() -> Mapping[str, Source]:
    """Return all sources by name, in alphabetical order."""
    names = sorted(module.name for module in iter_modules(sources.__path__))
    return {name: import_module(f"{sources.__name__}.{name}").source for name in names}


def source_of(name: str) -> Source:
    """Return a source. Raise UnknownSource, with a list of the known ones."""
    try:
        return all_sources()[name]
    except KeyError:
        known = ", ".join(all_sources())
        raise UnknownSource(f"There is no source “{name:.40}”; there are {known}.") from None
