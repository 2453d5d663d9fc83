"""Read the parts of a definition that depend on its kind, and record errors by field path."""

from collections.abc import Mapping, Sequence
from itertools import combinations, islice
from types import MappingProxyType
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import QuerySet

from campaigns.kinds.base import Driver
from campaigns.kinds.base.values import BLIND_LABEL, BLIND_LEVELS, TARGET
from campaigns.kit.forms import CONTROL, many_for_one, messages_of, plain
from campaigns.kit.mappings import CleanedData, FieldValues, Parameters
from campaigns.kit.numbers import ascending, is_number
from campaigns.kit.suggesting import MOST_LETTERS
from campaigns.models import Campaign, Target, TargetStep
from campaigns.planning.configurations import (
    CONFIGURATION,
    ONLY_HERE,
    Configurations,
    check_elsewhere,
)
from campaigns.planning.definition import MOST_FACTORS, MOST_TARGETS, Definition
from campaigns.planning.levels import check_lengths, read_levels, same_level
from campaigns.planning.plan import number_of_cells
from campaigns.targets.variables import Variables, cleaned, variables_of

MOST_CELLS = 500
MOST_MESSAGES = 20
"""Messages about names that are not known."""
INTERLEAVE = "Leave two levels, or choose the order “interleaved”, which takes any number."


def read_targets(
    sent: Definition,
    driver: Driver,
    errors: dict[str, list[str]],
    targets: QuerySet[Target] | None = None,
) -> tuple[Target, ...]:
    """Return the servers to measure, in their order; none where the kind needs none, or the input is invalid.

    `targets` of the input names several, `target` a single one or the first of them. targets: those to
    choose from; by default all.
    """
    known = Target.objects.all() if targets is None else targets
    several = sent.targets
    if "targets" in errors:
        return ()
    if not several:
        if sent.target in (None, ""):
            if driver.executable:
                errors.setdefault("target", ["Choose the server to measure."])
            return ()
        only = _read_target(sent.target, "target", driver, errors, known)
        return () if only is None else (only,)
    if len(several) > MOST_TARGETS:
        errors["targets"] = [f"{len(several)} targets; compare at most {MOST_TARGETS} at once."]
        return ()
    rows = [_read_target(value, "targets", driver, errors, known) for value in several]
    result = tuple(row for row in rows if row is not None)
    if "targets" not in errors:
        _check_together(result, sent.target, errors)
    return result


def _read_target(
    value: Any,
    path: str,
    driver: Driver,
    errors: dict[str, list[str]],
    targets: QuerySet[Target],
) -> Target | None:
    """Return the target of a number or a name; add an error at the path where it cannot be measured."""
    messages = errors.setdefault(path, [])
    rows = _targets_in_use(value, targets)
    target = rows[0] if len(rows) == 1 else None
    if rows and target is None:
        teams = ", ".join(f"{row.pk} in {row.team}" for row in rows)
        messages.append(f"Several teams have a target of that name; give its number: {teams}.")
    elif target is None:
        messages.append(f"There is no target {value!r:.80}.")
    elif target.family not in driver.families:
        messages.append(
            f"“{target.name}” is a {target.family} server; the kind {driver.label} "
            f"needs one of the family {' or '.join(driver.families)}."
        )
    if not messages:
        del errors[path]
    return target


def _check_together(targets: Sequence[Target], first: Any, errors: dict[str, list[str]]) -> None:
    """Add errors where targets cannot be compared in one campaign."""
    messages = []
    for one, other in combinations(targets, 2):
        if one == other:
            messages.append(f"“{one.name}” is there twice.")
        elif one.address == other.address:
            messages.append(
                f"“{one.name}” and “{other.name}” are the same server ({one.address}). Compare "
                "servers, or measure it once."
            )
        elif one.team_id != other.team_id:
            messages.append(
                f"“{one.name}” and “{other.name}” belong to different teams; take those of one."
            )
    if families := {target.family for target in targets}.difference({targets[0].family}):
        messages.append(
            f"The targets are of different families ({targets[0].family} and "
            f"{', '.join(sorted(families))}), so they do different work; take those of one."
        )
    if first not in (None, "") and str(first) not in (str(targets[0].pk), targets[0].name):
        errors["target"] = [
            f"“target” is not the first of “targets”, which is “{targets[0].name}”. Leave “target” out."
        ]
    if messages:
        errors["targets"] = list(dict.fromkeys(messages))


def _targets_in_use(values: Any, targets: QuerySet[Target]) -> list[Target]:
    """Find a target by its primary key; by its name, where that is a text and no such key."""
    in_use = targets.filter(retired_at=None)
    try:
        rows = list(in_use.filter(pk=int(str(values))))
    except (ValueError, OverflowError):
        rows = []
    if not rows and isinstance(values, str) and not CONTROL.search(values):
        rows = list(in_use.filter(name=values).select_related("team"))
    return rows


def read_factors(
    sent: Definition,
    variables: Variables,
    errors: dict[str, list[str]],
    targets: Sequence[Target] = (),
) -> dict[str, tuple[Any, ...]]:
    """Return the levels by factor, cleaned by each field; wrong ones are left out.

    Several targets are a factor that comes first: its levels are their names.
    """
    value = sent.factors
    if len(value) > MOST_FACTORS:
        errors["factors"] = [f"{len(value)} factors; vary at most {MOST_FACTORS}."]
        return {}
    checked: dict[str, tuple[Any, ...]] = {}
    if len(targets) > 1:
        checked[TARGET] = tuple(target.name for target in targets)
    for name, levels in value.items():
        path = f"factors.{name}"
        if name == BLIND_LABEL or (name in checked and levels in ([*checked[name]], checked[name])):
            continue
        if name == CONFIGURATION and isinstance(levels, Mapping):
            checked[name] = tuple(levels)
            continue
        if name == TARGET:
            errors[path] = [
                f"Name the servers to compare as “targets”, 2 to {MOST_TARGETS}; then “target” is a "
                "factor by itself."
            ]
            continue
        if name == CONFIGURATION and name not in variables.factors:
            continue  # `configurations` has said it
        if name not in variables.factors:
            errors[path] = [
                f"“{str(name)[:MOST_LETTERS]}” cannot vary; those that can are {', '.join(variables.factors)}."
            ]
        elif isinstance(levels, Mapping):
            errors[path] = [ONLY_HERE]
        elif not levels:
            errors.setdefault(path, ["Give at least one level."])
        elif len(levels) > MOST_CELLS:
            errors[path] = [f"{len(levels)} levels; give at most {MOST_CELLS}."]
        else:
            read = read_levels(variables.fields[name], levels, path, errors)
            unlimited = variables.unlimited.get(name)
            ordered = unlimited in read and all(map(is_number, read))
            checked[name] = tuple(ascending(read, unlimited)) if ordered else read
            if None in checked[name] or "" in checked[name]:
                errors.setdefault(path, []).append("An empty level says nothing; give a value.")
    checked |= _blind(sent, errors)
    if number_of_cells(checked) > MOST_CELLS:
        errors["factors"] = [
            f"These levels make {number_of_cells(checked):,} cells; at most {MOST_CELLS} are "
            "allowed. Take out levels, or vary fewer parameters."
        ]
    check_lengths(checked, errors)
    return checked


def _blind(sent: Definition, errors: dict[str, list[str]]) -> dict[str, tuple[Any, ...]]:
    """Return the two labels of an A/A campaign, named by its factors or by the paired factor."""
    levels = sent.factors.get(BLIND_LABEL, BLIND_LEVELS)
    if BLIND_LABEL in (sent.paired_factor, *sent.factors):
        if sent.order != Campaign.Order.PAIRED or sent.paired_factor != BLIND_LABEL:
            errors[f"factors.{BLIND_LABEL}"] = [
                "A blind label compares one setting with itself: choose the order “paired”, and "
                f"“{BLIND_LABEL}” as the paired factor."
            ]
        elif isinstance(levels, Mapping) or tuple(levels or ()) != BLIND_LEVELS:
            errors[f"factors.{BLIND_LABEL}"] = [f"Its levels are {' and '.join(BLIND_LEVELS)}."]
        else:
            return {BLIND_LABEL: BLIND_LEVELS}
    return {}


def read_parameters(
    sent: Definition,
    driver: Driver,
    variables: Variables,
    factors: Mapping[str, tuple[Any, ...]],
    errors: dict[str, list[str]],
) -> CleanedData:
    """Check the fixed parameters together with the first level of each factor.

    A setting of the target is among them only where the input has a value: else it stays as it is.
    """
    if "parameters" in errors:
        return {}
    provided = sent.parameters
    known = driver.parameters.base_fields
    unknown = (str(name)[:MOST_LETTERS] for name in provided if name not in variables.fields)
    for name in islice(unknown, MOST_MESSAGES):
        errors[f"parameters.{name}"] = [
            f"There is no parameter “{name}”; there are {', '.join(variables.fields)}."
        ]
    values = {name: field.initial for name, field in known.items() if field.initial is not None}
    values |= {name: value for name, value in provided.items() if name in known}
    first = {name: levels[0] for name, levels in factors.items() if levels}
    form = driver.parameters(values | first)
    form.is_valid()
    fixed = [name for name in known if name not in sent.factors]
    for name, messages in messages_of(form).items():
        if name in fixed:
            errors[f"parameters.{name}"] = messages
    errors.update(many_for_one(provided, known, "parameters."))
    fixed_values = {}
    for name in fixed:
        try:
            fixed_values[name] = plain(form.cleaned_data.get(name))
        except ValidationError as error:
            errors[f"parameters.{name}"] = error.messages
    return fixed_values | _settings(sent, variables, errors)


def _settings(sent: Definition, variables: Variables, errors: dict[str, list[str]]) -> CleanedData:
    """Return the fixed values of the target's settings; an empty one leaves the setting as it is."""
    result = {}
    for name, setting in variables.settings.items():
        value = sent.parameters.get(name)
        if value in (None, "") or name in sent.factors:
            continue
        if isinstance(value, list | dict):
            errors[f"parameters.{name}"] = ["Give one value, not a list or an object."]
            continue
        try:
            result[name] = cleaned(setting, value)
        except ValidationError as error:
            errors[f"parameters.{name}"] = error.messages
    return result


def read_hard(
    sent: Definition,
    variables: Variables,
    factors: Mapping[str, tuple[Any, ...]],
    errors: dict[str, list[str]],
    targets: Sequence[Target] = (),
) -> tuple[str, ...]:
    """Return the factors that are hard to change: those of the input, else those that the settings mark."""
    value, order = sent.hard_to_change, sent.order
    in_blocks = order in (Campaign.Order.INTERLEAVED, Campaign.Order.PAIRED)
    if value is None or "hard_to_change" in errors:
        dear = is_dear(sent.parameters, variables, factors, targets)
        hard = variables.hard | ({TARGET} if dear else set())
        named = sent.factors.get(CONFIGURATION)
        sets = named.values() if isinstance(named, Mapping) else ()
        chosen = {name for values in sets if isinstance(values, Mapping) for name in values}
        hard |= {CONFIGURATION} if chosen & variables.hard else set()
        return tuple(name for name in factors if in_blocks and name in hard)
    if unknown := [name for name in value if name not in factors and not _is_wrong(name, errors)]:
        errors["hard_to_change"] = [f"“{unknown[0][:60]}” does not vary; name factors alone."]
    elif value and not in_blocks:
        errors["hard_to_change"] = [
            f"In the order “{order}” any run may change any level. Choose “interleaved” or “paired”, "
            "or let nothing be hard to change."
        ]
    builds = variables.builds if in_blocks else frozenset()
    return tuple(name for name in factors if name in value or name in builds)


def check_anew(
    sent: Definition,
    variables: Variables,
    factors: Mapping[str, Sequence[Any]],
    errors: dict[str, list[str]],
) -> None:
    """Add an error if builds are to be installed anew, and no build varies within blocks."""
    if not sent.anew or errors:
        return
    if not variables.builds & factors.keys():
        errors["anew"] = [
            "No build varies, so nothing is installed anew. Vary a setting that is a build, or leave this off."
        ]
    elif sent.order not in (Campaign.Order.INTERLEAVED, Campaign.Order.PAIRED):
        errors["anew"] = [
            f"In the order “{sent.order}” there are no whole plots. Choose “interleaved” or “paired”, or leave this off."
        ]


# What a run leaves in a server (settings, warm caches, what a reset brings up) lasts until its next run. Where
# nothing else varies, each visit is one run, and it makes no difference.
def is_dear(
    parameters: FieldValues,
    variables: Variables,
    factors: Mapping[str, tuple[Any, ...]],
    targets: Sequence[Target],
) -> bool:
    """Return whether the runs of a target stay together within a block: it is reset, or settings of it are set."""
    if TARGET not in factors or len(factors) == 1:
        return False
    fixed = {name for name, value in parameters.items() if value not in (None, "")}
    steps = TargetStep.objects.filter(target__in=targets, purpose=TargetStep.Purpose.RESET)
    return bool((fixed | factors.keys()) & variables.settings.keys()) or steps.exists()


def check_settings(
    targets: Sequence[Target],
    driver: Driver,
    parameters: Parameters,
    factors: Mapping[str, tuple[Any, ...]],
    errors: dict[str, list[str]],
    configurations: Configurations = MappingProxyType({}),
) -> None:
    """Add errors for settings that another target than the first lacks, or whose values it does not take."""
    for target in targets[1:]:
        variables = variables_of(driver, target)
        check_elsewhere(configurations, target, variables, errors)
        for path, name, values in (
            *(("factors", name, levels) for name, levels in factors.items() if name != TARGET),
            *(("parameters", name, (value,)) for name, value in parameters.items()),
        ):
            if name in driver.parameters.base_fields or name == BLIND_LABEL:
                continue
            if name == CONFIGURATION and configurations:
                continue
            messages: dict[str, list[str]] = {}
            if name not in variables.fields:
                messages = {"": [f"it has no setting “{name}”. Define it there, too."]}
            elif read_levels(variables.fields[name], values, "", messages) != tuple(values):
                messages.setdefault("", [f"its setting “{name}” is of another type."])
            for message in messages.get("", ()):
                errors.setdefault(f"{path}.{name}", []).append(f"On “{target.name}”: {message}")


def _is_wrong(name: str, errors: Mapping[str, list[str]]) -> bool:
    return f"factors.{name}" in errors


def note_misfits(
    target: Target,
    driver: Driver,
    parameters: Parameters,
    factors: Mapping[str, tuple[Any, ...]],
    errors: dict[str, list[str]],
) -> None:
    """Add errors for values that do not fit the family of the target, unless their field has one already."""
    if target.family not in driver.families:
        return
    for name, sentence in driver.misfits(target.family, parameters, factors).items():
        path = f"factors.{name}" if name in factors else f"parameters.{name}"
        errors.setdefault(path, [sentence])


def read_excluded(
    sent: Definition,
    driver: Driver,
    factors: Mapping[str, tuple[Any, ...]],
    errors: dict[str, list[str]],
) -> tuple[CleanedData, ...]:
    """Return the combinations of levels that are not measured."""
    value = sent.excluded
    if "excluded" in errors:
        return ()
    if len(value) > MOST_CELLS:
        errors["excluded"] = [f"{len(value)} combinations; exclude at most {MOST_CELLS}."]
        return ()
    checked = []
    for combination in value:
        if len(errors.get("excluded", ())) >= MOST_MESSAGES:
            break
        matched = {}
        if not combination:
            errors.setdefault("excluded", []).append("A combination names no level.")
        for name, level in islice(combination.items(), MOST_FACTORS + MOST_MESSAGES):
            known = factors.get(name, ())
            same = known and same_level(driver.parameters.base_fields.get(name), level, known)
            if name not in factors:
                if not _is_wrong(str(name), errors):
                    varied = ", ".join(factors) or "nothing"
                    errors.setdefault("excluded", []).append(
                        f"“{str(name)[:40]}” does not vary; what varies is {varied}."
                    )
            elif not same:
                errors.setdefault("excluded", []).append(
                    f"“{name} = {str(level)[:40]}” is not a level of this campaign."
                )
            else:
                matched[name] = same[0]
        checked.append(matched)
    return tuple(checked)


def read_paired(
    sent: Definition,
    driver: Driver,
    factors: Mapping[str, tuple[Any, ...]],
    errors: dict[str, list[str]],
) -> tuple[str, Any]:
    """Return the name of the paired factor and its baseline level; empty and None in other orders.

    Add no error where a factor has one already: its levels are unknown then.
    """
    order = sent.order
    if order != Campaign.Order.PAIRED:
        for field in ("paired_factor", "baseline") if order else ():
            if getattr(sent, field):
                errors[field] = [
                    f"Only the order “paired” knows it; this one is “{order}”. Leave it out, or "
                    "choose that order."
                ]
        return "", None
    if any(path.startswith("factors") for path in errors):
        return "", None
    name = sent.paired_factor
    two = [factor for factor, levels in factors.items() if len(levels) == 2]
    if not name and len(two) == 1:
        name = two[0]
    if not name:
        errors["paired_factor"] = [
            "Say which factor is paired: one of exactly two levels"
            + (f" ({' or '.join(two)})." if two else f"; none has exactly two yet. {INTERLEAVE}")
        ]
        return "", None
    levels = factors.get(name, ())
    if len(levels) != 2:
        errors["paired_factor"] = [
            f"“{name}” has {len(levels)} levels; a paired factor has exactly two. {INTERLEAVE}"
        ]
        return name, None
    baseline = sent.baseline or levels[0]
    same = same_level(driver.parameters.base_fields.get(name), baseline, levels)
    if not same:
        errors["baseline"] = [f"“{baseline}” is not one of {levels[0]} and {levels[1]}."]
        return name, None
    return name, same[0]
