"""The search for capacity as a campaign states it: which load, from where, and how far at most. Pure but for the form's fields.

`stats.capacity_search` decides each step; `search_text` says what the step is and why.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated

import msgspec
from django import forms
from msgspec import Meta, Struct

from campaigns.kinds.base import Driver
from campaigns.kit.mappings import FieldValues, Json, JsonObject, Levels
from campaigns.kit.numbers import grouped, plain
from campaigns.kit.structs import leaf
from campaigns.models import Campaign
from campaigns.planning.closed_loops import is_offered
from campaigns.planning.criterion import criterion_of
from campaigns.planning.leaves import Count, Name
from campaigns.stats.capacity_search import Bounds
from campaigns.targets.allowed import Allowed

FIRST, MOST_RUNS, FEWEST_RUNS, MOST_RUNS_EVER = 25.0, 20, 8, 100
LARGEST = 1e9
MOST_LETTERS = 150
"""The longest name of an account."""


class StatedSearch(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A search for capacity, as somebody states it: the rest follows from the parameter that is the load."""

    load: Annotated[
        str | None,
        Meta(description="The load whose levels the search chooses."),
        leaf(
            Name(
                label="Search for the capacity of",
                help_text="The search chooses the levels, so do not vary it. The target has to allow overloads.",
            )
        ),
    ] = None
    first: Annotated[
        float | None,
        leaf(
            Count(
                most=LARGEST,
                label="First load",
                help_text="A load that the target surely carries.",
                hint=plain(FIRST),
            )
        ),
    ] = None
    largest: Annotated[
        float | None,
        Meta(extra_json_schema={"type": "integer"}),  # not null: a search needs it
        leaf(
            Count(
                most=LARGEST,
                label="Stop above",
                help_text="No run has a larger load. The owner's limit may be smaller.",
            )
        ),
    ] = None
    lowest: Annotated[
        float | None,
        leaf(
            Count(
                most=LARGEST,
                label="Smallest load",
                help_text="It halves down to this, where the first load fails.",
                hint="1",
            )
        ),
    ] = None
    most_runs: Annotated[
        float | None,
        leaf(
            Count(
                least=FEWEST_RUNS,
                most=MOST_RUNS_EVER,
                refusal=f"Allow {FEWEST_RUNS} to {MOST_RUNS_EVER} runs: fewer find nothing.",
                label="Most runs",
                help_text="Of each setting, without checks of recovery.",
                hint=str(MOST_RUNS),
            )
        ),
    ] = None
    most_failed: Annotated[
        float | None,
        leaf(
            Count(
                most=LARGEST,
                label="Most failed work",
                help_text="In all runs together; then the search ends. Needed for a production server.",
                hint="any",
            )
        ),
    ] = None
    person: Annotated[
        str | None,
        leaf(
            Name(
                max_length=MOST_LETTERS,
                label="Who stops it",
                help_text="An account that may cancel it, and is told when it begins. Needed for a production server.",
                error_messages={
                    "max_length": "Give the name of an account, as it is typed to sign in."
                },
            )
        ),
    ] = None


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


FIELDS = StatedSearch.__struct_fields__


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
    stated: StatedSearch | None,
    factors: FieldValues,
    fields: Mapping[str, forms.Field],
    loads: Sequence[str],
    errors: dict[str, list[str]],
) -> Search | None:
    """Return the search of a definition; record what is wrong by path.

    factors: those that the definition varies. fields: the parameters. loads: factors that are load in this campaign.
    """
    if stated in (None, StatedSearch()):
        return None
    load = stated.load or (loads[0] if len(loads) == 1 else "")
    if load not in loads:
        named = ", ".join(loads) or "none of this kind"
        errors["search.load"] = [f"Name the load to search: {named}."]
        return None
    if load in factors:
        errors[f"factors.{load}"] = [
            f"The search chooses the levels of {load}: take it out of the factors, or do not search."
        ]
    return _checked(stated, load, fields.get(load), errors)


def _checked(
    stated: StatedSearch,
    load: str,
    field: forms.Field | None,
    errors: dict[str, list[str]],
) -> Search | None:
    """Return the search with the bounds of the parameter; record numbers that contradict one another."""
    least = float(getattr(field, "min_value", None) or 1)
    most = getattr(field, "max_value", None)
    lowest, largest = max(least, stated.lowest or least), stated.largest
    if largest is None:
        errors.setdefault(
            "search.largest", [f"Give the largest load ({load}) that the search may reach."]
        )
        return None
    first = stated.first
    if first is None:
        first = max(min(FIRST, largest), lowest)
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
    return Search(
        load,
        first,
        largest,
        lowest,
        int(stated.most_runs or MOST_RUNS),
        None if stated.most_failed is None else int(stated.most_failed),
        stated.person or "",
    )


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
