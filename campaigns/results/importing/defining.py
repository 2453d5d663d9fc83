"""Derive the definition of an imported campaign from its submission."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.exceptions import ValidationError

from campaigns.kinds.base import Metric
from campaigns.kinds.registry import driver_of
from campaigns.kit.errors import Invalid
from campaigns.kit.forms import Text
from campaigns.kit.mappings import Json, JsonObject
from campaigns.models import Campaign, Factor
from campaigns.planning import checking
from campaigns.planning.closed_loops import read_loop
from campaigns.planning.contrasts import contrast_in, read_contrast
from campaigns.planning.criterion import PATH as CRITERION
from campaigns.planning.criterion import from_lines, read_criterion
from campaigns.planning.roles import PATH as ROLES
from campaigns.planning.roles import check_loads, may_be_load, means_load, read_submitted
from campaigns.results.importing.submitted import ORDERS, Submitted, distinct_levels
from campaigns.results.readers.base import ReadMetric

KIND = "external"
SEED = 1
"""The seed of every import: no order is drawn, and equal data have equal bootstraps."""


def source_of(submitted: Submitted) -> str:
    value = str(submitted.definition.get("source") or submitted.filename or "REST API")
    try:
        return str(Text(max_length=300).clean(value))
    except ValidationError as error:
        raise Invalid({"source": error.messages}) from None


def definition_of(submitted: Submitted) -> checking.CheckedDefinition:
    """Check the fields that people write as the form does, then add those that only an import has."""
    value = submitted.definition
    order = value.get("order") or Campaign.Order.BLOCKED
    if order not in ORDERS:
        raise Invalid({"order": [f"“{str(order)[:40]}” is none; there are {', '.join(ORDERS)}."]})
    plain = (
        "question",
        "name",
        "tags",
        "smallest_effect_percent",
        "margin_percent",
        "failed_limit_percent",
    )
    checked = checking.check(
        {
            "kind": KIND,
            "order": Campaign.Order.BLOCKED,
            "repetitions": 1,
            "seed": SEED,
            **{name: value[name] for name in plain if value.get(name) not in (None, "")},
            "question": value.get("question", ""),
        }
    )
    factors = _factors(submitted)
    errors: dict[str, list[str]] = {}
    if unknown := [name for name in submitted.work if name not in factors]:
        errors["campaign.work"] = [
            f"“{unknown[0]}” does not vary; what varies is {', '.join(factors) or 'nothing'}."
        ]
    roles = _roles(submitted, factors, errors)
    work = [name for name, role in roles.items() if role == Factor.Role.WORK]
    loads = [name for name, role in roles.items() if role == Factor.Role.LOAD]
    paired = _paired(value, order, factors, errors)
    _check_loads(loads, factors, paired[0], errors)
    criterion = _criterion(value, submitted, errors)
    primary = _primary(value, submitted, errors)
    loop = _closed_loop(value, factors, roles, submitted, errors)
    stated, contrast = contrast_in(value.get("primary_contrast"), errors), None
    if not errors:
        cells = list({str(levels): levels for levels in distinct_levels(submitted.runs)}.values())
        contrast = read_contrast(
            stated, driver_of(KIND), factors, cells, paired, errors, work, loads
        )
    if errors:
        raise Invalid(errors)
    return checked.changed(
        order=order,
        paired_factor=paired[0],
        baseline=paired[1],
        primary_metric=primary,
        primary_contrast=contrast,
        criterion=criterion,
        closed_loop=loop,
    )


def _factors(submitted: Submitted) -> dict[str, list[Any]]:
    """Return levels by factor: those that were submitted in order, then those of the runs."""
    result: dict[str, list[Any]] = {
        name: list(levels) for name, levels in submitted.factors.items()
    }
    seen = {name: set(map(repr, levels)) for name, levels in result.items()}
    for levels_of_run in distinct_levels(submitted.runs):
        for name, level in levels_of_run.items():
            if repr(level) not in seen.setdefault(name, set()):
                seen[name].add(repr(level))
                result.setdefault(name, []).append(level)
    return result


def _roles(
    submitted: Submitted, factors: Mapping[str, list[Any]], errors: dict[str, list[str]]
) -> dict[str, str]:
    """Return the stated roles; what is work in one field may not be something else in the other."""
    roles = read_submitted(submitted.roles, factors, errors, f"campaign.{ROLES}")
    for name in submitted.work:
        if roles.setdefault(name, Factor.Role.WORK.value) != Factor.Role.WORK:
            errors[f"campaign.{ROLES}.{name}"] = [
                f"{name} is {roles[name]} here and work in `work`; leave it out of one of them."
            ]
    return roles


def _check_loads(
    loads: Sequence[str],
    factors: Mapping[str, Sequence[Any]],
    paired: str,
    errors: dict[str, list[str]],
) -> None:
    wrong: dict[str, list[str]] = {}
    check_loads(loads, factors, paired, wrong)
    errors.update({f"campaign.{path}": messages for path, messages in wrong.items()})


def _criterion(values: Json, submitted: Submitted, errors: dict[str, list[str]]) -> JsonObject:
    """Return the criterion, on the submitted metrics. A text has a condition a line."""
    stated = values.get("criterion")
    wrong: dict[str, list[str]] = {}
    if isinstance(stated, str):
        stated, problems = from_lines(stated)
        if problems:
            wrong[CRITERION] = problems
    result = read_criterion(stated, [metric_of(each) for each in submitted.metrics], wrong)
    errors.update({f"campaign.{path}": messages for path, messages in wrong.items()})
    return result


def metric_of(metric: ReadMetric) -> Metric:
    """Return a submitted metric as those of kinds are."""
    return Metric(
        metric.name,
        metric.label,
        metric.unit,
        lower_is_better=metric.lower_is_better is not False,
        directed=metric.lower_is_better is not None,
        fidelity=metric.fidelity,
    )


def load_questions(submitted: Submitted) -> list[str]:
    """Return a question for each factor that is a guess, or that may be load, as its name and its numbers suggest."""
    stated, guesses = submitted.stated_roles, submitted.guesses
    factors = _factors(submitted)
    guessed = [
        f"Is “{name}” a setting? The file does not say so. {guess} Its levels are not ranked until you say “setting”, or “load”, "
        "which is how much was asked of the target at once."
        for name, guess in guesses.items()
        if name in factors and name not in stated
    ]
    loads = may_be_load(factors, {**dict.fromkeys(guesses, ""), **stated})
    return [*guessed, *map(_question, loads)]


def _question(name: str) -> str:
    if means_load(name):
        return (
            f"Is “{name}” a load? Its name says so, and its role is not stated: its levels are not ranked. Say "
            "load, which is how much was asked of the target at once: then the answer is what each setting carries. "
            "Or say setting: then its levels are ranked."
        )
    return (
        f"“{name}” is a setting here. If it is how much was asked of the target at once, say so: its role is "
        "load. Then its levels are not ranked, and the answer is what each setting carries."
    )


def _paired(
    values: Json, order: str, factors: Mapping[str, list[Any]], errors: dict[str, list[str]]
) -> tuple[str, Any]:
    if order != Campaign.Order.PAIRED:
        if values.get("paired_factor") or values.get("baseline") not in (None, ""):
            errors["paired_factor"] = ["Only the order “paired” has pairs: send it as `order`."]
        return "", None
    two = [name for name, levels in factors.items() if len(levels) == 2]
    factor = values.get("paired_factor") or (two[0] if len(two) == 1 else "")
    if factor not in two:
        known = ", ".join(two) or "none has"
        errors["paired_factor"] = [f"Name a factor of two levels to compare: {known}."]
        return "", None
    requested = values.get("baseline")
    same = [level for level in factors[factor] if str(level) == str(requested)]
    if not same and requested not in (None, ""):
        known = ", ".join(str(level) for level in factors[factor])
        errors["baseline"] = [
            f"“{str(requested)[:60]}” is no level of {factor}; there are {known}."
        ]
    return str(factor), same[0] if same else factors[factor][0]


def _closed_loop(
    values: Json,
    factors: Mapping[str, list[Any]],
    roles: Mapping[str, str],
    submitted: Submitted,
    errors: dict[str, list[str]],
) -> dict[str, str] | None:
    requested = values.get("closed_loop")
    if not requested:
        return None
    metrics = {each.name: (each.unit, each.lower_is_better) for each in submitted.metrics}
    return read_loop(requested, factors, roles, metrics, errors)


def _primary(values: Json, submitted: Submitted, errors: dict[str, list[str]]) -> str:
    directed = [each.name for each in submitted.metrics if each.lower_is_better is not None]
    requested = values.get("primary_metric")
    if requested and requested not in directed:
        errors["primary_metric"] = [
            f"“{str(requested)[:60]}” is not among the metrics that have a direction; there are "
            f"{', '.join(directed[:20]) or 'none'}."
        ]
    elif not directed:
        errors["metrics"] = ["Say of at least one metric which way is better (lower_is_better)."]
    return str(requested or (directed[0] if directed else ""))
