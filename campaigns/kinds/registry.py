"""Find all kinds of test: the modules of this package, the entry points `perfdash.drivers`, and stored programs.

The module's name is the kind. A new kind is a file with `driver`, or a folder with `driver.py`; there is no
list to edit. Programs that operators have defined are kinds, too (`program/`); they are looked up in the database.
"""

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules

from django.contrib.auth.models import User

import campaigns.kinds
from campaigns.kinds.base import Driver
from campaigns.kinds.program import stored
from campaigns.kit.rights import Right, may

SHARED = frozenset({"api", "base", "hosts", "load", "program", "programs", "registry", "servers"})
"""Modules of this package that are no kinds."""


class UnknownKind(LookupError):
    """There is no driver of that name."""


@cache
def all_kinds() -> dict[str, Driver]:
    """Return all drivers of perfdash by kind, in alphabetical order. Those of this package take precedence."""
    drivers: dict[str, Driver] = {
        entry.name: entry.load() for entry in entry_points(group="perfdash.drivers")
    }
    for module in iter_modules(campaigns.kinds.__path__, "campaigns.kinds."):
        kind = module.name.rpartition(".")[2]
        if kind not in SHARED:
            place = f"{module.name}.driver" if module.ispkg else module.name
            drivers[kind] = import_module(place).driver
    return dict(sorted(drivers.items()))


def families() -> list[str]:
    """Return the families of servers that at least one kind can measure."""
    return sorted(
        {
            family
            for driver in all_kinds().values()
            if driver.executable
            for family in driver.families
        }
    )


def driver_of(kind: str) -> Driver:
    """Return the driver of a kind. Raise UnknownKind, with a list of the known ones."""
    try:
        return all_kinds()[kind]
    except KeyError:
        driver = stored.stored_driver(kind, families)
        if driver is not None:
            return driver
        raise _unknown(kind) from None


def chosen_kind(kind: str, user: User | None) -> tuple[str, Driver]:
    """Return a kind as campaigns keep it, with its driver, for a user who names it; no user: perfdash itself.

    Raise UnknownKind, in the same words for a program of a team whose rows the user may not see.
    """
    name = pinned(kind)
    if user is not None and name not in all_kinds():
        row = stored.program_of(name)
        if row is not None and not may(user, row.team_id, Right.SEE):
            raise _unknown(kind)
    return name, driver_of(name)


def _unknown(kind: str) -> UnknownKind:
    known = ", ".join(all_kinds())
    return UnknownKind(
        f"There is no kind “{kind}”; there are {known}, and the programs in use of your teams, by their names."
    )


def pinned(kind: str) -> str:
    """Return the name of a kind as campaigns keep it: that of a program has its version."""
    if kind in all_kinds() or stored.is_version(kind):
        return kind
    row = stored.program_of(kind)
    return kind if row is None or row.kind is None else row.kind


def label_of(kind: str) -> str:
    """Return how people call a kind; its name where it is not known any more."""
    try:
        return driver_of(kind).label
    except UnknownKind:
        return kind


def labels_of_kinds(teams: Iterable[int]) -> list[tuple[str, str]]:
    """Return the kinds that campaigns of teams may have, each with its label; superseded programs with their version."""
    programs = stored.not_drafts(teams)
    return [
        *((kind, driver.label) for kind, driver in all_kinds().items()),
        *((str(row.kind), stored.label_of_row(row)) for row in programs),
    ]


def offered_kinds(teams: Iterable[int] | None = None, chosen: str = "") -> dict[str, Driver]:
    """Return the kinds of which campaigns can be defined: those of perfdash, and programs (of these teams alone).

    chosen: a kind that stays among them where it is an earlier version of a program.
    """
    return {**all_kinds(), **offered_programs(teams, chosen)}


def offered_programs(
    teams: Iterable[int] | None = None, chosen: str = "", only: str = ""
) -> dict[str, Driver]:
    """Return the programs among `offered_kinds`. only: this version alone, where it is among them."""
    rows = stored.in_use(teams, chosen)
    found = rows.filter(kind=only) if only else rows
    return {str(row.kind): stored.driver_of_row(row, families()) for row in found}
