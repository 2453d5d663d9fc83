"""Inputs that state a criterion: rows of a metric with its limit, and what holds for all of them. No HTML, no database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
from django import forms

from campaigns.kinds.base import Metric
from campaigns.kit.mappings import Json, JsonObject
from campaigns.kit.structs import fields_of
from campaigns.planning.criterion import (
    MOST_CONDITIONS,
    PATH,
    SIDES,
    Condition,
    Criterion,
    amount_text,
    criterion_of,
)
from campaigns.planning.pages.part_form import PartForm, as_stated, nested, without

INPUTS = frozenset(
    {
        *(f"{PATH}.{name}" for name in fields_of(Criterion)),
        *(f"{PATH}.conditions.#.{name}" for name in ("metric", "limit", *fields_of(Condition))),
    }
)
"""The paths of its inputs; # is the number of a row."""
FEWEST_SHOWN = 2
Errors = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class ConditionRow:
    """One row: its metric, its limit, and the other leaves of a condition. hidden: a button shows it."""

    metric: forms.BoundField
    limit: forms.BoundField
    others: Sequence[forms.BoundField]
    hidden: bool


class CriterionForm(PartForm):
    """The criterion as typed or as stored."""

    def __init__(
        self, metrics: Sequence[Metric], values: Mapping[str, str], errors: Errors
    ) -> None:
        super().__init__(Criterion, PATH, values, errors)
        known = [
            (
                metric.name,
                f"{metric.label}{f' ({metric.unit})' if metric.unit != 'count' else ''}: "
                f"{SIDES[side_of(metric)]}",
            )
            for metric in metrics
            if metric.directed
        ]
        filled = len(nested(values, PATH).get("conditions", ()))
        shown = max(filled + 1, FEWEST_SHOWN)
        self.rows = [
            _row(number, known, values, errors, hidden=number >= shown)
            for number in range(max(filled, MOST_CONDITIONS))
        ]
        self.messages = [*errors.get(PATH, ()), *errors.get(f"{PATH}.conditions", ())]
        """Errors of no input."""

    @property
    def has_details(self) -> bool:
        """Whether one of the inputs that are folded has a value or an error."""
        return any(field.value() or field.errors for field in self)


def _row(
    number: int,
    known: Sequence[tuple[str, str]],
    values: Mapping[str, str],
    errors: Errors,
    *,
    hidden: bool,
) -> ConditionRow:
    path = f"{PATH}.conditions.{number}"
    chosen = values.get(f"{path}.metric", "")
    unknown = [] if chosen in ("", *dict(known)) else [(chosen, chosen)]
    # Messages about a condition as a whole stand at its limit.
    placed = {**errors, f"{path}.limit": errors.get(path, ())}
    inputs = PartForm(
        Condition,
        path,
        values,
        placed,
        metric=forms.ChoiceField(
            choices=[("", "no condition"), *known, *unknown],
            label=f"Metric of condition {number + 1}",
        ),
        limit=forms.CharField(label=f"Limit of condition {number + 1}"),
    )
    metric, limit, *others = inputs
    return ConditionRow(metric, limit, others, hidden)


def side_of(metric: Metric) -> str:
    """Return the side on which a metric has its limit."""
    return "at_most" if metric.lower_is_better else "at_least"


def as_entered(stored: Json | None, metrics: Sequence[Metric]) -> dict[str, str]:
    """Write a stored criterion as texts by path: limits with the units of their metrics, their side is that of the metric."""
    criterion = criterion_of(stored or {})
    units = {metric.name: metric.unit for metric in metrics}
    part = msgspec.to_builtins(criterion)
    for row, condition in zip(part.get("conditions", ()), criterion.conditions, strict=True):
        del row[condition.side]
        row["limit"] = amount_text(condition.limit, units.get(condition.metric, ""))
    return as_stated(part, PATH)


def read_entered(
    values: Mapping[str, str], metrics: Sequence[Metric]
) -> tuple[JsonObject, dict[str, list[str]]]:
    """Return the criterion as a definition has it, and the errors that rows alone can have."""
    sides = {metric.name: side_of(metric) for metric in metrics}
    errors = {}
    part = nested(values, PATH)
    for number, row in enumerate(part.get("conditions", ())):
        limit, metric = row.pop("limit", ""), row.setdefault("metric", "")
        row[sides.get(metric, "at_most")] = limit
        if metric and not limit:
            errors[f"{PATH}.conditions.{number}"] = ["Give its limit, or choose “no condition”."]
    return part, errors


def without_unknown(values: Mapping[str, str], metrics: Sequence[Metric]) -> dict[str, str]:
    """Return values without the rows of metrics that another kind has."""
    known = {"", *(metric.name for metric in metrics)}
    part = nested(values, PATH)
    if rows := part.get("conditions"):
        part["conditions"] = [row for row in rows if row.get("metric", "") in known]
    return {**without(values, PATH), **as_stated(part, PATH)}
