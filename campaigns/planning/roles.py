"""The role of each factor: what its levels are, and so which cells may be compared.

The kind of test declares the roles of its parameters; a campaign may declare one as load where the kind
allows that (`Driver.may_be_load`). Submitted factors have the role that came with them; one without a role whose name means
load is asked about, and ranked by nobody.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from campaigns.kinds.base import Driver
from campaigns.kit.numbers import is_number
from campaigns.models import Campaign, Factor
from campaigns.planning.metrics import driver_if_known

Role = Factor.Role
PATH = "roles"
TEXTS = " A level in quotation marks is a text: send the number."
Errors = dict[str, list[str]]


def role_in(driver: Driver | None, name: str) -> Role:
    """Return the role that a kind declares for a factor."""
    return Role(driver.role(name)) if driver else Role.SETTING


def roles_of(campaign: Campaign) -> Mapping[str, Role]:
    """Return the roles of a campaign's factors by name, in their order.

    A stored role counts where one is stored; campaigns of before roles were stored have those of their kind.
    """
    driver = driver_if_known(campaign.kind)
    return {
        factor.name: Role(factor.role) if factor.role else role_in(driver, factor.name)
        for factor in campaign.factors.all()
    }


def loads_of(campaign: Campaign) -> tuple[str, ...]:
    """Return the factors that are load, in their order: their levels are never ranked or judged against each other."""
    return _with(campaign, Role.LOAD)


def work_of(campaign: Campaign) -> tuple[str, ...]:
    """Return the parameters and factors that say what work is done: cells that differ in one are not compared."""
    driver = driver_if_known(campaign.kind)
    declared = driver.work if driver else ()
    return tuple(dict.fromkeys((*declared, *_with(campaign, Role.WORK))))


def _with(campaign: Campaign, role: Role) -> tuple[str, ...]:
    return tuple(name for name, each in roles_of(campaign).items() if each == role)


def stated_roles(kind: str, factors: Iterable[Factor]) -> dict[str, str]:
    """Return the roles that a definition names: those that a campaign has declared, or that were submitted.

    Work has a field of its own in submissions, so it is left out.
    """
    driver = driver_if_known(kind)
    executable = driver is not None and driver.executable
    stated = (Role.LOAD,) if executable else tuple(role for role in Role if role != Role.WORK)
    return {factor.name: factor.role for factor in factors if factor.role in stated}


def read_roles(
    values: Any, driver: Driver, factors: Mapping[str, Sequence[Any]], errors: Errors
) -> dict[str, str]:
    """Return the roles that a definition states beyond those of the kind; add the errors of each at `roles`."""
    if values in (None, "") or values == {}:
        return {}
    if not isinstance(values, Mapping):
        errors[PATH] = ["Give the role of each factor, such as {“concurrency”: “load”}."]
        return {}
    stated = {}
    for name, role in values.items():
        if name not in factors:
            if f"factors.{name}" not in errors:
                errors[f"{PATH}.{str(name)[:60]}"] = [_does_not_vary(str(name), factors)]
        elif f"{PATH}.{name}" in errors or role == role_in(driver, name):
            continue
        elif role == Role.LOAD and name in driver.may_be_load:
            stated[name] = str(role)
        else:
            errors[f"{PATH}.{name}"] = [_not_allowed(name, role, driver)]
    return stated


def _does_not_vary(name: str, factors: Mapping[str, Any]) -> str:
    return f"“{name[:60]}” does not vary; what varies is {', '.join(factors) or 'nothing'}."


def _not_allowed(name: str, role: Any, driver: Driver) -> str:
    possible = ", ".join(driver.may_be_load)
    rule = (
        f"{possible} may be declared load" if possible else "no parameter may be declared otherwise"
    )
    return (
        f"{name} is {role_in(driver, name)} in the kind {driver.label}, and cannot be "
        f"“{str(role)[:40]}”: {rule}."
    )


def read_submitted(
    values: Any, factors: Mapping[str, Sequence[Any]], errors: Errors, path: str = PATH
) -> dict[str, str]:
    """Return the roles of submitted factors, of which nobody but the sender knows; add errors below `path`."""
    if values in (None, "") or values == {}:
        return {}
    if not isinstance(values, Mapping):
        errors[path] = ["Give the role of each factor, such as {“clients”: “load”}."]
        return {}
    stated = {}
    for name, role in values.items():
        if name not in factors:
            errors[f"{path}.{str(name)[:60]}"] = [_does_not_vary(str(name), factors)]
        elif role not in Role.values:
            errors[f"{path}.{name}"] = [
                f"“{str(role)[:40]}” is no role; there are {', '.join(Role.values)}."
            ]
        else:
            stated[str(name)] = str(role)
    return stated


def load_among(
    driver: Driver, factors: Mapping[str, Sequence[Any]], stated: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the factors of a definition that are load, in their order."""
    return tuple(name for name in factors if stated.get(name, role_in(driver, name)) == Role.LOAD)


def check_loads(
    loads: Sequence[str],
    factors: Mapping[str, Sequence[Any]],
    paired: str,
    errors: Errors,
    *,
    prefix: str = "",
    several: bool = False,
) -> None:
    """Add errors for levels of load that are no numbers above 0, for a single one, and for pairs of two loads.

    several: whether one level is too few, as in a design; a search chooses its levels, and runs from outside may come one by one.
    """
    for name in loads:
        wrong = [level for level in factors[name] if not is_number(level) or level <= 0]
        path = f"{prefix}factors.{name}"
        if wrong and path not in errors:
            errors[path] = [
                f"{name} is load, and {_quoted(wrong)} {'is' if len(wrong) == 1 else 'are'} no "
                "number above 0: a load counts what is asked of the target at once."
                f"{TEXTS if any(isinstance(level, str) for level in wrong) else ''}"
            ]
    if loads and several and all(len(factors[name]) == 1 for name in loads):
        path = f"{prefix}factors.{loads[0]}"
        errors.setdefault(
            path,
            [
                f"{loads[0]} is load and has one level: what is carried takes at least two. Add a level, or "
                "take it out of the factors, and give its value as a parameter."
            ],
        )
    if paired in loads:
        errors[f"{prefix}paired_factor"] = [
            f"{paired} is load: its levels are not judged against each other. Pair a setting, and vary "
            f"{paired} besides; or choose the order “interleaved”."
        ]


def _quoted(levels: Sequence[Any]) -> str:
    return ", ".join(f"“{str(level)[:40]}”" for level in levels[:5])


MEANS_LOAD = frozenset(
    [
        "host",
        "hosts",
        "client",
        "clients",
        "user",
        "users",
        "vu",
        "vus",
        "connection",
        "connections",
        "conn",
        "conns",
        "rate",
        "arrivals",
        "load",
        "rps",
        "qps",
        "tps",
        "ops_s",
        "request_rate",
        "requests_s",
        "queries_s",
        "transactions_s",
        "users_s",
        "hosts_s",
        "clients_s",
        "arrivals_s",
        "sessions_s",
        "registrations_s",
    ]
)
"""Names that say how much is asked of the target at once, as `_spellings` has them: such a factor is not ranked until its role is stated."""
SOUNDS_LIKE_LOAD = MEANS_LOAD | frozenset(
    [
        "concurrency",
        "threads",
        "workers_in_flight",
        "in_flight",
        "inflight",
        "parallel",
        "parallelism",
        "sessions",
    ]
)
"""Further names are asked about, and may as well be a setting of the target or of a client: such a factor is ranked."""
WITHOUT_MEANING = frozenset(
    [
        "n",
        "no",
        "nr",
        "num",
        "number",
        "of",
        "count",
        "total",
        "concurrent",
        "simultaneous",
        "virtual",
        "arrival",
        "offered",
        "requested",
        "target",
    ]
)
PER_SECOND = {
    "per": "",
    "second": "s",
    "seconds": "s",
    "sec": "s",
    "secs": "s",
    "req": "requests",
    "reqs": "requests",
}
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def _spellings(name: str) -> set[str]:
    """Return a name of a factor by its letters, and by its words that mean something: “numClients”, “Number of clients” are clients."""
    words = [PER_SECOND.get(word.lower(), word.lower()) for word in WORDS.findall(name)]
    told = [word for word in words if word and word not in WITHOUT_MEANING]
    return {"_".join(told), re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")}


def may_be_load(factors: Mapping[str, Sequence[Any]], stated: Mapping[str, str]) -> tuple[str, ...]:
    """Return the factors whose name and levels suggest load, and that nobody has given a role.

    It is a question to the sender; nothing is load by its name.
    """
    return tuple(
        name
        for name, levels in factors.items()
        if name not in stated and _spellings(name) & SOUNDS_LIKE_LOAD and _counts(levels)
    )


def means_load(name: str) -> bool:
    """Return whether the name alone says that a factor is load, so that its levels are not ranked before its role is stated."""
    return bool(_spellings(name) & MEANS_LOAD)


def asked_of(campaign: Campaign) -> tuple[str, ...]:
    """Return the factors of an import or a submission that are a guess, or whose name means load, and whose role nobody has stated.

    They are no load, so that nothing is said to be carried; and their levels are not ranked either.
    """
    driver = driver_if_known(campaign.kind)
    return tuple(factor.name for factor in campaign.factors.all() if is_asked(driver, factor))


def roles_told(campaign: Campaign) -> dict[str, str]:
    """Return the roles of a campaign's factors as others are told: empty where it is asked for."""
    roles = {name: str(role) for name, role in roles_of(campaign).items()}
    return {**roles, **dict.fromkeys(asked_of(campaign), "")}


def is_asked(driver: Driver | None, factor: Factor) -> bool:
    """Return whether a factor came from outside without a role, and is a guess, or has a name that means load and levels that are numbers."""
    if driver is None or driver.executable or factor.role:
        return False
    if factor.guess or not means_load(factor.name):
        return bool(factor.guess)
    return _counts([level.value for level in factor.levels.all()])


def guesses_of(campaign: Campaign) -> dict[str, str]:
    """Return why each factor is one that no declaration in an imported file names, by its name."""
    return {factor.name: factor.guess for factor in campaign.factors.all() if factor.guess}


def never_ranked(campaign: Campaign) -> tuple[str, ...]:
    """Return the factors whose levels are not judged against each other: loads, then those that may be load."""
    return (*loads_of(campaign), *asked_of(campaign))


def _counts(levels: Sequence[Any]) -> bool:
    """Return whether two levels or more are numbers, also in quotation marks: names of hosts are none."""
    return sum(is_number(level) or _is_written_number(level) for level in levels) > 1


def _is_written_number(level: Any) -> bool:
    try:
        return isinstance(level, str) and math.isfinite(float(level))
    except ValueError:
        return False
