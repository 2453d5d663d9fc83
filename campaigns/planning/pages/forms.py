"""The campaign form between the browser and `planning.checking.check`: read, map, prefill."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isfinite
from random import SystemRandom
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import QueryDict

from campaigns.kinds.base import Driver, Metric, Preset
from campaigns.kinds.base.values import BLIND_LABEL, TARGET
from campaigns.kinds.program.stored import is_version
from campaigns.kinds.registry import all_kinds, offered_kinds, offered_programs
from campaigns.kit.charts.labels import as_text, inside
from campaigns.kit.forms import is_key
from campaigns.kit.mappings import CleanedData, FieldValues, Json
from campaigns.kit.units import written as with_unit
from campaigns.models import Campaign, Factor, Target
from campaigns.planning.calibrating import PAIRS, TAG, question_of
from campaigns.planning.configurations import CONFIGURATION
from campaigns.planning.configurations import text_of as configured
from campaigns.planning.criterion import PATH as CRITERION
from campaigns.planning.design import FIELDS
from campaigns.planning.kind_fields import is_dear
from campaigns.planning.leaves import Span
from campaigns.planning.levels import read_levels
from campaigns.planning.pages import contrast_fields as contrasts
from campaigns.planning.pages import criterion_fields as criteria
from campaigns.planning.pages import search_fields as searches
from campaigns.planning.pages.configuration_fields import Typed, as_sent, as_typed, read_typed
from campaigns.planning.pages.contrast_fields import NEXT_PAIR
from campaigns.planning.pages.part_form import typed_in, without
from campaigns.planning.raising import raised_levels
from campaigns.planning.roles import load_among
from campaigns.planning.watched_metrics import choosable_metrics, watched_metric
from campaigns.targets.variables import Variables, variables_of

VALUES = ("target", "primary_metric", *FIELDS)
PARTS = {
    contrasts.PATH: contrasts.NAMES,
    CRITERION: criteria.INPUTS,
    searches.PATH: searches.INPUTS,
}
"""Fields of a definition whose inputs are named by the paths of their values, with these paths."""
ONLY_EMPTY = ("question", "name")
"""Fields in which a preset replaces nothing that somebody wrote."""
OF_FACTORS = ("paired_factor", "baseline", *contrasts.NAMES)
"""Inputs that name factors or their levels."""
MOST_LOOKED_AT = 20
"""The number of earlier campaigns on a target whose URLs are offered."""
NUMBERS = (forms.IntegerField, forms.FloatField)

Errors = Mapping[str, list[str]]


@dataclass(frozen=True)
class Entered:
    """The input of the form, as text, valid or not.

    values: `target`, `primary_metric`, the fields of DesignForm, and those of parts by their paths. parameters: the single value
    of each parameter. varied: the parameters that are factors. levels: those of each factor.
    excluded: one combination per line. hard: factors that are ticked as hard to change; None: those that
    the settings mark, before the form was sent. loads: factors that are ticked as load. also: the keys of targets
    to compare with the chosen one. configurations: rows of named sets of settings. teams: the teams whose targets may be chosen.

    What the database says of it is read once.
    """

    kind: str
    values: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    varied: frozenset[str] = frozenset()
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    excluded: str = ""
    hard: frozenset[str] | None = None
    loads: frozenset[str] = frozenset()
    also: tuple[str, ...] = ()
    configurations: tuple[Typed, ...] = ()
    teams: frozenset[int] = frozenset()

    @property
    def targets(self) -> QuerySet[Target]:
        """The targets that may be measured."""
        return Target.objects.filter(team__in=self.teams, retired_at=None)

    @cached_property
    def target(self) -> Target | None:
        """The chosen target; None for an invalid choice."""
        key = self.values.get("target", "")
        return self.targets.filter(pk=int(key)).first() if is_key(key) else None

    @cached_property
    def compared(self) -> list[Target]:
        """The chosen target and those to compare it with, in their order; empty where there is one alone."""
        keys = [int(key) for key in self.also if is_key(key) and key != self.values.get("target")]
        first = self.target
        rows = {row.pk: row for row in self.targets.filter(pk__in=keys)} if first else {}
        others = [rows[key] for key in keys if key in rows]
        return [first, *others] if first is not None and others else []

    @cached_property
    def factor_levels(self) -> dict[str, tuple[str, ...]]:
        """The levels of all factors: of the parameters that vary, and of several targets."""
        several = {TARGET: tuple(target.name for target in self.compared)}
        named = {CONFIGURATION: tuple(row.name for row in self.configurations)}
        varied = {name: self.levels.get(name, ()) for name in self.variables.factors}
        return {
            **(several if several[TARGET] else {}),
            **(named if self.configurations else {}),
            **{name: levels for name, levels in varied.items() if name in self.varied},
        }

    @cached_property
    def variables(self) -> Variables:
        """The parameters of the kind and the settings of the chosen target; none without a kind."""
        driver = self.driver
        return Variables({}, ()) if driver is None else variables_of(driver, self.target)

    @cached_property
    def given_metrics(self) -> tuple[Metric, ...]:
        """The metrics of the kind, and those that the watches of the target give."""
        driver, target = self.driver, self.target
        if driver is None:
            return ()
        return choosable_metrics(driver, self.compared or ([target] if target else []))

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics that may be chosen: the given ones, and a chosen one of a watch that is gone."""
        known = self.given_metrics
        chosen = watched_metric(self.values.get("primary_metric", ""))
        return known if chosen is None or chosen in known else (*known, chosen)

    @cached_property
    def driver(self) -> Driver | None:
        """The driver of the chosen kind; None for an invalid choice."""
        return driver_to_choose(self.teams, self.kind)


def driver_to_choose(teams: frozenset[int], kind: str) -> Driver | None:
    """Return the driver of a kind that these teams may choose; None for others."""
    driver = all_kinds().get(kind)
    if driver is None and is_version(kind):
        driver = offered_programs(teams, kind, only=kind).get(kind)
    return driver if driver is not None and driver.executable else None


def kinds_to_choose(teams: frozenset[int], chosen: str = "") -> dict[str, Driver]:
    """Return the kinds that perfdash can execute, and the programs of teams, with their drivers.

    chosen: the kind of a campaign, which stays where it is an earlier version of a program.
    """
    offered = offered_kinds(teams, chosen)
    return {kind: driver for kind, driver in offered.items() if driver.executable}


def read(post: QueryDict, teams: frozenset[int]) -> Entered:
    """Return the input that the browser sent, for a campaign of one of these teams. Unknown parameters are ignored."""
    kind = post.get("kind", "")
    values = {name: _plain(post.get(name, "")) for name in VALUES} | typed_in(post, PARTS)
    variables = Entered(kind, values, teams=teams).variables
    known, hard = variables.fields, variables.hard
    if not any(f"vary-{name}" in post for name in variables.builds):
        values["anew"] = ""
    return Entered(
        kind=kind,
        values=values,
        teams=teams,
        parameters={
            name: _plain(post.get(f"p-{name}", "")) if f"p-{name}" in post else _absent(form_field)
            for name, form_field in known.items()
        },
        varied=frozenset(name for name in known if f"vary-{name}" in post),
        levels={
            name: split_levels(form_field, "\n".join(post.getlist(f"levels-{name}")))
            for name, form_field in known.items()
            if f"levels-{name}" in post
        },
        excluded=_plain(post.get("excluded", "")),
        also=tuple(post.getlist("also"))[:MOST_LOOKED_AT],
        configurations=read_typed(post, [*variables.settings]),
        hard=frozenset(
            name
            for name in known
            if f"hard-{name}" in post or (f"asked-hard-{name}" not in post and name in hard)
        ),
        loads=frozenset(name for name in known if f"load-{name}" in post),
    )


def blank(kind: str, teams: frozenset[int], target: Target | None = None) -> Entered:
    """Return the input of a new form: the initial values of a kind, and a seed that stays while the user types."""
    values = {name: as_text(form_field.initial) for name, form_field in FIELDS.items()}
    values["seed"] = str(new_seed())
    entered = Entered(kind=kind, values=values, teams=teams)
    return with_kind(entered, target)


def new_seed() -> int:
    """Draw a seed for the order of runs."""
    return SystemRandom().randrange(1, 2**31)


def as_calibration(entered: Entered, target: Target | None) -> Entered:
    """Return the input with the values of an A/A campaign: one setting under two blind labels."""
    values = {
        "question": question_of(target.name if target else "this server"),
        "order": str(Campaign.Order.PAIRED),
        "paired_factor": BLIND_LABEL,
        "repetitions": str(PAIRS),
        "tags": TAG,
    }
    return replace(entered, values={**entered.values, **values})


def with_kind(entered: Entered, target: Target | None = None) -> Entered:
    """Fill in initial values that the kind requires and the form lacks: parameters, target, metric."""
    driver = entered.driver
    if driver is None:
        return entered
    metrics = entered.metrics
    values = dict(entered.values)
    loads = ("", *driver.load, *driver.may_be_load)
    if values.get(searches.LOAD, "") not in loads:
        values[searches.LOAD] = ""
    if values.get("primary_metric") not in {metric.name for metric in metrics}:
        values["primary_metric"] = driver.primary_metric.name
    possible = targets_of(driver, entered)
    if target is not None and target in possible:
        values["target"] = str(target.pk)
    elif values.get("target") not in {str(known.pk) for known in possible}:
        values["target"] = str(possible[0].pk) if possible else ""
    entered = replace(entered, values=values)
    initial = {name: as_text(f.initial) for name, f in driver.parameters.base_fields.items()}
    begun = {name: known[0] for name, known in offers_of(entered).items()}
    return replace(entered, parameters=initial | begun | dict(entered.parameters))


def with_other_kind(entered: Entered, drawn_for: str) -> Entered:
    """Return the input after another kind was chosen, for whose parameters the form was not drawn.

    A value stays where somebody typed it, and the parameter of that name has the same type and takes it. All else is the new
    kind's initial value: two kinds have other parameters under one name.
    """
    before = driver_to_choose(entered.teams, drawn_for)
    if drawn_for == entered.kind or entered.driver is None:
        return with_kind(entered)
    old = before.parameters.base_fields if before is not None else {}
    new = entered.driver.parameters.base_fields
    same = [name for name in new if name in old and type(old[name]) is type(new[name])]
    stays = {
        name: entered.parameters[name]
        for name in same
        if name in entered.parameters
        and written(old[name], entered.parameters[name])
        != written(old[name], as_text(old[name].initial))
        and _takes(new[name], entered.parameters[name])
    }
    levels = {
        name: entered.levels[name]
        for name in same
        if name in entered.varied
        and name in entered.driver.factors
        and all(_takes(new[name], level) for level in entered.levels.get(name, ("",)))
    }
    values = criteria.without_unknown(entered.values, entered.metrics)
    return with_kind(
        replace(
            entered,
            values=values | dict.fromkeys(OF_FACTORS, ""),
            parameters=stays,
            varied=frozenset(levels),
            levels=levels,
            excluded="",
            hard=None,
            loads=entered.loads & levels.keys(),
        )
    )


def _takes(form_field: forms.Field, text: str) -> bool:
    try:
        form_field.clean(value_of(form_field, text))
    except ValidationError:
        return False
    return True


def with_pair(entered: Entered) -> Entered:
    """Fill in the baseline of a paired order, and the primary contrast where its two levels are all that varies."""
    if entered.values.get("order") != Campaign.Order.PAIRED:
        return entered
    factor, levels = paired_levels(entered)
    if len(levels) != 2:
        return entered
    values = dict(entered.values)
    baseline = values["baseline"] = values.get("baseline") or levels[0]
    sides = [f"{factor}={level}" for level in levels]
    chosen = [values.get(name, "") for name in contrasts.NAMES[:2]]
    is_stale = any(side.startswith(f"{factor}=") and side not in sides for side in chosen)
    if (
        list(entered.factor_levels) == [factor]
        and baseline in levels
        and (is_stale or not any(chosen))
    ):
        others = [level for level in levels if level != baseline]
        values |= contrasts.as_entered(
            {"factor": factor, "candidate": others[0], "baseline": baseline, "at": {}}
        )
    return replace(entered, values=values)


def paired_levels(entered: Entered) -> tuple[str, tuple[str, ...]]:
    """Return the factor that a paired order has in the form, and its levels: the chosen one, else the only one of two levels."""
    known = entered.factor_levels
    name = entered.values.get("paired_factor", "")
    two = [factor for factor, levels in known.items() if len(levels) == 2]
    if not name and len(two) == 1:
        name = two[0]
    return name, known.get(name, ())


def with_present_values(entered: Entered) -> Entered:
    """Give a parameter that has just begun to vary its present value as the first level, as the script does."""
    begun = {
        name: (entered.parameters[name],)
        for name in entered.varied
        if not entered.levels.get(name) and entered.parameters.get(name)
    }
    return replace(entered, levels={**entered.levels, **begun})


def offers_of(entered: Entered) -> dict[str, list[str]]:
    """Return values of parameters that the chosen target is known to serve, the initial one first.

    They come from the driver, else from the latest finished campaigns on the target.
    """
    driver, target = entered.driver, entered.target
    if driver is None or target is None:
        return {}
    known = driver.offers(target.base_url, settings.SANDBOX_URL)
    result = {name: list(values) for name, values in known.items() if values}
    done = target.campaign_set.filter(kind=entered.kind, state=Campaign.State.FINISHED)
    initial = {name: as_text(f.initial) for name, f in driver.parameters.base_fields.items()}
    for parameters in done.order_by("-pk").values_list("parameters", flat=True)[:MOST_LOOKED_AT]:
        # A parameter that varied is among the factors, not here.
        for name in driver.urls(target.base_url, initial | parameters):
            value = parameters.get(name)
            if isinstance(value, str) and value not in result.setdefault(name, []):
                result[name].append(value)
    return result


def presets_of(driver: Driver) -> Sequence[Preset]:
    """Return the presets of a kind; without a sandbox those that need none."""
    return driver.presets(settings.SANDBOX_URL)


def with_preset(entered: Entered, name: str) -> Entered:
    """Fill in the values of a preset, which do not vary any more, its levels, and the fields of the design that it names.

    An unknown name changes nothing.
    """
    result = (
        [each for each in presets_of(entered.driver) if each.name == name] if entered.driver else []
    )
    if not result:
        return entered
    values, factors = result[0].parameters, result[0].factors
    named = {name for chosen in result[0].configurations.values() for name in chosen}
    design = {
        field: _typed(field, value)
        for field, value in result[0].values.items()
        if field in VALUES and not (field in ONLY_EMPTY and entered.values.get(field))
    }
    before = dict(entered.values)
    if CRITERION in result[0].values and entered.driver:
        before = without(before, CRITERION)
        design |= criteria.as_entered(result[0].values[CRITERION], entered.metrics)
    return replace(
        entered,
        values=before | design,
        parameters={**entered.parameters, **values, **dict.fromkeys(named, "")},
        varied=(entered.varied - values.keys() - named) | factors.keys(),
        configurations=tuple(
            Typed(name, chosen) for name, chosen in result[0].configurations.items()
        ),
        levels={**entered.levels, **{each: tuple(levels) for each, levels in factors.items()}},
    )


def targets_of(driver: Driver, entered: Entered) -> list[Target]:
    """Return the targets that the kind can measure, the ready ones first."""
    rows = entered.targets.filter(family__in=driver.families).select_related("team")
    return sorted(rows, key=lambda target: target.health != Target.Health.READY)


def from_definition(data: FieldValues, teams: frozenset[int]) -> Entered:
    """Return the input of a stored definition, of `planning.storage.definition_of`."""
    configurations = as_typed(data["factors"])
    factors: Json = {
        name: levels
        for name, levels in data["factors"].items()
        if not (configurations and name == CONFIGURATION)
    }
    entered = Entered(
        kind=str(data["kind"]),
        teams=teams,
        values={name: _typed(name, data.get(name)) for name in VALUES}
        | contrasts.as_entered(data.get(contrasts.PATH))
        | searches.as_entered(data.get(searches.PATH)),
        parameters={name: as_text(value) for name, value in data["parameters"].items()},
        varied=frozenset(factors),
        levels={name: tuple(map(as_text, levels)) for name, levels in factors.items()},
        also=tuple(map(str, (data.get("targets") or ())[1:])),
        configurations=configurations,
        hard=frozenset(data["hard_to_change"]) if "hard_to_change" in data else None,
        loads=frozenset(data.get("roles", {})),
        excluded="\n".join(
            ", ".join(f"{name}={as_text(level)}" for name, level in combination.items())
            for combination in data["excluded"]
        ),
    )
    values = {**entered.values, **criteria.as_entered(data.get(CRITERION), entered.metrics)}
    return with_kind(replace(entered, values=values))


def with_raised(entered: Entered, name: str) -> Entered | None:
    """Return the input with a parameter or setting as a factor of two levels: as it was, and raised. None where it cannot be raised."""
    driver, variables = entered.driver, entered.variables
    field = variables.fields.get(name)
    if driver is None or field is None or name not in variables.factors:
        return None
    texts = entered.levels.get(name, ()) if name in entered.varied else ()
    setting = variables.settings.get(name)
    known = [
        *(texts or [entered.parameters.get(name, "")]),
        *([as_text(setting.look_value), as_text(setting.manual_value)] if setting else []),
        as_text(field.initial),
    ]
    levels = raised_levels(
        field,
        [number for text in known if (number := _number(text)) is not None][: len(texts) or 1],
    )
    if not levels:
        return None
    label = variables.label_of(name)
    question = f"Does raising {inside(label)} from {levels[0]} to {levels[1]} move the limit?"
    return replace(
        entered,
        values={**entered.values, "question": question, "name": ""},
        varied=entered.varied | {name},
        levels={**entered.levels, name: tuple(levels)},
    )


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None


def as_shown(entered: Entered) -> dict[str, str]:
    """Return the input as texts by the path of an error, for a comparison of two inputs."""
    hard = ", ".join(sorted(entered.hard & entered.varied)) if entered.hard else ""
    parameters = {
        f"parameters.{name}": f"varies: {', '.join(entered.levels.get(name, ()))}"
        if name in entered.varied
        else written(form_field, entered.parameters.get(name, ""))
        for name, form_field in entered.variables.fields.items()
    }
    target = entered.target
    return {
        **entered.values,
        **parameters,
        "kind": entered.kind,
        "target": target.name if target else "",
        "targets": ", ".join(each.name for each in entered.compared),
        "excluded": entered.excluded,
        "configurations": "; ".join(
            f"{row.name}: {configured(row.settings)}" for row in entered.configurations
        ),
        "hard_to_change": hard,
        "roles": ", ".join(f"{name} load" for name in sorted(entered.loads & entered.varied)),
    }


def stored_in(path: str) -> frozenset[str]:
    """Return the fields of a definition that a path of `as_shown` belongs to."""
    field = path.partition(".")[0]
    if field == "parameters":
        return frozenset({"parameters", "factors"})
    if field == "configurations":
        return frozenset({"factors"})
    return frozenset({field})


def unknown_choices(form_field: forms.Field, texts: Iterable[str]) -> list[str]:
    """Return the values that are none of a field's choices: a stored campaign may have one that went since."""
    if not isinstance(form_field, forms.ChoiceField):
        return []
    return [text for text in texts if text and not form_field.valid_value(text)]


def gone(entered: Entered) -> dict[str, list[str]]:
    """Return the messages of `check` about values in the form that are no choices, by path."""
    errors: dict[str, list[str]] = {}
    for name, form_field in entered.variables.fields.items():
        if name in entered.varied:
            unknown = unknown_choices(form_field, entered.levels.get(name, ()))
            read_levels(form_field, unknown, f"factors.{name}", errors)
            continue
        for text in unknown_choices(form_field, [entered.parameters.get(name, "")]):
            try:
                form_field.clean(text)
            except ValidationError as error:
                errors[f"parameters.{name}"] = error.messages
    return errors


def not_taken_over(data: FieldValues, entered: Entered) -> list[str]:
    """Return what the input of a stored definition lacks of it, in sentences: its target may have been retired since.

    A value that is no choice any more is not lacking: the form shows it (`gone`).
    """
    told = []
    target = entered.target
    here = f"“{target.name}” is chosen here" if target else "none is chosen here"
    keys = [key for key in data.get("targets") or [data.get("target")] if key]
    compared = [target.pk for target in entered.compared] or ([target.pk] if target else [])
    for lost in Target.objects.filter(pk__in={*keys}.difference(compared)).order_by("pk"):
        left = f"; {here}" if lost.pk == keys[0] else ""
        told.append(f"The target “{lost.name}” cannot be measured any more{left}.")
    known = {*entered.variables.fields, TARGET, BLIND_LABEL}
    if lost_names := sorted({*data["parameters"], *data["factors"]} - known):
        told.append(
            f"What is chosen here has no {', '.join(lost_names)}: left out, also where it varied."
        )
    metric, chosen = str(data["primary_metric"]), entered.values["primary_metric"]
    if metric != chosen:
        told.append(f"There is no metric {metric} any more; {chosen} is the primary metric here.")
    return told


def refusals(entered: Entered, refused: Iterable[tuple[str, Any, str]]) -> dict[str, list[str]]:
    """Return the levels in the form that a target refused, as messages by the path of an error."""
    data: dict[str, list[str]] = {}
    for name, level, sentence in refused:
        text = as_text(level)
        varied = name in entered.varied
        stands = entered.levels.get(name, ()) if varied else (entered.parameters.get(name, ""),)
        if text in stands:
            what = f" {text}" if text and varied else " this"
            data.setdefault(f"parameters.{name}", []).append(
                f"The target refused{what}: {sentence}"
            )
    return data


def _typed(name: str, value: Any) -> str:
    """Return a stored value of the design as a user would type it."""
    if value is not None and isinstance(FIELDS.get(name), Span):
        return with_unit(value)
    return as_text(value)


def as_definition(entered: Entered) -> tuple[CleanedData, dict[str, list[str]]]:
    """Return the input of `check`, and the errors that only the text of the form can have."""
    variables = entered.variables
    known = variables.fields
    excluded, errors = combinations(entered.excluded, known)
    contrast, wrong = contrasts.read_entered(entered.values)
    if wrong:
        errors |= {contrasts.PATH: [wrong]}
    criterion, lacking = criteria.read_entered(entered.values, entered.metrics)
    configurations, twice = as_sent(entered.configurations)
    errors |= lacking | twice
    data: CleanedData = {
        **{name: entered.values[name] for name in VALUES if name in entered.values},
        contrasts.PATH: contrast,
        CRITERION: criterion,
        searches.PATH: searches.read_entered(entered.values),
        "roles": loads_in(entered),
        "kind": entered.kind,
        "parameters": {
            name: value_of(known[name], entered.parameters.get(name, ""))
            for name in known
            if name not in entered.varied
        },
        "factors": {
            **({CONFIGURATION: configurations} if configurations else {}),
            **{
                name: list(entered.levels.get(name, ())) for name in known if name in entered.varied
            },
        },
        "excluded": excluded,
        "hard_to_change": _hard(entered, variables),
    }
    if compared := entered.compared:
        data["targets"] = [target.pk for target in compared]
        named = {**data["factors"], TARGET: ()}
        if data["hard_to_change"] is not None and is_dear(
            data["parameters"], variables, named, compared
        ):
            data["hard_to_change"] = [TARGET, *data["hard_to_change"]]
    if entered.values.get("order") != Campaign.Order.PAIRED:  # hidden fields are ignored
        data |= {"paired_factor": "", "baseline": ""}
    paired = known.get(data["paired_factor"])
    if paired is not None and data.get("baseline"):
        data["baseline"] = str(as_level(paired, data["baseline"]))
    return data, errors


def loads_in(entered: Entered) -> dict[str, str]:
    """Return the roles of the factors that are ticked as load, as far as the kind allows it."""
    driver = entered.driver
    possible = driver.may_be_load if driver else ()
    return {
        name: Factor.Role.LOAD.value
        for name in possible
        if name in entered.loads and name in entered.varied
    }


def _hard(entered: Entered, variables: Variables) -> list[str] | None:
    """Return the factors ticked as hard to change; None in an order that changes all factors at random."""
    in_blocks = (Campaign.Order.INTERLEAVED, Campaign.Order.PAIRED, "")
    if entered.hard is None or entered.values.get("order", "") not in in_blocks:
        return None
    return [name for name in variables.fields if name in entered.hard & entered.varied]


def contrasts_of(entered: Entered) -> contrasts.ContrastForm:
    """Return the form of the primary contrast, with the choices that the levels in the form allow."""
    driver = entered.driver
    not_among: list[str] = []
    if driver is not None:
        not_among = [name for name in driver.work if name not in driver.addresses]
        not_among += load_among(driver, dict.fromkeys(entered.varied, ()), loads_in(entered))
    paired = entered.values.get("order") == Campaign.Order.PAIRED
    return contrasts.ContrastForm(
        entered.factor_levels,
        entered.values,
        only=entered.values.get("paired_factor", "") if paired else "",
        not_among=not_among,
        label_of=entered.variables.label_of,
    )


def search_of(entered: Entered, errors: Errors) -> searches.SearchForm:
    """Return the form of a search for capacity, over the loads that the kind has."""
    driver = entered.driver
    loads = (*driver.load, *driver.may_be_load) if driver else ()
    return searches.SearchForm(loads, entered.values, errors, entered.variables.label_of)


def criterion_of(entered: Entered, errors: Errors) -> criteria.CriterionForm:
    """Return the form of the criterion, with the metrics of the kind."""
    return criteria.CriterionForm(entered.metrics, entered.values, errors)


def split_levels(form_field: forms.Field, text: str) -> tuple[str, ...]:
    """Split a text into levels, one per line; numbers may also be separated by commas or blanks.

    Levels that have several lines themselves are separated by a line with three hyphens.
    """
    if has_lines(form_field):
        parts = re.split(r"(?m)^---[ \t]*$", text.replace("\r\n", "\n"))
        return tuple(part.strip() for part in parts if part.strip())
    pattern = r"[\s,;]+" if isinstance(form_field, NUMBERS) else r"[\r\n]+"
    return tuple(part.strip() for part in re.split(pattern, text) if part.strip())


def has_lines(form_field: forms.Field) -> bool:
    """Return whether a value of a parameter may have several lines."""
    return isinstance(form_field.widget, forms.Textarea)


def value_of(form_field: forms.Field, text: str) -> Any:
    """Return the typed value for a field; for a checkbox, whether it is ticked."""
    if isinstance(form_field, forms.BooleanField):
        return text in {"on", "True", "true", "1"}
    return text


def written(form_field: forms.Field, text: str) -> str:
    """Return a single value as text for a comparison; for a checkbox yes or no."""
    if isinstance(form_field, forms.BooleanField):
        return "yes" if value_of(form_field, text) else "no"
    return text.strip()


def _absent(form_field: forms.Field) -> str:
    """Return the value of a field that the browser did not send: of an unticked checkbox, or the initial value."""
    return "" if isinstance(form_field, forms.BooleanField) else as_text(form_field.initial)


def _plain(text: str) -> str:
    """Return a text with its line ends as one character; browsers send two."""
    return text.replace("\r\n", "\n").strip()


def combinations(
    text: str, known: Mapping[str, forms.Field]
) -> tuple[list[CleanedData], dict[str, list[str]]]:
    """Return the combinations, one per line, and the errors of invalid lines."""
    result, wrong = [], []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        parts = [part.partition("=") for part in NEXT_PAIR.split(line)]
        if not all(equals and name.strip() for name, equals, _ in parts):
            wrong.append(
                f"Line {number} is no combination; "
                "write name=level, and a comma between two of them."
            )
            continue
        result.append(
            {
                name.strip(): as_level(known.get(name.strip()), level.strip())
                for name, _, level in parts
            }
        )
    return result, {"excluded": wrong} if wrong else {}


def as_level(form_field: forms.Field | None, text: str) -> Any:
    """Return the level cleaned by its field, or as typed where it is invalid."""
    if form_field is None:
        return text
    try:
        return form_field.clean(text)
    except ValidationError:
        return text
