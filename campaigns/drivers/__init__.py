"""All kinds of test: the modules beside this one, and the entry points `perfdash.drivers`.

The module's name is the kind. A new kind is one file (or folder); there is no list to edit.
"""

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules

from campaigns.drivers.base import Driver


class UnknownKind(LookupError):
    """There is no driver of that name."""


@cache
def all_kinds() -> dict[str, Driver]:
    """Load every driver, by kind, in alphabetical order; those of this package win."""
    found: dict[str, Driver] = {
        entry.name: entry.load() for entry in entry_points(group="perfdash.drivers")
    }
    for module in iter_modules(__path__):
        if module.name != "base":
            found[module.name] = import_module(f"{__name__}.{module.name}").driver
    return dict(sorted(found.items()))


def driver_of(kind: str) -> Driver:
    """Find the driver of a kind. Raise UnknownKind, naming those that there are."""
    try:
        return all_kinds()[kind]
    except KeyError:
        known = ", ".join(all_kinds())
        raise UnknownKind(f"There is no kind “{kind}”; there are {known}.") from None
