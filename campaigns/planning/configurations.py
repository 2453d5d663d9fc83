"""Named configurations: the levels of the factor `configuration` are names of sets of the target's settings.

“2 x 16” and “4 x 8” differ in two settings at once. A run sets, reads back and restores the settings of its set, like those that
vary by themselves; results have the name alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.exceptions import ValidationError

from campaigns.kinds.base.values import driver_levels
from campaigns.kit.forms import Text, plain
from campaigns.kit.mappings import FieldValues, Levels, Parameters, Settings
from campaigns.kit.suggesting import MOST_LETTERS, listed
from campaigns.models import Campaign, Target
from campaigns.planning.definition import Definition
from campaigns.targets.variables import Variables

CONFIGURATION = "configuration"
PATH = f"factors.{CONFIGURATION}"
MOST = 50
"""Configurations of a campaign."""
MOST_SETTINGS = 50
LONGEST_NAME = 100
EXAMPLE = "{“2 x 16”: {“puma_workers”: 2, “puma_threads”: 16}, “4 x 8”: …}"
ONLY_HERE = f"Give a list of levels. Only the factor “{CONFIGURATION}” has named sets of settings."
NAMED = Text(max_length=LONGEST_NAME)

Configurations = Mapping[str, Settings]
Errors = dict[str, list[str]]


def run_values(campaign: Campaign, levels: Levels) -> Parameters:
    """Return the parameters and settings of the runs of a cell, those of its configuration among them."""
    return {**campaign.parameters, **expanded(campaign, driver_levels(levels))}


def expanded(campaign: Campaign, levels: Levels) -> Levels:
    """Return levels with the settings of their configuration in place of its name."""
    if not campaign.configurations or CONFIGURATION not in levels:
        return levels
    others = {name: level for name, level in levels.items() if name != CONFIGURATION}
    return {**others, **campaign.configurations[levels[CONFIGURATION]]}


def text_of(chosen: Settings) -> str:
    """Return a set as a text, by name: “puma_threads 16, puma_workers 2”. PostgreSQL keeps no order."""
    return ", ".join(f"{name} {chosen[name]}" for name in sorted(chosen))


def read_configurations(
    sent: Definition, variables: Variables, errors: Errors, targets: Sequence[Target] = ()
) -> Configurations:
    """Return the sets of a definition by name, their values cleaned by the settings; add errors by path. Empty without any."""
    stated = sent.factors.get(CONFIGURATION)
    if not isinstance(stated, Mapping):
        if stated is not None and CONFIGURATION not in variables.fields:
            errors[PATH] = [f"Name the sets of settings to compare: {EXAMPLE}."]
        return {}
    if CONFIGURATION in variables.fields:
        errors[PATH] = [
            f"The target has a setting “{CONFIGURATION}”; rename it to compare named sets."
        ]
        return {}
    if not targets:
        errors.setdefault("target", ["Choose the server whose settings they are."])
        return {}
    if not 0 < len(stated) <= MOST:
        errors[PATH] = [f"{len(stated)} configurations; give 1 to {MOST}."]
        return {}
    read = {name: _read_set(name, values, variables, errors) for name, values in stated.items()}
    if not any(path == PATH or path.startswith(f"{PATH}.") for path in errors):
        _check_together(read, errors)
    _check_apart(sent, read, errors)
    return read


def _read_set(name: str, values: Any, variables: Variables, errors: Errors) -> Settings:
    """Return the cleaned values of one set."""
    path = f"{PATH}.{name[:MOST_LETTERS]}"
    try:
        NAMED.clean(name)
    except ValidationError as error:
        errors[path] = [f"The name of a configuration: {' '.join(error.messages)}"]
    if not isinstance(values, Mapping) or not 0 < len(values) <= MOST_SETTINGS:
        errors.setdefault(path, []).append(
            f"Give the settings by name, 1 to {MOST_SETTINGS}: {{“puma_workers”: 2, “puma_threads”: 16}}."
        )
        return {}
    read = {}
    for setting, value in values.items():
        at = f"{path}.{str(setting)[:MOST_LETTERS]}"
        if setting not in variables.settings:
            there = listed(variables.settings) or "none"
            errors[at] = [f"The target has no setting of that name; there are {there}."]
            continue
        try:
            read[setting] = _value(variables, setting, value)
        except ValidationError as error:
            errors[at] = error.messages
    return read


def _value(variables: Variables, setting: str, value: Any) -> Any:
    if value in (None, "") or isinstance(value, list | tuple | Mapping):
        raise ValidationError("Give one value; an empty one says nothing.")
    return plain(variables.fields[setting].clean(value))


def _check_together(read: Configurations, errors: Errors) -> None:
    """Add errors for a set that leaves open what another one sets, and for two that are the same."""
    known: dict[str, None] = {name: None for chosen in read.values() for name in chosen}
    seen: dict[frozenset[tuple[str, Any]], str] = {}
    for name, chosen in read.items():
        if missing := [setting for setting in known if setting not in chosen]:
            errors[f"{PATH}.{name}"] = [
                f"It leaves {', '.join(missing)} open, which another configuration sets: its runs would have what the run "
                "before left. Give it here, too."
            ]
            continue
        former = seen.setdefault(frozenset(chosen.items()), name)
        if former != name:
            errors[f"{PATH}.{name}"] = [f"It has the same settings as “{former}”. Leave one out."]


def _check_apart(sent: Definition, read: Configurations, errors: Errors) -> None:
    """Add errors for settings that the definition states besides."""
    for name in dict.fromkeys(name for chosen in read.values() for name in chosen):
        for part, stated in (("factors", sent.factors), ("parameters", sent.parameters)):
            if stated.get(name) not in (None, "", []):
                errors[f"{part}.{name}"] = [
                    f"The configurations set {name}; leave it out here, or out of them."
                ]


def check_elsewhere(
    read: Configurations, target: Target, variables: Variables, errors: Errors
) -> None:
    """Add errors for settings that another target lacks, or whose values it does not take."""
    for name, chosen in read.items():
        for setting, value in chosen.items():
            path = f"{PATH}.{name}.{setting}"
            if setting not in variables.settings:
                message = f"it has no setting “{setting}”. Define it there, too."
            else:
                try:
                    same = _value(variables, setting, value) == value
                    message = "" if same else f"its setting “{setting}” is of another type."
                except ValidationError as error:
                    message = " ".join(error.messages)
            if message:
                errors.setdefault(path, []).append(f"On “{target.name}”: {message}")


def as_levels(factors: Mapping[str, Sequence[Any]], stored: Configurations | None) -> FieldValues:
    """Return factors as a definition has them: the configurations with their settings."""
    if not stored:
        return factors
    return {
        # PostgreSQL does not keep the order of names; the levels do.
        name: {level: stored[level] for level in levels} if name == CONFIGURATION else levels
        for name, levels in factors.items()
    }
