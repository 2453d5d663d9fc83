"""How REST filters lists: a name or a value that a FilterSet does not know is refused."""

from collections.abc import Collection
from typing import Any

from django.db.models import QuerySet
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from campaigns.kit.filters import FilterSet


def narrowed(
    rows: QuerySet[Any],
    request: Request,
    shape: type[FilterSet] | None,
    beside: Collection[str] = (),
) -> QuerySet[Any]:
    """Filter by the query; `beside`: names that others read. Raise ValidationError."""
    names = list(shape.base_filters) if shape else []
    refuse_unknown(request, [*names, *sorted(beside)])
    if shape is None:
        return rows
    empty = {name: ["Give a value, or leave it out."] for name in names if _is_empty(request, name)}
    if empty:
        raise ValidationError(empty)
    filters = shape(request.query_params, queryset=rows)
    if not filters.is_valid():
        raise ValidationError(
            {name: [str(text) for text in texts] for name, texts in filters.errors.items()}
        )
    found: QuerySet[Any] = filters.qs
    return found


def refuse_unknown(request: Request, known: Collection[str]) -> None:
    """Raise ValidationError where the query holds a name that nobody reads."""
    there = ", ".join(known)
    errors = {
        name[:100]: [f"There is no field of that name; there are {there}."]
        for name in request.query_params
        if name not in known
    }
    if errors:
        raise ValidationError(errors)


def _is_empty(request: Request, name: str) -> bool:
    return request.query_params.get(name) == ""
