"""Fields that state a criterion: rows of a metric with its limit, and the share that may fail. No HTML, no database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django import forms

from campaigns.kinds.base import Metric
from campaigns.kit.mappings import Json, JsonObject
from campaigns.kit.numbers import plain
from campaigns.kit.pages.forms import with_errors
from campaigns.kit.structs import fields_of
from campaigns.planning.criterion import (
    DEFAULT_RESOLUTION,
    MOST_CONDITIONS,
    PATH,
    SIDES,
    Criterion,
    amount_text,
    criterion_of,
)

SHARE, RESOLUTION = "criterion_failed", "criterion_resolution"
LEAVES = {SHARE: "failed_percent", RESOLUTION: "resolution"}
ROWS = tuple(
    (f"condition_{row}_metric", f"condition_{row}_limit") for row in range(MOST_CONDITIONS)
)
NAMES = (*(name for row in ROWS for name in row), SHARE, RESOLUTION)
FEWEST_SHOWN = 2
Errors = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class ConditionRow:
    """One row: its metric, its limit. hidden: a button shows it."""

    metric: forms.BoundField
    limit: forms.BoundField
    hidden: bool


class CriterionForm(forms.Form):
    """The criterion as typed or as stored; `planning.criterion` checks it."""

    def __init__(
        self, metrics: Sequence[Metric], values: Mapping[str, str], errors: Errors | None = None
    ) -> None:
        super().__init__(initial={name: values.get(name, "") for name in NAMES})
        self._filled = _filled(values)
        choices = [
            ("", "no condition"),
            *(
                (
                    metric.name,
                    f"{metric.label}{f' ({metric.unit})' if metric.unit != 'count' else ''}: "
                    f"{SIDES[side_of(metric)]}",
                )
                for metric in metrics
                if metric.directed
            ),
        ]
        known = {name for name, _ in choices}
        for metric_name, limit_name in ROWS:
            chosen = values.get(metric_name, "")
            unknown = [(chosen, chosen)] if chosen not in known else []
            self.fields[metric_name] = forms.ChoiceField(
                choices=[*choices, *unknown], label="Metric"
            )
            self.fields[limit_name] = forms.CharField(label="Limit")
        for name, part in LEAVES.items():
            declared = fields_of(Criterion)[part]
            self.fields[name] = forms.CharField(
                label=declared.label,
                widget=forms.TextInput({"inputmode": "decimal"}),
                help_text=declared.help_text,
            )
            self.fields[name].unit = getattr(declared, "unit", "")  # type: ignore[attr-defined]
        with_errors(self, self._placed(errors or {}))

    def _placed(self, errors: Errors) -> dict[str, Sequence[str]]:
        """Return the errors of parts of a criterion by the input that they are about."""
        places = {f"{PATH}.{part}": name for name, part in LEAVES.items()}
        for number, row in enumerate(self._filled):
            places[f"{PATH}.conditions.{number}"] = ROWS[row][1]
        return {place: errors[path] for path, place in places.items() if path in errors}

    @property
    def rows(self) -> list[ConditionRow]:
        """Return the rows: those that are filled in and one more are shown."""
        shown = max(FEWEST_SHOWN, 2 + max(self._filled, default=-1))
        return [
            ConditionRow(self[metric], self[limit], row >= shown)
            for row, (metric, limit) in enumerate(ROWS)
        ]

    @property
    def has_details(self) -> bool:
        """Whether one of the fields that are folded has input or an error."""
        return any(self[name].value() or self[name].errors for name in (SHARE, RESOLUTION))

    @property
    def share(self) -> forms.BoundField:
        """The share of work that may fail."""
        return self[SHARE]

    @property
    def resolution(self) -> forms.BoundField:
        """The largest ratio of the ends of an interval."""
        return self[RESOLUTION]


def side_of(metric: Metric) -> str:
    """Return the side on which a metric has its limit."""
    return "at_most" if metric.lower_is_better else "at_least"


def _filled(values: Mapping[str, str]) -> list[int]:
    """Return the rows that somebody has filled in, in part at least."""
    return [number for number, names in enumerate(ROWS) if any(values.get(name) for name in names)]


def as_entered(stored: Json | None, metrics: Sequence[Metric]) -> dict[str, str]:
    """Write a stored criterion as the fields hold it."""
    criterion = criterion_of(stored or {})
    units = {metric.name: metric.unit for metric in metrics}
    result = dict.fromkeys(NAMES, "")
    for (metric, limit), condition in zip(ROWS, criterion.conditions, strict=False):
        unit = units.get(condition.metric, "")
        result |= {metric: condition.metric, limit: amount_text(condition.limit, unit)}
    if criterion.failed_percent is not None:
        result[SHARE] = plain(criterion.failed_percent)
    if criterion.resolution != DEFAULT_RESOLUTION:
        result[RESOLUTION] = plain(criterion.resolution)
    return result


def read_entered(
    values: Mapping[str, str], metrics: Sequence[Metric]
) -> tuple[JsonObject, dict[str, list[str]]]:
    """Return the criterion as input of `check`, and the errors that rows alone can have."""
    sides = {metric.name: side_of(metric) for metric in metrics}
    conditions: list[JsonObject] = []
    errors = {}
    for number, row in enumerate(_filled(values)):
        metric, limit = (values.get(name, "") for name in ROWS[row])
        conditions.append({"metric": metric, sides.get(metric, "at_most"): limit})
        if metric and not limit:
            errors[f"{PATH}.conditions.{number}"] = ["Give its limit, or choose “no condition”."]
    result: JsonObject = {"conditions": conditions} if conditions else {}
    for name, part in LEAVES.items():
        if values.get(name):
            result[part] = values[name]
    return result, errors


def without_unknown(values: Mapping[str, str], metrics: Sequence[Metric]) -> dict[str, str]:
    """Return values without the rows of metrics that another kind has."""
    known = {metric.name for metric in metrics}
    result = dict(values)
    for metric, limit in ROWS:
        if result.get(metric) and result[metric] not in known:
            result |= {metric: "", limit: ""}
    return result
