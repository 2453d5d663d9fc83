"""Which parameters of a sync a Pulp has, which a Katello, and what is said where they are mixed up. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from campaigns.kinds.base import Parameters
from campaigns.kinds.sync.form import SyncForm

PULP, KATELLO = "pulp", "katello"
KATELLOS = ("repository_ids", "proxy")
OF_BOTH = ("repeat", "optimize")
ALONE = {
    name: KATELLO if name in KATELLOS else PULP
    for name in SyncForm.base_fields
    if name not in OF_BOTH
}


def misfits(
    family: str, parameters: Parameters, factors: Mapping[str, Sequence[Any]]
) -> dict[str, str]:
    """Return what a server of the family has nothing to do with, and what it misses."""
    found = dict(_of_others(family, parameters, factors))
    missing = _missing_of_katello if family == KATELLO else _missing_of_pulp
    return found | dict(missing(parameters, factors))


def _of_others(
    family: str, parameters: Parameters, factors: Mapping[str, Sequence[Any]]
) -> Iterator[tuple[str, str]]:
    for name, owner in ALONE.items():
        if owner == family:
            continue
        initial = SyncForm.base_fields[name].initial
        left = f"leave it at {initial}" if initial is not None else "leave it empty"
        if name in factors:
            yield name, f"Only a {owner} target has it: do not vary it, and {left}."
        elif not _is_untouched(parameters.get(name), initial):
            yield name, f"Only a {owner} target has it: {left}, or choose another target."


def _is_untouched(value: Any, initial: Any) -> bool:
    """Return whether nobody chose the value; `content` is read as file/file where file is the initial."""
    return value in (None, "", initial) or (bool(initial) and value == f"{initial}/{initial}")


def _may_be_empty(name: str, parameters: Parameters, factors: Mapping[str, Sequence[Any]]) -> bool:
    return not all(factors.get(name, (parameters.get(name),)))


def _missing_of_pulp(
    parameters: Parameters, factors: Mapping[str, Sequence[Any]]
) -> Iterator[tuple[str, str]]:
    if _may_be_empty("feed", parameters, factors):
        yield "feed", "Give the URL that Pulp syncs from."


def _missing_of_katello(
    parameters: Parameters, factors: Mapping[str, Sequence[Any]]
) -> Iterator[tuple[str, str]]:
    if all(_may_be_empty(name, parameters, factors) for name in KATELLOS):
        yield (
            "repository_ids",
            "Give the ids of repositories that this Katello has, or the id of a proxy.",
        )
    if set(factors.get("repeat", (parameters.get("repeat"),))) != {"unchanged"}:
        yield (
            "repeat",
            "perfdash makes and deletes nothing in a Katello, so its repositories are synced once "
            "more: choose unchanged.",
        )
