"""The rows of a kind's parameters in the campaign form. No HTML."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from django import forms

from campaigns.kinds.base import Driver
from campaigns.kit.charts.labels import as_text, inside
from campaigns.kit.network import NetworkError
from campaigns.kit.pages.forms import LackingBoxes, LackingSelect, with_errors
from campaigns.models import Credential
from campaigns.planning.design import DesignForm
from campaigns.planning.leaves import NO
from campaigns.planning.pages.forms import (
    NUMBERS,
    Entered,
    Errors,
    has_lines,
    offers_of,
    targets_of,
    unknown_choices,
    value_of,
    written,
)
from campaigns.planning.workers import lacking_everywhere
from campaigns.targets.feeds import rule_of_feed
from campaigns.targets.variables import Variables

NO_CHOICE = "no choice any more"
"""Stands beside a value of a stored campaign that none may be given: without it, a list would show its first choice."""
MOST_NAMED = 5
"""The number of folded parameters whose labels stand beside the heading."""
CONFIRMS = "confirm-address"
"""The name of the boxes that confirm an address which workers read: each has a parameter and a URL."""
LEVELS_HINT = {True: "Numbers, one per line or separated by blanks.", False: "One level per line."}
LINES_HINT = (
    "A line with --- between two levels. The levels of a cell have at most 2,000 bytes together."
)


@dataclass(frozen=True, slots=True)
class ParameterRow:
    """One parameter: its single value and, if it can vary, its levels.

    label: in words; name: in code. is_essential: the kind shows it at once. has_lines: a value may have several lines. value: the single value as text. initial: the default; it does not become a level automatically.
    only_for: the only family of servers with the parameter, where the kind measures several.
    is_setting: of the target, not of the kind. hard: ticked as hard to change. offers: values that
    the target is known to serve. bad: levels that an error is about. is_load: the kind declares it load.
    may_be_load: a campaign may; load: it is ticked as such. confirms: addresses that workers read once their owner has confirmed
    that, each with the value of its box. anew: of a build, whether each whole plot installs it.
    """

    name: str
    label: str
    help: str
    single: forms.BoundField
    levels: forms.BoundField | None
    varied: bool
    numeric: bool
    has_lines: bool
    errors: Sequence[str]
    value: str
    initial: str = ""
    is_essential: bool = False
    only_for: str = ""
    is_setting: bool = False
    hard: bool = False
    offers: Sequence[str] = ()
    bad: Sequence[str] = ()
    is_load: bool = False
    may_be_load: bool = False
    load: bool = False
    confirms: Sequence[tuple[str, str]] = ()
    anew: forms.BoundField | None = None

    @property
    def id(self) -> str:
        """The id that links to its errors point to."""
        return f"row-{self.name}"

    @property
    def inside(self) -> str:
        """The label as it is inside the name of a control."""
        return inside(self.label)

    @property
    def is_touched(self) -> bool:
        """Whether it varies, has an error, or another value than the initial one."""
        field = self.single.field
        return (
            bool(self.errors)
            or self.varied
            or written(field, self.value) != written(field, self.initial)
        )

    @property
    def described_id(self) -> str:
        """The id of the visible input; that of its errors begins with it."""
        shown = self.levels if self.levels is not None and self.varied else self.single
        return shown.auto_id


@dataclass(frozen=True, slots=True)
class Fold:
    """Rows that are folded until one of them is touched."""

    title: str
    rows: Sequence[ParameterRow]

    @property
    def is_open(self) -> bool:
        """Whether a row has input or an error."""
        return any(row.is_touched for row in self.rows)

    @property
    def names(self) -> str:
        """The labels of the first rows."""
        named = ", ".join(row.inside for row in self.rows[:MOST_NAMED])
        return f"{named}, …" if len(self.rows) > MOST_NAMED else named


@dataclass(frozen=True, slots=True)
class ParameterRows:
    """Rows of parameters that fit the chosen target, and those of other families of servers."""

    fitting: Sequence[ParameterRow]
    elsewhere: Sequence[ParameterRow]

    @property
    def essential(self) -> list[ParameterRow]:
        """The rows that are shown at once."""
        return [row for row in self.fitting if row.is_essential]

    @property
    def folds(self) -> list[Fold]:
        """All other rows, each under the heading of its fold."""
        groups = {
            "Settings of the target": [row for row in self.fitting if row.is_setting],
            "More parameters": [
                row for row in self.fitting if not row.is_setting and not row.is_essential
            ],
            "Parameters of other families of targets": self.elsewhere,
        }
        return [Fold(title, rows) for title, rows in groups.items() if rows]


def parameter_rows(driver: Driver, entered: Entered, errors: Errors) -> ParameterRows:
    """Return the rows of all parameters; all of them fit as long as no target is chosen."""
    variables = entered.variables
    offers = offers_of(entered) | _credentials(driver, entered)
    lacking = lacking_everywhere(entered.kind)
    messages = {
        name: [
            message
            for group in ("parameters", "factors", "roles")
            for message in errors.get(f"{group}.{name}", ())
        ]
        for name in variables.fields
    }
    forms_of = (
        _single_values(entered, variables, offers, lacking, messages),
        _levels(entered, variables, lacking, messages),
    )
    rows = [
        _row(driver, variables, name, entered, messages[name], offers.get(name, ()), *forms_of)
        for name in variables.fields
    ]
    chosen = entered.values.get("target", "")
    families = [target.family for target in targets_of(driver, entered) if str(target.pk) == chosen]
    elsewhere = [row for row in rows if families and row.only_for not in ("", *families)]
    return ParameterRows(
        fitting=[row for row in rows if row not in elsewhere],
        elsewhere=elsewhere,
    )


def _single_values(
    entered: Entered,
    variables: Variables,
    offers: Mapping[str, Sequence[str]],
    lacking: Mapping[str, Mapping[str, str]],
    messages: Errors,
) -> forms.Form:
    """Return the form of the values of parameters that do not vary."""
    initial = {
        name: value_of(form_field, entered.parameters.get(name, ""))
        for name, form_field in variables.fields.items()
    }
    form = forms.Form(prefix="p", initial=initial)
    for name, form_field in deepcopy(dict(variables.fields)).items():
        unknown = unknown_choices(form_field, [entered.parameters.get(name, "")])
        if isinstance(form_field, forms.ChoiceField) and (name in lacking or unknown):
            form_field.widget = LackingSelect(_notes(lacking, name, unknown))
            known: Any = form_field.choices
            form_field.widget.choices = [*known, *zip(unknown, unknown, strict=True)]
        form_field.widget.attrs["aria-label"] = variables.label_of(name)
        if offers.get(name):
            form_field.widget.attrs["list"] = f"offers-{name}"
        form.fields[name] = form_field
    return with_errors(
        form, {n: result for n, result in messages.items() if n not in entered.varied}
    )


def _notes(
    lacking: Mapping[str, Mapping[str, str]], name: str, unknown: Sequence[str]
) -> dict[str, str]:
    """Return what stands beside the choices of a parameter."""
    return {**lacking.get(name, {}), **dict.fromkeys(unknown, NO_CHOICE)}


def _levels(
    entered: Entered,
    variables: Variables,
    lacking: Mapping[str, Mapping[str, str]],
    messages: Errors,
) -> forms.Form:
    """Return the form of the levels: checkboxes for a choice, else lines of text."""
    form = forms.Form(prefix="levels")
    for name in variables.factors:
        form_field, levels = variables.fields[name], entered.levels.get(name, ())
        choices = [(as_text(key), label) for key, label in getattr(form_field, "choices", ())]
        if isinstance(form_field, forms.BooleanField):
            choices = [("True", "on"), ("False", "off")]
        label = f"Levels of {inside(variables.label_of(name))}"
        if choices:
            unknown = unknown_choices(form_field, dict.fromkeys(levels))
            choices += zip(unknown, unknown, strict=True)
            form.fields[name] = forms.MultipleChoiceField(
                choices=choices,
                label=label,
                initial=levels,
                widget=LackingBoxes(_notes(lacking, name, unknown)),
            )
        elif has_lines(form_field):
            form.fields[name] = forms.CharField(
                label=label,
                initial="\n---\n".join(levels),
                widget=forms.Textarea({**form_field.widget.attrs, "aria-label": label}),
                help_text=LINES_HINT,
            )
        else:
            form.fields[name] = forms.CharField(
                label=label,
                initial="\n".join(levels),
                widget=forms.Textarea({"rows": 3, "aria-label": label}),
                help_text=LEVELS_HINT[isinstance(form_field, NUMBERS)],
            )
    return with_errors(form, {name: result for name, result in messages.items() if result})


def _row(
    driver: Driver,
    variables: Variables,
    name: str,
    entered: Entered,
    messages: Sequence[str],
    offers: Sequence[str],
    values: forms.Form,
    levels: forms.Form,
) -> ParameterRow:
    form_field = variables.fields[name]
    return ParameterRow(
        name,
        variables.label_of(name),
        str(form_field.help_text),
        values[name],
        levels[name] if name in levels.fields else None,
        name in entered.varied,
        isinstance(form_field, NUMBERS),
        has_lines(form_field),
        messages,
        entered.parameters.get(name, ""),
        as_text(form_field.initial),
        name in driver.shown_first,
        driver.of_one_family.get(name, ""),
        name in variables.settings,
        name in (variables.hard if entered.hard is None else entered.hard),
        offers,
        [each for each in entered.levels.get(name, ()) if _is_bad(each, messages)],
        is_load=name in driver.load,
        may_be_load=name in driver.may_be_load,
        load=name in entered.loads,
        confirms=_to_confirm(driver, name, entered) if messages else (),
        anew=_anew(entered) if name in variables.builds else None,
    )


def _anew(entered: Entered) -> forms.BoundField:
    """Return the checkbox of a build: whether it is installed anew."""
    form = DesignForm(initial={"anew": entered.values.get("anew") not in NO})
    return form["anew"]


def _credentials(driver: Driver, entered: Entered) -> dict[str, list[str]]:
    """Return the credentials of the target's team by the parameters that name one. None is an initial value."""
    if entered.target is None or not driver.credentials:
        return {}
    names = Credential.objects.filter(team=entered.target.team_id).values_list("name", flat=True)
    return {name: list(names) for name in driver.credentials}


def _to_confirm(driver: Driver, name: str, entered: Entered) -> list[tuple[str, str]]:
    """Return the addresses in the values of a parameter that workers read once their owner has confirmed that, with boxes."""
    targets = entered.compared or ([entered.target] if entered.target else [])
    values = (
        entered.levels.get(name, ())
        if name in entered.varied
        else (entered.parameters.get(name, ""),)
    )
    found: dict[str, str] = {}
    for value in values:
        for url in driver.reads({**entered.parameters, name: value}).get(name, ()):
            for target in targets:
                with suppress(NetworkError):
                    if rule := rule_of_feed(target, url):
                        found.setdefault(rule, f"{name} {url}")
    return list(found.items())


def _is_bad(level: str, messages: Sequence[str]) -> bool:
    """Return whether an error begins with a level, as those of `planning.levels` do."""
    return any(message.startswith(f"“{level[:60]}”") for message in messages)
