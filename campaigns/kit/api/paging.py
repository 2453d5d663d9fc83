"""Lists by cursor: a page begins after a row, not at a number, so that new rows shift nothing."""

from typing import Any

from django.db.models import QuerySet
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request

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
        """One column, `-` before it for the newest first."""
        return (self.column,)

    def get_page_size(self, request: Request) -> int:
        """Read the limit. Raise ValidationError where it is none."""
        text = request.query_params.get("limit")
        if text is None:
            return USUAL
        if not (text.isascii() and text.isdecimal() and FEWEST <= int(text[:9]) <= MOST):
            raise ValidationError({"limit": [f"Give a whole number from {FEWEST} to {MOST}."]})
        return int(text)

    def decode_cursor(self, request: Request) -> Cursor | None:
        """Read where the page begins. Raise ValidationError for what no answer of ours held."""
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
