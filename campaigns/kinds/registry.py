"""Find all kinds of test: the modules of this package, and the entry points `perfdash.drivers`.

The module's name is the kind. A new kind is a file with `driver`, or a folder with `driver.py`; there is no
list to edit.
"""

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules

import campaigns.kinds
from campaigns.kinds.base import Driver

SHARED = frozenset({"api", "base", "load", "programs", "registry", "servers"})
"""Modules of this package that are no kinds."""


class UnknownKind(LookupError):
    """There is no driver of that name."""


@cache
def all_kinds() -> dict[str, Driver]:
    """Return all drivers by kind, in alphabetical order. Those of this package take precedence."""
    drivers: dict[str, Driver] = {
        entry.name: entry.load() for entry in entry_points(group="perfdash.drivers")
    }
    for module in iter_modules(campaigns.kinds.__path__, "campaigns.kinds."):
        kind = module.name.rpartition(".")[2]
        if kind not in SHARED:
            place = f"{module.name}.driver" if module.ispkg else module.name
            drivers[kind] = import_module(place).driver
    return dict(sorted(drivers.items()))


def driver_of(kind: str) -> Driver:
    """Return the driver of a kind. Raise UnknownKind, with a list of the known ones."""
    try:
        return all_kinds()[kind]
    except KeyError:
        known = ", ".join(all_kinds())
        raise UnknownKind(f"There is no kind “{kind}”; there are {known}.") from None
