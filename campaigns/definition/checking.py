"""From what somebody typed or sent to a Definition, or to what is wrong with it, field by field."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from random import SystemRandom
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from campaigns import network
from campaigns.definition.forms import DesignForm
from campaigns.definition.levels import check_lengths, plain, read_levels, same_level
from campaigns.definition.limits import excess_of
from campaigns.drivers import UnknownKind, driver_of
from campaigns.drivers.base import Driver
from campaigns.models import Campaign, Target
from campaigns.plan import Design, Unplannable, number_of_cells, plan_runs
from campaigns.queries.allowed import Allowed, allowed_on

MOST_CELLS = 500
MOST_RUNS = 5000
MOST_FACTORS = 6


class Invalid(ValueError):
    """What was sent cannot be a campaign. `errors`: messages by field path.

    Paths: `question`, `kind`, `target`, `parameters.<name>`, `factors.<name>`, `excluded`,
    `primary_metric`, and the names of DesignForm's fields.
    """

    def __init__(self, errors: Mapping[str, Sequence[str]]) -> None:
        self.errors = {path: list(messages) for path, messages in errors.items()}
        super().__init__("; ".join(f"{p}: {' '.join(m)}" for p, m in self.errors.items()))


@dataclass(frozen=True, slots=True)
class Definition:
    """A campaign that can be planned. Shares are shares (0.05), times are seconds."""

    question: str
    name: str
    kind: str
    target: Target | None
    parameters: Mapping[str, Any]
    factors: Mapping[str, tuple[Any, ...]]
    excluded: tuple[Mapping[str, Any], ...]
    order: str
    paired_factor: str
    baseline: Any
    repetitions: int
    warm_ups: int
    cool_down_seconds: float
    run_limit_seconds: float
    time_budget_seconds: float | None
    max_failed_share: float
    max_consecutive_failures: int
    seed: int
    primary_metric: str
    smallest_effect: float
    margin: float
    stop_rule: str
    tags: tuple[str, ...]

    @property
    def design(self) -> Design:
        """What the order of runs depends on."""
        return Design(
            factors=self.factors,
            order=self.order,
            repetitions=self.repetitions,
            seed=self.seed,
            excluded=self.excluded,
            paired_factor=self.paired_factor,
            warm_ups=self.warm_ups,
        )


KNOWN_FIELDS = frozenset(
    {field.name for field in fields(Definition)} - {"smallest_effect", "margin", "max_failed_share"}
    | {"smallest_effect_percent", "margin_percent", "max_failed_percent"}
)


def check(data: Mapping[str, Any]) -> Definition:
    """Check everything at once. Raise Invalid with every error that was found.

    `data` is what the REST API takes: `kind`, `target` (primary key), `parameters` (by name),
    `factors` (lists of levels by name), `excluded` (list of combinations), `tags` (list or text)
    and the fields of DesignForm.
    """
    errors: dict[str, list[str]] = {
        str(name): [f"There is no field “{name}”."] for name in data if name not in KNOWN_FIELDS
    }
    form = DesignForm(_for_form(data))
    form.is_valid()
    errors.update(messages_of(form))
    errors.update(_many_for_one(data, DesignForm.base_fields))
    try:
        driver = driver_of(str(data.get("kind", "")))
    except UnknownKind as error:
        raise Invalid(errors | {"kind": [str(error)]}) from None
    target = _target(data, driver, errors)
    factors = _factors(data, driver, errors)
    parameters = _parameters(data, driver, factors, errors)
    excluded = _excluded(data, driver, factors, errors)
    metric = data.get("primary_metric") or driver.primary_metric.name
    if metric not in [known.name for known in driver.metrics]:
        known = ", ".join(m.name for m in driver.metrics)
        errors["primary_metric"] = [f"“{metric}” is not a metric of this kind; there are {known}."]
    paired = _paired(form.cleaned_data, driver, factors, errors)
    if errors:
        raise Invalid(errors)
    clean = form.cleaned_data
    definition = Definition(
        question=clean["question"],
        name=clean["name"] or _short(clean["question"]),
        kind=str(data["kind"]),
        target=target,
        parameters=parameters,
        factors=factors,
        excluded=excluded,
        order=clean["order"],
        paired_factor=paired[0],
        baseline=paired[1],
        repetitions=clean["repetitions"],
        warm_ups=clean["warm_ups"],
        cool_down_seconds=clean["cool_down_seconds"],
        run_limit_seconds=clean["run_limit_seconds"],
        time_budget_seconds=clean["time_budget_seconds"],
        max_failed_share=clean["max_failed_percent"] / 100,
        max_consecutive_failures=clean["max_consecutive_failures"],
        seed=SystemRandom().randrange(2**31) if clean["seed"] is None else clean["seed"],
        primary_metric=metric,
        smallest_effect=clean["smallest_effect_percent"] / 100,
        margin=clean["margin_percent"] / 100,
        stop_rule=clean["stop_rule"],
        tags=tuple(clean["tags"]),
    )
    _check_plan(definition, driver)
    return definition


def messages_of(form: forms.Form) -> dict[str, list[str]]:
    """Messages of a checked form, by field."""
    return {
        name: [problem["message"] for problem in problems]
        for name, problems in json.loads(form.errors.as_json()).items()
    }


def _for_form(data: Mapping[str, Any]) -> dict[str, Any]:
    values = {name: data[name] for name in DesignForm.base_fields if name in data}
    if _is_list_of_words(values.get("tags")):
        values["tags"] = ", ".join(values["tags"])
    return values


def _is_list_of_words(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(word, str) for word in value)


def _many_for_one(
    data: Mapping[str, Any], known: Mapping[str, forms.Field], prefix: str = ""
) -> dict[str, list[str]]:
    """Messages for what holds several values where one belongs; a form would take it as text."""
    return {
        f"{prefix}{name}": ["Give one value, not a list or an object."]
        for name, field in known.items()
        if isinstance(data.get(name), list | tuple | dict)
        and not isinstance(field, forms.MultipleChoiceField)
        and not (name == "tags" and _is_list_of_words(data[name]))
    }


def _short(question: str) -> str:
    line = " ".join(question.split())
    return line if len(line) <= 80 else line[:79].rsplit(" ", 1)[0] + "…"


def _target(data: Mapping[str, Any], driver: Driver, errors: dict[str, list[str]]) -> Target | None:
    given = data.get("target")
    if given in (None, ""):
        if driver.executable:
            errors["target"] = ["Choose the server to measure."]
        return None
    try:
        target = Target.objects.filter(pk=int(str(given)), retired_at=None).first()
    except (ValueError, OverflowError):
        target = None
    if target is None:
        errors["target"] = [f"There is no target {given!r:.80}."]
    elif target.family != driver.family:
        errors["target"] = [
            f"“{target.name}” is a {target.family} server; the kind {driver.label} "
            f"needs one of the family {driver.family}."
        ]
    return target


def _factors(
    data: Mapping[str, Any], driver: Driver, errors: dict[str, list[str]]
) -> dict[str, tuple[Any, ...]]:
    given = data.get("factors") or {}
    if not isinstance(given, Mapping):
        errors["factors"] = ["Give the levels of each factor: {“concurrency”: [5, 10]}."]
        return {}
    if len(given) > MOST_FACTORS:
        errors["factors"] = [f"{len(given)} factors; vary at most {MOST_FACTORS}."]
        return {}
    checked = {}
    for name, levels in given.items():
        path = f"factors.{name}"
        if name not in driver.factors:
            errors[path] = [
                f"“{name}” cannot vary; those that can are {', '.join(driver.factors)}."
            ]
        elif not isinstance(levels, list | tuple) or not levels:
            errors[path] = ["Give at least one level."]
        elif len(levels) > MOST_CELLS:
            errors[path] = [f"{len(levels)} levels; give at most {MOST_CELLS}."]
        else:
            checked[name] = read_levels(driver.parameters.base_fields[name], levels, path, errors)
    if number_of_cells(checked) > MOST_CELLS:
        errors["factors"] = [
            f"These levels make {number_of_cells(checked):,} cells; at most {MOST_CELLS} are "
            "allowed. Take out levels, or vary fewer parameters."
        ]
    check_lengths(checked, errors)
    return checked


def _parameters(
    data: Mapping[str, Any],
    driver: Driver,
    factors: Mapping[str, tuple[Any, ...]],
    errors: dict[str, list[str]],
) -> dict[str, Any]:
    """Check the fixed parameters together with the first level of each factor."""
    given = data.get("parameters") or {}
    if not isinstance(given, Mapping):
        errors["parameters"] = ["Give the parameters by name: {“concurrency”: 10}."]
        return {}
    known = driver.parameters.base_fields
    for name in given:
        if name not in known:
            errors[f"parameters.{name}"] = [
                f"There is no parameter “{name}”; there are {', '.join(known)}."
            ]
    values = {name: field.initial for name, field in known.items() if field.initial is not None}
    values |= {name: value for name, value in given.items() if name in known}
    first = {name: levels[0] for name, levels in factors.items() if levels}
    form = driver.parameters(values | first)
    form.is_valid()
    asked = data.get("factors")
    fixed = [name for name in known if not (isinstance(asked, Mapping) and name in asked)]
    for name, messages in messages_of(form).items():
        if name in fixed:
            errors[f"parameters.{name}"] = messages
    errors.update(_many_for_one(given, known, "parameters."))
    fixed_values = {}
    for name in fixed:
        try:
            fixed_values[name] = plain(form.cleaned_data.get(name))
        except ValidationError as error:
            errors[f"parameters.{name}"] = error.messages
    return fixed_values


def _excluded(
    data: Mapping[str, Any],
    driver: Driver,
    factors: Mapping[str, tuple[Any, ...]],
    errors: dict[str, list[str]],
) -> tuple[dict[str, Any], ...]:
    given = data.get("excluded") or []
    if not isinstance(given, list | tuple) or not all(isinstance(item, Mapping) for item in given):
        errors["excluded"] = [
            "Give combinations such as {“engine”: “futures”, “concurrency”: 100}."
        ]
        return ()
    if len(given) > MOST_CELLS:
        errors["excluded"] = [f"{len(given)} combinations; exclude at most {MOST_CELLS}."]
        return ()
    checked = []
    for combination in given:
        matched = {}
        if not combination:
            errors.setdefault("excluded", []).append("A combination names no level.")
        for name, level in combination.items():
            known = factors.get(name, ())
            same = known and same_level(driver.parameters.base_fields[name], level, known)
            if not same:
                errors.setdefault("excluded", []).append(
                    f"“{str(name)[:40]} = {str(level)[:40]}” is not a level of this campaign."
                )
            else:
                matched[name] = same[0]
        checked.append(matched)
    return tuple(checked)


def _paired(
    clean: Mapping[str, Any],
    driver: Driver,
    factors: Mapping[str, tuple[Any, ...]],
    errors: dict[str, list[str]],
) -> tuple[str, Any]:
    """Name of the paired factor and its baseline level; empty and None in other orders.

    Says nothing where a factor is wrong already: which levels there will be is not known then.
    """
    order = clean.get("order")
    if order != Campaign.Order.PAIRED:
        for field in ("paired_factor", "baseline") if order else ():
            if clean.get(field):
                errors[field] = [
                    f"Only the order “paired” knows it; this one is “{order}”. Leave it out, or "
                    "choose that order."
                ]
        return "", None
    if any(path.startswith("factors") for path in errors):
        return "", None
    name = clean.get("paired_factor") or ""
    two = [factor for factor, levels in factors.items() if len(levels) == 2]
    if not name and len(two) == 1:
        name = two[0]
    if not name:
        errors["paired_factor"] = [
            "Say which factor is paired: one of exactly two levels"
            + (f" ({' or '.join(two)})." if two else "; none has exactly two yet.")
        ]
        return "", None
    levels = factors.get(name, ())
    if len(levels) != 2:
        errors["paired_factor"] = [
            f"“{name}” has {len(levels)} levels; a paired factor has exactly two."
        ]
        return name, None
    baseline = clean.get("baseline") or levels[0]
    same = same_level(driver.parameters.base_fields[name], baseline, levels)
    if not same:
        errors["baseline"] = [f"“{baseline}” is not one of {levels[0]} and {levels[1]}."]
        return name, None
    return name, same[0]


def _check_plan(definition: Definition, driver: Driver) -> None:
    """Plan once, and check every cell's parameters together. Raise Invalid."""
    try:
        plan = plan_runs(definition.design)
    except Unplannable as error:
        raise Invalid({error.field: [str(error)]}) from None
    if len(plan.runs) > MOST_RUNS:
        raise Invalid(
            {
                "repetitions": [
                    f"This plan has {len(plan.runs):,} runs; at most {MOST_RUNS:,} are allowed. "
                    "Lower the repetitions, or take out levels."
                ]
            }
        )
    allowed = allowed_on(definition.target) if definition.target else None
    for cell in plan.cells:
        _check_urls(definition, driver, cell)
        form = driver.parameters({**definition.parameters, **cell})
        if not form.is_valid():
            raise Invalid(
                {
                    f"{'factors' if name in cell else 'parameters'}.{name}": [
                        f"At {_words(cell)}: {message}" for message in messages
                    ]
                    for name, messages in messages_of(form).items()
                }
            )
        if allowed is not None:
            _check_concurrency(definition, driver, cell, allowed)


def _check_urls(definition: Definition, driver: Driver, cell: Mapping[str, Any]) -> None:
    """Raise Invalid where a run would load another server than the one that it leases."""
    target = definition.target
    if target is None:
        return
    for name, url in driver.urls(target.base_url, {**definition.parameters, **cell}).items():
        try:
            elsewhere = network.normalised_address(url) != target.address
            message = (
                f"{url} is not on {target.name} ({target.address}). A run loads only the server "
                "that it holds: save that server as a target, and measure it."
            )
        except network.NetworkError as error:
            elsewhere, message = True, str(error)
        if elsewhere:
            raise Invalid({f"{'factors' if name in cell else 'parameters'}.{name}": [message]})


def _check_concurrency(
    definition: Definition, driver: Driver, cell: Mapping[str, Any], allowed: Allowed
) -> None:
    """Raise Invalid where a run would ask for more at a time than the target's owner allows."""
    excess = excess_of(allowed, driver, {**definition.parameters, **cell})
    if not excess:
        return
    path = "target"
    if "concurrency" in driver.parameters.base_fields:
        path = f"{'factors' if 'concurrency' in cell else 'parameters'}.concurrency"
    raise Invalid({path: [f"At {_words(cell)}: {excess}" if cell else excess]})


def _words(cell: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {level}" for name, level in cell.items())
