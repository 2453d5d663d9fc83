"""What the campaign form draws: fields, cards and parameter rows with their errors. No HTML."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from campaigns.kinds.base import Driver, Preset
from campaigns.kinds.base.values import BLIND_LABEL
from campaigns.kit.pages.fields import Choice, Field, from_form
from campaigns.models import Campaign
from campaigns.planning.forms import DesignForm
from campaigns.planning.pages import limits
from campaigns.planning.pages.forms import (
    Entered,
    Errors,
    contrasts_of,
    kinds_to_choose,
    presets_of,
    targets_of,
)
from campaigns.planning.pages.parameter_rows import ParameterRows, parameter_rows
from campaigns.planning.pools import measuring_pools

UNITS = {
    "repetitions": "of each cell",
    "warm_ups": "not analysed",
    "cool_down_seconds": "s between runs",
    "run_limit_seconds": "s",
    "max_failed_percent": "%",
    "max_consecutive_failures": "runs",
    "smallest_effect_percent": "%",
    "margin_percent": "%",
    "failed_limit_percent": "% of the work",
    "stop_width_percent": "± %",
    "stop_most": "blocks",
}
ORDERS = {
    Campaign.Order.INTERLEAVED: "every block holds each cell once, shuffled",
    Campaign.Order.PAIRED: "two cells, back to back, order alternating",
    Campaign.Order.RANDOM: "all runs shuffled",
    Campaign.Order.BLOCKED: "level after level; confounds level with time",
}
STOP_RULES = {
    Campaign.StopRule.FIXED: "exactly the repetitions above; never stops early on a p-value",
    Campaign.StopRule.PRECISION: "block by block, until the primary contrast, or else every one, is precise enough; 8 at least",
}
LABELS = {
    "kind": "Kind",
    "target": "Target",
    "primary_metric": "Primary metric",
    "parameters": "Parameters",
    "factors": "Parameters",
    "excluded": "Excluded combinations",
    "order": "Order of runs",
    "paired_factor": "Paired factor",
    "primary_contrast": "Primary contrast",
    "hard_to_change": "Hard to change",
    "stop_rule": "Stop rule",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One line of the summary above the form; `anchor` is empty where no field is to blame."""

    label: str
    anchor: str
    message: str


@dataclass(frozen=True, slots=True)
class FormPage:
    """The whole form."""

    fields: Mapping[str, Field]
    kinds: Sequence[Choice]
    orders: Sequence[Choice]
    stop_rules: Sequence[Choice]
    contrast: Sequence[Field]
    parameters: ParameterRows
    presets: Sequence[Preset]
    problems: Sequence[Problem]
    errors: Errors
    limits: str
    limits_are_wrong: bool
    pools: Sequence[str]
    has_settings: bool = False


def form_page(entered: Entered, errors: Errors, told: Errors | None = None) -> FormPage:
    """Arrange what was entered, with each error where it belongs.

    told: what a target refused earlier, beside its parameters; it keeps nothing from being saved.
    """
    driver = entered.driver
    values = entered.values
    fields = {
        name: from_form(
            name, form_field, values.get(name, ""), errors.get(name, ()), unit=UNITS.get(name, "")
        )
        for name, form_field in DesignForm.base_fields.items()
    }
    fields["excluded"] = _excluded(entered, errors)
    if driver is not None:
        fields["target"] = _target(driver, entered, errors)
        fields["primary_metric"] = _metric(driver, values.get("primary_metric", ""), errors)
        fields["paired_factor"] = _paired(
            entered.variables.factors, values.get("paired_factor", ""), errors
        )
    rows = ParameterRows((), (), elsewhere_is_open=False)
    if driver is not None:
        rows = parameter_rows(driver, entered, {**(told or {}), **errors})
    return FormPage(
        fields=fields,
        kinds=[
            Choice(kind, known.label, kind == entered.kind, note=known.summary)
            for kind, known in kinds_to_choose().items()
        ],
        orders=_cards(ORDERS, Campaign.Order.choices, values.get("order", "")),
        stop_rules=_cards(
            STOP_RULES,
            Campaign.StopRule.choices,
            values.get("stop_rule") or str(Campaign.StopRule.FIXED),
        ),
        contrast=contrasts_of(entered),
        parameters=rows,
        presets=_presets(driver, rows) if driver is not None else (),
        problems=problems(errors, entered),
        errors={path.replace(".", "_"): messages for path, messages in errors.items()},
        limits=limits.limits_entered(values),
        limits_are_wrong=any(name in errors for name in limits.NAMES),
        pools=measuring_pools(),
        has_settings=bool(entered.variables.settings),
    )


def problems(errors: Errors, entered: Entered) -> list[Problem]:
    """All errors in words, with the label of their field and where it stands."""
    found = []
    for path, messages in errors.items():
        label, anchor = _place(path, entered)
        found += [Problem(label, anchor, message) for message in messages]
    return found


def labels_of(paths: Iterable[str], entered: Entered) -> dict[str, str]:
    """Give the label of each path, in the order of the form."""
    order = [*LABELS, *DesignForm.base_fields]
    found = {
        path: _place(path, entered)[0] or path.replace("_", " ").capitalize() for path in paths
    }
    known = {path: place for place, path in enumerate(order)}
    return dict(sorted(found.items(), key=lambda item: (known.get(item[0], len(order)), item[0])))


def _place(path: str, entered: Entered) -> tuple[str, str]:
    group, _, name = path.partition(".")
    known = entered.variables.fields
    if name in known:
        return name, f"row-{name}"
    if path in DesignForm.base_fields:
        form_field = DesignForm.base_fields[path]
        label = LABELS.get(path) or str(form_field.label or path.replace("_", " ").capitalize())
        return label, f"f-{path}"
    if group in ("parameters", "factors"):
        return LABELS[group], "h-parameters"
    return LABELS.get(path, ""), f"f-{path}" if path in LABELS else ""


def _cards(
    notes: Mapping[Any, str], labels: Sequence[tuple[Any, Any]], chosen: str
) -> list[Choice]:
    named = dict(labels)
    return [
        Choice(str(key), named[key], str(key) == chosen, note=note) for key, note in notes.items()
    ]


def _target(driver: Driver, entered: Entered, errors: Errors) -> Field:
    chosen, several = entered.values.get("target", ""), len(entered.teams) > 1
    targets = targets_of(driver, entered)
    choices = [
        Choice(
            str(target.pk),
            f"{f'{target.team}: ' if several else ''}{target.name} ({target.get_health_display()}{', production' * target.is_production})",
            str(target.pk) == chosen,
        )
        for target in targets
    ]
    if chosen not in {choice.value for choice in choices}:
        choices.insert(0, Choice("", "choose a target" if targets else "there is none yet", True))
    return Field(
        "target",
        "Target",
        chosen,
        "select",
        hint=f"A server of the family {' or '.join(driver.families)}; held by one run at a time.",
        choices=choices,
        errors=errors.get("target", ()),
    )


def _presets(driver: Driver, rows: ParameterRows) -> list[Preset]:
    """Those that fit the chosen target: what they fill in is there to be filled in."""
    fitting = {row.name for row in rows.fitting}
    return [
        preset for preset in presets_of(driver) if {*preset.parameters, *preset.factors} <= fitting
    ]


def _metric(driver: Driver, chosen: str, errors: Errors) -> Field:
    choices = [
        Choice(
            metric.name,
            f"{metric.label} ({metric.unit}), {'lower' if metric.lower_is_better else 'higher'} is better",
            metric.name == chosen,
        )
        for metric in driver.metrics
    ]
    return Field(
        "primary_metric",
        "Primary metric",
        chosen,
        "select",
        hint="The one that answers the question. Locked at launch.",
        choices=choices,
        errors=errors.get("primary_metric", ()),
    )


def _paired(factors: Sequence[str], chosen: str, errors: Errors) -> Field:
    names = [Choice("", "the factor with two levels", not chosen)]
    names += [Choice(name, name, name == chosen) for name in factors]
    names.append(Choice(BLIND_LABEL, "a blind label (A/A)", chosen == BLIND_LABEL))
    return Field(
        "paired_factor",
        "Paired factor",
        chosen,
        "select",
        hint="A factor of exactly two levels; all others are strata. A blind label has one setting "
        "measured against itself, to learn how much runs vary.",
        choices=names,
        errors=errors.get("paired_factor", ()),
    )


def _excluded(entered: Entered, errors: Errors) -> Field:
    return Field(
        "excluded",
        "Excluded combinations",
        entered.excluded,
        "textarea",
        hint="One per line, such as engine=futures, concurrency=100. Empty: all combinations are run.",
        rows=2,
        errors=errors.get("excluded", ()),
    )
