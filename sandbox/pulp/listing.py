"""Lists: filters, pages and the choice of fields."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import urlencode

from aiohttp import web

from sandbox.pulp.fields import Invalid
from sandbox.pulp.tasks import State

_PAGE = 100
_OURS = ("limit", "offset", "fields", "exclude_fields", "ordering")
Row = TypeVar("Row")
Filter = Callable[[Any, str], bool]  # a row, and what the query says


def _whole(text: str | None, default: int, least: int) -> int:
    try:
        number = int(text or "")
    except ValueError:
        return default
    return number if number >= least else default


def _among(value: object, wanted: str) -> bool:
    return value in wanted.split(",")


def by_name(row_name: Callable[[Any], str]) -> dict[str, Filter]:
    """Give the filters of a name."""
    return {
        "name": lambda row, wanted: row_name(row) == wanted,
        "name__in": lambda row, wanted: _among(row_name(row), wanted),
        "name__startswith": lambda row, wanted: row_name(row).startswith(wanted),
        "name__istartswith": lambda row, wanted: row_name(row).lower().startswith(wanted.lower()),
        "name__contains": lambda row, wanted: wanted in row_name(row),
        "name__icontains": lambda row, wanted: wanted.lower() in row_name(row).lower(),
        "name__regex": lambda row, wanted: bool(re.search(wanted, row_name(row))),
    }


def state_filters() -> dict[str, Filter]:
    """Give the filters of a task's state, which must exist."""

    def known(wanted: str) -> list[str]:
        parts = wanted.split(",")
        for word in parts:
            if word not in set(State):
                choices = f"{word} is not one of the available choices."
                raise Invalid({"state": [f"Select a valid choice. {choices}"]})
        return parts

    return {
        "state": lambda task, wanted: task.state in known(wanted)[:1],
        "state__in": lambda task, wanted: task.state in known(wanted),
        "state__ne": lambda task, wanted: task.state not in known(wanted)[:1],
    }


def time_filters() -> dict[str, Filter]:
    """Give the filters of when a task began and ended."""

    def instant(text: str) -> datetime:
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            raise Invalid({"errors": ["Enter a valid date/time."]}) from None

    return {
        "started_at__lte": lambda task, wanted: bool(
            task.started and task.started <= instant(wanted)
        ),
        "finished_at__gte": lambda task, wanted: bool(
            task.finished and task.finished >= instant(wanted)
        ),
    }


def fields_of(query: Mapping[str, str], document: dict[str, Any]) -> dict[str, Any]:
    """Give the fields that the query wants."""
    wanted = [name for name in query.get("fields", "").split(",") if name]
    not_wanted = query.get("exclude_fields", "").split(",")
    return {
        name: value
        for name, value in document.items()
        if (not wanted or name in wanted) and name not in not_wanted
    }


def answer(
    request: web.BaseRequest,
    rows: Iterable[Row],
    filters: Mapping[str, Callable[[Row, str], bool]],
    written: Callable[[Row], dict[str, Any]],
) -> dict[str, Any]:
    """Write a page of the rows that the query wants. Raise Invalid for an unknown filter."""
    query = request.query
    for name, wanted in query.items():
        if name in _OURS:
            continue
        if name not in filters:
            raise Invalid({"errors": [f"Invalid Filter: '{name}'"]})
        keep = filters[name]
        if name.startswith("state"):
            keep(_NO_TASK, wanted)  # a bad word is refused, also where no row is
        rows = [row for row in rows if keep(row, wanted)]
    results: Sequence[Row] = list(rows)
    limit, offset = _whole(query.get("limit"), _PAGE, 1), _whole(query.get("offset"), 0, 0)

    def link(start: int) -> str:
        remaining = sorted((n, v) for n, v in query.items() if n not in ("limit", "offset"))
        place = [("limit", str(limit))] + ([("offset", str(start))] if start else [])
        return f"http://{request.host}{request.path}?{urlencode(remaining + place)}"

    return {
        "count": len(results),
        "next": link(offset + limit) if offset + limit < len(results) else None,
        "previous": link(max(0, offset - limit)) if offset else None,
        "results": [fields_of(query, written(row)) for row in results[offset : offset + limit]],
    }


class _NoTask:
    state = ""


_NO_TASK: Any = _NoTask()
