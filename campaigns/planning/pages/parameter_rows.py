"""The rows of a kind's parameters in the campaign form. No HTML."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass

from django import forms

from campaigns.kinds.base import Driver
from campaigns.kit.charts.labels import as_text
from campaigns.kit.network import NetworkError
from campaigns.kit.pages.forms import LackingBoxes, LackingSelect, with_errors
from campaigns.planning.pages.forms import (
    NUMBERS,
    Entered,
    Errors,
    has_lines,
    offers_of,
    targets_of,
    value_of,
)
from campaigns.planning.workers import lacking_everywhere
from campaigns.targets.feeds import rule_of_feed
from campaigns.targets.variables import Variables

CONFIRMS = "confirm-address"
"""The name of the boxes that confirm an address which workers read: each has a parameter and a URL."""
LEVELS_HINT = {True: "Numbers, one per line or separated by blanks.", False: "One level per line."}
LINES_HINT = (
    "A line with --- between two levels. The levels of a cell have at most 2,000 bytes together."
)


@dataclass(frozen=True, slots=True)
class ParameterRow:
    """One parameter: its single value and, if it can vary, its levels.

    has_lines: a value may have several lines. value: the single value as text. initial: the default; it does not become a level automatically.
    only_for: the only family of servers with the parameter, where the kind measures several.
    is_setting: of the target, not of the kind. hard: ticked as hard to change. offers: values that
    the target is known to serve. bad: levels that an error is about. is_load: the kind declares it load.
    may_be_load: a campaign may; load: it is ticked as such. confirms: addresses that workers read once their owner has confirmed
    that, each with the value of its box.
    """

    name: str
    help: str
    single: forms.BoundField
    levels: forms.BoundField | None
    varied: bool
    numeric: bool
    has_lines: bool
    errors: Sequence[str]
    value: str
    initial: str = ""
    only_for: str = ""
    is_setting: bool = False
    hard: bool = False
    offers: Sequence[str] = ()
    bad: Sequence[str] = ()
    is_load: bool = False
    may_be_load: bool = False
    load: bool = False
    confirms: Sequence[tuple[str, str]] = ()

    @property
    def id(self) -> str:
        """The id that links to its errors point to."""
        return f"row-{self.name}"

    @property
    def described_id(self) -> str:
        """The id of the visible input; that of its errors begins with it."""
        shown = self.levels if self.levels is not None and self.varied else self.single
        return shown.auto_id


@dataclass(frozen=True, slots=True)
class ParameterRows:
    """Rows of parameters that fit the chosen target, and those of other families of servers.

    elsewhere_is_open: a row of another family has input or an error.
    """

    fitting: Sequence[ParameterRow]
    elsewhere: Sequence[ParameterRow]
    elsewhere_is_open: bool


def parameter_rows(driver: Driver, entered: Entered, errors: Errors) -> ParameterRows:
    """Return the rows of all parameters; all of them fit as long as no target is chosen."""
    variables = entered.variables
    offers, lacking = offers_of(entered), lacking_everywhere(entered.kind)
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
        elsewhere_is_open=any(
            row.errors or row.varied or row.value != row.initial for row in elsewhere
        ),
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
        if isinstance(form_field, forms.ChoiceField) and name in lacking:
            form_field.widget = LackingSelect(lacking[name])
            form_field.widget.choices = form_field.choices
        form_field.widget.attrs["aria-label"] = name
        if offers.get(name):
            form_field.widget.attrs["list"] = f"offers-{name}"
        form.fields[name] = form_field
    return with_errors(
        form, {n: result for n, result in messages.items() if n not in entered.varied}
    )


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
        label = f"Levels of {name}"
        if choices:
            form.fields[name] = forms.MultipleChoiceField(
                choices=choices,
                label=label,
                initial=levels,
                widget=LackingBoxes(lacking.get(name, {})),
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
        str(form_field.help_text),
        values[name],
        levels[name] if name in levels.fields else None,
        name in entered.varied,
        isinstance(form_field, NUMBERS),
        has_lines(form_field),
        messages,
        entered.parameters.get(name, ""),
        as_text(form_field.initial),
        driver.of_one_family.get(name, ""),
        name in variables.settings,
        name in (variables.hard if entered.hard is None else entered.hard),
        offers,
        [each for each in entered.levels.get(name, ()) if _is_bad(each, messages)],
        is_load=name in driver.load,
        may_be_load=name in driver.may_be_load,
        load=name in entered.loads,
        confirms=_to_confirm(driver, name, entered) if messages else (),
    )


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
