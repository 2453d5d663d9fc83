"""A table of named configurations: a row a name, a column a setting of the target. No HTML, no database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django import forms
from django.http import QueryDict

from campaigns.kit.charts.labels import as_text
from campaigns.kit.mappings import FieldValues
from campaigns.planning.configurations import CONFIGURATION, PATH
from campaigns.targets.variables import Variables

ROWS = 12
FEWEST_SHOWN = 2
LONGEST = 200


@dataclass(frozen=True, slots=True)
class Typed:
    """A row as typed: its name, and the value of each setting. An empty value is none."""

    name: str
    settings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ConfigurationRow:
    """One row of the table. hidden: a button shows it."""

    name: forms.BoundField
    values: Sequence[forms.BoundField]
    hidden: bool


@dataclass(frozen=True, slots=True)
class ConfigurationTable:
    """The table, with the names of its columns and its errors."""

    columns: Sequence[str]
    rows: Sequence[ConfigurationRow]
    errors: Sequence[str]

    @property
    def is_open(self) -> bool:
        """Whether it has input or an error."""
        return bool(self.errors) or any(row.name.value() for row in self.rows)


def read_typed(post: QueryDict, settings: Sequence[str]) -> tuple[Typed, ...]:
    """Return the rows that the browser sent, without empty ones."""
    rows = [
        Typed(
            post.get(f"configuration-{row}-name", "").strip(),
            {
                name: value
                for name in settings
                if (value := post.get(f"configuration-{row}-{name}", "").strip())
            },
        )
        for row in range(ROWS)
    ]
    return tuple(row for row in rows if row.name or row.settings)


def as_typed(factors: FieldValues) -> tuple[Typed, ...]:
    """Return the rows of a definition's factors."""
    stored = factors.get(CONFIGURATION)
    if not isinstance(stored, Mapping):
        return ()
    return tuple(
        Typed(name, {setting: as_text(value) for setting, value in chosen.items()})
        for name, chosen in stored.items()
    )


def as_sent(rows: Sequence[Typed]) -> tuple[dict[str, Mapping[str, str]], dict[str, list[str]]]:
    """Return the rows as a definition has them, and what rows alone can have wrong."""
    names = [row.name for row in rows]
    twice = list(dict.fromkeys(name for name in names if names.count(name) > 1))
    errors = {PATH: [f"Two rows are called “{name}”; rename one." for name in twice]}
    return {row.name: row.settings for row in rows}, errors if twice else {}


def table_of(
    variables: Variables, rows: Sequence[Typed], errors: Mapping[str, Sequence[str]]
) -> ConfigurationTable:
    """Return the table: the rows that are filled in, and one more, are shown."""
    form = forms.Form()
    for row in range(max(ROWS, len(rows))):
        typed = rows[row] if row < len(rows) else Typed("", {})
        place = f"configuration {row + 1}"
        form.fields[f"configuration-{row}-name"] = _input(typed.name, f"Name of {place}")
        for name in variables.settings:
            label = f"{variables.label_of(name)} of {place}"
            form.fields[f"configuration-{row}-{name}"] = _input(typed.settings.get(name, ""), label)
    shown = max(FEWEST_SHOWN, len(rows) + 1)
    messages = [
        f"{path.removeprefix(PATH).strip('.')}: {message}".removeprefix(": ")
        for path, texts in errors.items()
        if path == PATH or path.startswith(f"{PATH}.")
        for message in texts
    ]
    return ConfigurationTable(
        [variables.label_of(name) for name in variables.settings],
        [
            ConfigurationRow(
                form[f"configuration-{row}-name"],
                [form[f"configuration-{row}-{name}"] for name in variables.settings],
                row >= shown,
            )
            for row in range(max(ROWS, len(rows)))
        ],
        messages,
    )


def _input(text: str, label: str) -> forms.CharField:
    widget = forms.TextInput({"aria-label": label, "maxlength": LONGEST})
    return forms.CharField(initial=text, widget=widget)
