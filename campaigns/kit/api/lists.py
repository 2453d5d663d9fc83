"""Filters and pages of REST lists. Unknown names and values in the query are refused.

A page begins after a row, not at a number, so that new rows do not shift the pages.
"""

from collections.abc import Collection
from typing import Any

from django.db.models import QuerySet
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request

from campaigns.kit.filters import FilterSet


def narrowed(
    rows: QuerySet[Any],
    request: Request,
    shape: type[FilterSet] | None,
    other_names: Collection[str] = (),
) -> QuerySet[Any]:
    """Filter rows by the query; `other_names` may stand in it, too. Raise ValidationError."""
    names = list(shape.base_filters) if shape else []
    refuse_unknown(request, [*names, *sorted(other_names)])
    if shape is None:
        return rows
    empty = {
        name: ["Give a value, or leave it out."]
        for name in names
        if request.query_params.get(name) == ""
    }
    if empty:
        raise ValidationError(empty)
    filters = shape(request.query_params, queryset=rows)
    if not filters.is_valid():
        raise ValidationError(
            {name: [str(text) for text in texts] for name, texts in filters.errors.items()}
        )
    narrowed_rows: QuerySet[Any] = filters.qs
    return narrowed_rows


def refuse_unknown(request: Request, known: Collection[str]) -> None:
    """Raise ValidationError where the query has other names than the known ones."""
    errors = {
        name[:100]: [f"There is no field of that name; there are {', '.join(known)}."]
        for name in request.query_params
        if name not in known
    }
    if errors:
        raise ValidationError(errors)


FEWEST, USUAL, MOST = 1, 50, 500
LARGEST = 2**63 - 1
NAMES = frozenset({"cursor", "limit"})


class Pages(CursorPagination):
    """`?cursor=` and `?limit=`, in the order of one column whose values are unique."""

    page_size = USUAL
    page_size_query_param = "limit"
    max_page_size = MOST

    def __init__(self, column: str) -> None:
        self.column = column
        self.by_number = not column.endswith("name")

    def get_ordering(self, request: Request, queryset: QuerySet[Any], view: Any) -> tuple[str, ...]:
        """Return the one column, with `-` before it for a descending order."""
        return (self.column,)

    def get_page_size(self, request: Request) -> int:
        """Return the limit. Raise ValidationError."""
        text = request.query_params.get("limit")
        if text is None:
            return USUAL
        if not (text.isascii() and text.isdecimal() and FEWEST <= int(text[:9]) <= MOST):
            raise ValidationError({"limit": [f"Give a whole number from {FEWEST} to {MOST}."]})
        return int(text)

    def decode_cursor(self, request: Request) -> Cursor | None:
        """Return where the page begins. Raise ValidationError."""
        try:
            cursor: Cursor | None = super().decode_cursor(request)
        except (NotFound, ValueError):
            self._refuse()
        if cursor is not None and not self._fits(cursor):
            self._refuse()
        return cursor

    def _fits(self, cursor: Cursor) -> bool:
        if cursor.position is None:
            return cursor.offset > 0
        position = str(cursor.position)
        if not self.by_number:
            return "\x00" not in position
        return position.isascii() and position.isdecimal() and int(position[:30]) <= LARGEST

    def _refuse(self) -> None:
        raise ValidationError({"cursor": ["Take it from `next` or `previous` of an answer."]})
