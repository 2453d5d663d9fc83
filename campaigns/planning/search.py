"""The search for capacity as a campaign states it: which load, from where, and how far at most. Pure but for the form's fields.

`stats.capacity_search` decides each step; `search_text` says what the step is and why.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from django import forms
from msgspec import Struct

from campaigns.kinds.base import Driver
from campaigns.kit.mappings import FieldValues, Json, JsonObject, Levels
from campaigns.kit.numbers import grouped
from campaigns.models import Campaign
from campaigns.planning.closed_loops import is_offered
from campaigns.planning.criterion import criterion_of
from campaigns.stats.capacity_search import Bounds
from campaigns.targets.allowed import Allowed

FIRST, MOST_RUNS, FEWEST_RUNS, MOST_RUNS_EVER = 25.0, 20, 8, 100
LARGEST = 1e9
MOST_LETTERS = 150
"""The longest name of an account."""


class Search(Struct, frozen=True, omit_defaults=True):
    """A search for capacity.

    load: the factor whose levels the search chooses. first: the load that it begins with. largest: it never goes above; lowest: nor
    below. most_runs: of each setting, checks of recovery besides. most_failed: units of work that may fail in all runs together;
    None: any number. person: who is to stop it, by the name of the account. extra_blocks: those that extensions have added.
    """

    load: str
    first: float
    largest: float
    lowest: float = 1.0
    most_runs: int = MOST_RUNS
    most_failed: int | None = None
    person: str = ""
    extra_blocks: int = 0


FIELDS = tuple(name for name in Search.__struct_fields__ if name != "extra_blocks")


def search_of(stored: Json | None) -> Search | None:
    """Return `Campaign.search` as a struct; None for a campaign that searches nothing."""
    return msgspec.convert(stored, Search) if stored else None


def as_json(search: Search) -> JsonObject:
    """Return it as `Campaign.search` holds it."""
    return dict(msgspec.to_builtins(search))


def shown(stored: Json | None) -> JsonObject:
    """Return it as a definition has it, without what is not stated; empty for a campaign that searches nothing."""
    search = search_of(stored)
    if search is None:
        return {}
    fields = {name: getattr(search, name) for name in FIELDS}
    return {name: value for name, value in fields.items() if value not in (None, "")}


def read_search(
    data: FieldValues,
    driver: Driver,
    fields: Mapping[str, forms.Field],
    loads: Sequence[str],
    errors: dict[str, list[str]],
) -> Search | None:
    """Return the search of a definition; record what is wrong by path. loads: factors that are load in this campaign."""
    stated = data.get("search")
    if not stated:
        return None
    if not isinstance(stated, Mapping):
        errors["search"] = ["Give the search as fields: {“load”: “hosts”, “largest”: 2000}."]
        return None
    known = {**stated}
    wrong = [str(name) for name in known if name not in FIELDS]
    if wrong:
        errors["search"] = [f"There is no “{wrong[0][:60]}”; there are {', '.join(FIELDS)}."]
        return None
    if not known.get("load") and len(loads) == 1:
        known["load"] = loads[0]
    load = str(known.get("load") or "")
    if load not in loads:
        named = ", ".join(loads) or "none of this kind"
        errors["search.load"] = [f"Name the load to search: {named}."]
        return None
    if isinstance(data.get("factors"), Mapping) and load in data["factors"]:
        errors[f"factors.{load}"] = [
            f"The search chooses the levels of {load}: take it out of the factors, or do not search."
        ]
    return _checked(known, load, fields.get(load), driver, errors)


def _checked(
    known: Json,
    load: str,
    field: forms.Field | None,
    driver: Driver,
    errors: dict[str, list[str]],
) -> Search | None:
    """Return the search with the bounds of the parameter; record numbers that contradict one another."""
    numbers = {
        name: _number(known.get(name), name, errors)
        for name in ("first", "largest", "lowest", "most_runs", "most_failed")
    }
    least = getattr(field, "min_value", None) or 1
    most = getattr(field, "max_value", None)
    lowest = max(float(least), numbers["lowest"] or float(least))
    largest = numbers["largest"]
    first = numbers["first"]
    if first is None:
        first = max(min(FIRST, FIRST if largest is None else largest), lowest)
    if "search.largest" not in errors and largest is None:
        errors["search.largest"] = [f"Give the largest load ({load}) that the search may reach."]
    runs = numbers["most_runs"] if numbers["most_runs"] is not None else float(MOST_RUNS)
    if not FEWEST_RUNS <= runs <= MOST_RUNS_EVER:
        errors["search.most_runs"] = [
            f"Allow {FEWEST_RUNS} to {MOST_RUNS_EVER} runs: fewer find nothing."
        ]
    person = known.get("person") or ""
    if not isinstance(person, str) or len(person) > MOST_LETTERS:
        errors["search.person"] = ["Give the name of an account, as it is typed to sign in."]
    if largest is None:
        return None
    if most is not None and largest > most:
        errors["search.largest"] = [f"{load} can be {grouped(float(most))} at most."]
    if largest < lowest:
        errors["search.largest"] = [
            f"The largest load ({grouped(largest)}) is below the smallest ({grouped(lowest)})."
        ]
    elif not lowest <= first <= largest:
        errors["search.first"] = [
            f"Begin between {grouped(lowest)} and {grouped(largest)}, not at {grouped(first)}."
        ]
    if any(path.startswith("search") for path in errors):
        return None
    failed = numbers["most_failed"]
    return Search(
        load,
        float(round(first)),
        float(int(largest)),
        lowest,
        int(runs),
        None if failed is None else int(failed),
        person.strip(),
    )


def _number(value: Any, name: str, errors: dict[str, list[str]]) -> float | None:
    """Return a whole number from 1 on; None where nothing is stated, or where it is none."""
    if value in (None, ""):
        return None
    try:
        number = float(str(value))
    except ValueError:
        number = 0.0
    if not 1 <= number <= LARGEST or number != int(number):
        errors[f"search.{name}"] = [
            f"“{str(value)[:40]}” is no whole number from 1 to {grouped(LARGEST)}."
        ]
        return None
    return number


def largest_allowed(
    search: Search, driver: Driver, parameters: FieldValues, allowed: Allowed
) -> float:
    """Return the largest load that the owner's limit lets the search reach, too."""
    most = allowed.most_concurrent
    if most is None:
        return search.largest
    low, high = search.lowest - 1, search.largest
    while low < high:  # the largest load whose runs stay within the limit
        middle = (low + high + 1) // 2
        wanted = driver.concurrency({**parameters, search.load: int(middle)})
        if wanted is not None and wanted > most:
            high = middle - 1
        else:
            low = middle
    return high


def bounds_of(campaign: Campaign, search: Search, *, largest: float) -> Bounds:
    """Return the bounds of the search of a campaign. largest: that its owner's limits allow."""
    criterion = criterion_of(campaign.criterion)
    return Bounds(
        first=min(search.first, largest),
        largest=largest,
        lowest=min(search.lowest, largest),
        most_runs=search.most_runs,
        blocks=campaign.repetitions,
        resolution=criterion.resolution,
        seed=campaign.seed,
        offered_rate=is_offered(campaign, search.load),
        by_failures=not criterion.conditions,
        extra_blocks=search.extra_blocks,
    )


def most_failed_of(campaign: Campaign) -> float | None:
    """Return the share of a run's work whose failure ends the run at once; None where nothing is searched."""
    if not campaign.search:
        return None
    percent = criterion_of(campaign.criterion).failed_percent
    return campaign.failed_limit if percent is None else percent / 100


def settings_of(cells: Sequence[Levels], load: str) -> list[Levels]:
    """Return the levels of each setting: those of cells without the load, each once."""
    settings: list[Levels] = []
    for cell in cells:
        setting = {name: level for name, level in cell.items() if name != load}
        if setting not in settings:
            settings.append(setting)
    return settings
