"""The rows of a kind's parameters in the campaign form. No HTML."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django import forms

from campaigns.kinds.base import Driver
from campaigns.kit.pages.fields import Choice, Field, as_text, from_form, shape_of
from campaigns.planning.pages.forms import NUMBERS, Entered, Errors, offers_of, targets_of
from campaigns.planning.workers import lacking_everywhere
from campaigns.targets.variables import Variables

LEVELS_HINT = {True: "Numbers, one per line or separated by blanks.", False: "One level per line."}


@dataclass(frozen=True, slots=True)
class ParameterRow:
    """One parameter: its single value, and, where it can vary, its levels.

    initial: the value that nobody chose; it does not become a level by itself.
    only_for: the one family of servers that knows it, where the kind measures several.
    is_setting: of the target, not of the kind. hard: ticked as hard to change. offers: values that
    the target is known to serve. bad: levels that an error is about.
    """

    name: str
    help: str
    single: Field
    levels: Field | None
    varied: bool
    numeric: bool
    errors: Sequence[str]
    initial: str = ""
    only_for: str = ""
    is_setting: bool = False
    hard: bool = False
    offers: Sequence[str] = ()
    bad: Sequence[str] = ()

    @property
    def id(self) -> str:
        """Where links to its errors lead."""
        return f"row-{self.name}"

    @property
    def described_id(self) -> str:
        """The id of the input that is shown; that of its errors begins with it."""
        return self.levels.id if self.levels is not None and self.varied else self.single.id


@dataclass(frozen=True, slots=True)
class ParameterRows:
    """Rows that fit the chosen target, and those that another family of servers has.

    elsewhere_is_open: something of them was entered, or is wrong.
    """

    fitting: Sequence[ParameterRow]
    elsewhere: Sequence[ParameterRow]
    elsewhere_is_open: bool


def parameter_rows(driver: Driver, entered: Entered, errors: Errors) -> ParameterRows:
    """Draw every parameter; all of them fit as long as no target is chosen."""
    variables = entered.variables
    offers, lacking = offers_of(entered), lacking_everywhere(entered.kind)
    rows = [
        _row(driver, variables, name, entered, errors, offers.get(name, ()), lacking.get(name, {}))
        for name in variables.fields
    ]
    chosen = entered.values.get("target", "")
    families = [target.family for target in targets_of(driver, entered) if str(target.pk) == chosen]
    elsewhere = [row for row in rows if families and row.only_for not in ("", *families)]
    return ParameterRows(
        fitting=[row for row in rows if row not in elsewhere],
        elsewhere=elsewhere,
        elsewhere_is_open=any(
            row.errors or row.varied or row.single.value != row.initial for row in elsewhere
        ),
    )


def _row(
    driver: Driver,
    variables: Variables,
    name: str,
    entered: Entered,
    errors: Errors,
    offers: Sequence[str],
    lacking: Mapping[str, str],
) -> ParameterRow:
    form_field = variables.fields[name]
    messages = [*errors.get(f"parameters.{name}", ()), *errors.get(f"factors.{name}", ())]
    varied = name in entered.varied
    single = from_form(
        f"p-{name}", form_field, entered.parameters.get(name, ""), () if varied else messages
    )
    if offers:
        single = replace(single, attributes={**single.attributes, "list": f"offers-{name}"})
    greyed = _without(single.choices, lacking)
    single = replace(
        single,
        choices=[replace(c, label=f"{c.label}: {c.note}") if c.note else c for c in greyed],
    )
    levels = _levels(name, form_field, entered, messages) if name in variables.factors else None
    if levels is not None:
        levels = replace(levels, choices=_without(levels.choices, lacking))
    numeric = isinstance(form_field, NUMBERS)
    help_text = str(form_field.help_text)
    return ParameterRow(
        name,
        help_text,
        single,
        levels,
        varied,
        numeric,
        messages,
        as_text(form_field.initial),
        driver.of_one_family.get(name, ""),
        name in variables.settings,
        name in (variables.hard if entered.hard is None else entered.hard),
        offers,
        [each for each in entered.levels.get(name, ()) if _is_bad(each, messages)],
    )


def _is_bad(level: str, messages: Sequence[str]) -> bool:
    """Whether an error begins with a level, as those of `definition.levels` do."""
    return any(message.startswith(f"“{level[:60]}”") for message in messages)


def _without(choices: Sequence[Choice], lacking: Mapping[str, str]) -> list[Choice]:
    """Grey what no worker can do, and say why; what is chosen already can still be taken away."""
    return [
        replace(each, disabled=not each.chosen, note=lacking[each.value])
        if each.value in lacking
        else each
        for each in choices
    ]


def _levels(name: str, form_field: forms.Field, entered: Entered, messages: Sequence[str]) -> Field:
    given = entered.levels.get(name, ())
    options: list[tuple[str, str]] = [
        (as_text(key), str(label)) for key, label in getattr(form_field, "choices", ())
    ]
    if shape_of(form_field) == "checkbox":
        options = [("True", "on"), ("False", "off")]
    return Field(
        f"levels-{name}",
        f"Levels of {name}",
        "\n".join(given),
        "checks" if options else "textarea",
        hint="" if options else LEVELS_HINT[isinstance(form_field, NUMBERS)],
        errors=messages,
        rows=3,
        choices=[Choice(value, label, value in given) for value, label in options],
    )
