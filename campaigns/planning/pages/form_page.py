"""The context of the campaign form: fields, cards and parameter rows with their errors. No HTML."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby

from django import forms

from campaigns.kinds.base import Driver, Preset
from campaigns.kinds.base.values import BLIND_LABEL, TARGET
from campaigns.kit.charts.labels import as_text
from campaigns.kit.pages.forms import Cards, Problem, with_errors
from campaigns.models import Campaign
from campaigns.planning.configurations import CONFIGURATION
from campaigns.planning.configurations import PATH as PATH_OF_CONFIGURATIONS
from campaigns.planning.design import FIELDS, DesignForm, in_group, label_of
from campaigns.planning.pages import limits
from campaigns.planning.pages.configuration_fields import ConfigurationTable, table_of
from campaigns.planning.pages.contrast_fields import NAMES as CONTRAST
from campaigns.planning.pages.contrast_fields import PATH, ContrastForm
from campaigns.planning.pages.criterion_fields import CriterionForm
from campaigns.planning.pages.forms import (
    PARTS,
    Entered,
    Errors,
    contrasts_of,
    criterion_of,
    gone,
    kinds_to_choose,
    paired_levels,
    presets_of,
    search_of,
    targets_of,
)
from campaigns.planning.pages.parameter_rows import ParameterRows, parameter_rows
from campaigns.planning.pages.scenario_editor import shown_once
from campaigns.planning.pages.search_fields import SearchForm
from campaigns.planning.pools import measuring_pools

REDRAWS = {
    "hx-post": "",
    "hx-vals": '{"act": "kind"}',
    "hx-include": "closest form",
    "hx-trigger": "change",
    "hx-target": "#campaign-form",
    "hx-select": "#campaign-form",
    "hx-swap": "outerHTML",
    "hx-sync": "#f-kind:replace",
}
"""Attributes of an input that reloads the form when it changes."""

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
    "targets": "Compare it with",
    "primary_metric": "Primary metric",
    "parameters": "Parameters",
    "factors": "Parameters",
    "excluded": "Excluded combinations",
    "order": "Order of runs",
    "paired_factor": "Paired factor",
    "primary_contrast": "Primary contrast",
    "criterion": "Criterion",
    "search": "Search for the capacity",
    "roles": "Parameters",
    "hard_to_change": "Hard to change",
    "stop_rule": "Stop rule",
}


FOLDS = {
    "name": ("name", "tags"),
    "rules": (
        "margin_percent",
        "failed_limit_percent",
        "stop_rule",
        "stop_width_percent",
        "stop_most",
    ),
    "pace": ("cool_down_seconds", "seed", "settings_afterwards"),
}
"""Fields of the design that are folded, by their fold."""
INITIAL = {name: as_text(field.initial) for name, field in FIELDS.items()}


class CampaignForm(DesignForm):
    """All fields of the page except the parameters, as typed or as stored.

    It is for display only: `checking.check` checks it together with the parameters.
    """

    kind = forms.ChoiceField()
    target = forms.ChoiceField()
    also = forms.MultipleChoiceField()
    primary_metric = forms.ChoiceField(
        help_text="The one that answers the question. Locked at launch."
    )
    excluded = forms.CharField(
        label="Excluded combinations",
        widget=forms.Textarea({"rows": 2}),
        help_text="One per line, such as engine=futures, concurrency=100. Empty: all combinations are run.",
    )

    def __init__(self, entered: Entered) -> None:
        initial = {**entered.values, "kind": entered.kind, "excluded": entered.excluded}
        initial["stop_rule"] = initial.get("stop_rule") or Campaign.StopRule.FIXED
        super().__init__(initial={**initial, "also": list(entered.also)})
        kinds = kinds_to_choose(entered.teams, entered.kind)
        self.fields["kind"] = forms.ChoiceField(
            choices=[(kind, driver.label) for kind, driver in kinds.items()],
            widget=Cards({kind: driver.summary for kind, driver in kinds.items()}, attrs=REDRAWS),
        )
        for name, cards in (("order", Cards(ORDERS, "four")), ("stop_rule", Cards(STOP_RULES))):
            self.fields[name].widget = cards
            self.fields[name].label = LABELS[name]
            cards.choices = self.fields[name].choices  # type: ignore[attr-defined]
        if driver := entered.driver:
            self._offer(driver, entered)

    def _offer(self, driver: Driver, entered: Entered) -> None:
        """Set the choices that fit the kind."""
        self.fields["target"] = forms.ChoiceField(
            choices=_targets(driver, entered),
            help_text=f"A server of the family {' or '.join(driver.families)}; held by one run at a time.",
        )
        chosen = entered.values.get("target", "")
        self.fields["also"] = forms.MultipleChoiceField(
            choices=[each for each in _targets(driver, entered) if each[0] not in ("", chosen)],
            label="Compare it with",
            widget=forms.CheckboxSelectMultiple(),
            help_text="Targets of the same family, measured side by side in each block; at most six in all.",
        )
        self.fields["primary_metric"].choices = [  # type: ignore[attr-defined]
            (
                metric.name,
                f"{metric.label} ({metric.unit}), {'lower' if metric.lower_is_better else 'higher'} is better",
            )
            for metric in entered.metrics
        ]
        self.fields["baseline"] = _baseline(entered)
        compared = [TARGET] if entered.compared else []
        compared += [CONFIGURATION] if entered.configurations else []
        self.fields["paired_factor"] = forms.ChoiceField(
            choices=[
                ("", "the factor with two levels"),
                *(
                    (name, entered.variables.label_of(name))
                    for name in (*entered.variables.factors, *compared)
                ),
                (BLIND_LABEL, "a blind label (A/A)"),
            ],
            help_text="A factor of exactly two levels; all others are strata. A blind label has one setting "
            "measured against itself, to learn how much runs vary.",
        )


@dataclass(frozen=True, slots=True)
class FormPage:
    """The whole form.

    groups: fields of the design, by the group that shows them. open: by fold, whether it has an error or another value than the
    initial one. presets: those that fit the target, by the heading of their group, which may be empty. lacking: others of its family.
    """

    kind: str
    design: CampaignForm
    groups: Mapping[str, Sequence[forms.BoundField]]
    contrast: ContrastForm
    contrast_errors: Sequence[str]
    criterion: CriterionForm
    search: SearchForm
    parameters: ParameterRows
    configurations: ConfigurationTable
    presets: Sequence[tuple[str, Sequence[Preset]]]
    lacking: Sequence[tuple[Preset, str]]
    problems: Sequence[Problem]
    errors: Errors
    limits: str
    limits_are_wrong: bool
    open: Mapping[str, bool]
    pools: Sequence[str]
    has_kind: bool
    has_settings: bool


def form_page(entered: Entered, errors: Errors, refused: Errors | None = None) -> FormPage:
    """Return the form of the input, with each error at its field.

    refused: levels that the target refused earlier, shown at their parameters; they do not prevent saving. Nor does a form
    that was not sent yet tell of more than values that are no choices: a stored campaign may have one that went since.
    """
    driver = entered.driver
    errors = shown_once(errors, entered)
    rows = ParameterRows((), ())
    if driver is not None:
        rows = parameter_rows(driver, entered, {**(refused or {}), **gone(entered), **errors})
    presets = [each for each in _presets(entered, rows) if _is_of_family(each[0], rows)]
    also = {"also": errors["targets"]} if "targets" in errors else {}
    design = with_errors(CampaignForm(entered), {**errors, **also})
    return FormPage(
        kind=entered.kind,
        design=design,
        groups={
            group: [design[name] for name in in_group(group)]
            for group in {field.group for field in FIELDS.values()}
        },
        contrast=contrasts_of(entered),
        contrast_errors=[
            message
            for path, messages in errors.items()
            if path == PATH or path.startswith(f"{PATH}.")
            for message in messages
        ],
        criterion=criterion_of(entered, errors),
        search=search_of(entered, errors),
        parameters=rows,
        configurations=table_of(entered.variables, entered.configurations, errors),
        presets=_in_groups([preset for preset, lacks in presets if not lacks]),
        lacking=[(preset, lacks) for preset, lacks in presets if lacks],
        problems=problems(errors, entered),
        errors=errors,
        limits=limits.limits_entered(entered.values),
        limits_are_wrong=any(name in errors for name in limits.NAMES),
        open=_open(entered, errors),
        pools=measuring_pools(),
        has_kind=driver is not None,
        has_settings=bool(entered.variables.settings),
    )


def _open(entered: Entered, errors: Errors) -> dict[str, bool]:
    """Return by fold whether it is open. Nobody typed the seed, which is drawn."""
    typed = {name for name in FIELDS if entered.values.get(name, "") not in ("", INITIAL[name])}
    touched = (typed - {"seed"}) | errors.keys()
    return {
        **{fold: not touched.isdisjoint(names) for fold, names in FOLDS.items()},
        "contrast": PATH in errors or any(entered.values.get(name) for name in CONTRAST),
    }


def baseline_of(entered: Entered) -> forms.BoundField:
    """Return the field that chooses the baseline of the pairs."""
    form = forms.Form(initial={"baseline": entered.values.get("baseline", "")})
    form.fields["baseline"] = _baseline(entered)
    return form["baseline"]


def _baseline(entered: Entered) -> forms.ChoiceField:
    """Return the field with the levels of the paired factor; a value that is none of them stays, for its error."""
    chosen = entered.values.get("baseline", "")
    levels = paired_levels(entered)[1]
    unknown = [chosen] if chosen and chosen not in levels else []
    return forms.ChoiceField(
        choices=[("", "the first level"), *((level, level) for level in (*levels, *unknown))],
        help_text="The level that the other one is compared with.",
    )


def problems(errors: Errors, entered: Entered) -> list[Problem]:
    """Return all messages of errors, with the label and the anchor of their field."""
    result = []
    for path, messages in shown_once(errors, entered).items():
        label, anchor = _place(path, entered)
        result += [Problem(label, anchor, message) for message in messages]
    return result


def labels_of(paths: Iterable[str], entered: Entered) -> dict[str, str]:
    """Return the label of each path, in the order of the form."""
    order = [*LABELS, *FIELDS]
    result = {
        path: _place(path, entered)[0] or path.replace("_", " ").capitalize() for path in paths
    }
    known = {path: place for place, path in enumerate(order)}
    return dict(sorted(result.items(), key=lambda item: (known.get(item[0], len(order)), item[0])))


def _place(path: str, entered: Entered) -> tuple[str, str]:
    group, _, name = path.partition(".")
    known = entered.variables.fields
    if path == PATH_OF_CONFIGURATIONS or path.startswith(f"{PATH_OF_CONFIGURATIONS}."):
        return "Configurations", "f-configurations"
    if name in known:
        return entered.variables.label_of(name), f"row-{name}"
    if path in FIELDS:
        return LABELS.get(path) or label_of(path), f"f-{path}"
    if group in ("parameters", "factors", "roles"):
        return LABELS[group], "h-parameters"
    if group in PARTS:
        return LABELS[group], f"f-{group}"
    if path == "targets":
        return LABELS[path], "f-also"
    return LABELS.get(path, ""), f"f-{path}" if path in LABELS else ""


def _targets(driver: Driver, entered: Entered) -> list[tuple[str, str]]:
    several = len(entered.teams) > 1
    choices = [
        (
            str(target.pk),
            f"{f'{target.team}: ' if several else ''}{target.name} ({target.get_health_display()}{', production' * target.is_production})",
        )
        for target in targets_of(driver, entered)
    ]
    if entered.values.get("target", "") not in dict(choices):
        choices.insert(0, ("", "choose a target" if choices else "there is none yet"))
    return choices


def lacking_for(entered: Entered, name: str) -> tuple[Preset, str] | None:
    """Return a preset that does not fit the chosen target, and what that lacks for it; None for one that fits, or is not known."""
    if entered.driver is None:
        return None
    rows = parameter_rows(entered.driver, entered, {})
    found = (each for each in _presets(entered, rows) if each[0].name == name and each[1])
    return next(found, None)


def _in_groups(presets: Sequence[Preset]) -> list[tuple[str, list[Preset]]]:
    """Return presets by their groups, in the order of the kind."""
    return [(group, list(each)) for group, each in groupby(presets, lambda preset: preset.group)]


def _is_of_family(preset: Preset, rows: ParameterRows) -> bool:
    """Return whether a preset uses no parameter that only another family of servers has."""
    return preset.names.isdisjoint(row.name for row in rows.elsewhere)


def _presets(entered: Entered, rows: ParameterRows) -> list[tuple[Preset, str]]:
    """Return the presets of the kind, each with what the chosen target lacks for it; empty where it lacks nothing."""
    driver, fitting = entered.driver, {row.name for row in rows.fitting}
    return [(each, _lacks(each, entered, fitting)) for each in presets_of(driver)] if driver else []


def _lacks(preset: Preset, entered: Entered, fitting: Set[str]) -> str:
    """Return the settings, and the metric of a watch, that a preset uses and the target does not have."""
    settings, metric = sorted(preset.names - fitting), preset.values.get("primary_metric")
    parts = []
    if settings:
        parts.append(f"the setting{'s' * (len(settings) > 1)} {', '.join(settings)}")
    if metric and metric not in {each.name for each in entered.given_metrics}:
        parts.append(f"a watch that gives {metric}")
    return " and ".join(parts)
