"""Pages of lists, as Foreman and Katello give them."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from aiohttp import web

from sandbox.katello.answers import Problem, document

Thing = TypeVar("Thing")


def listed(
    request: web.BaseRequest,
    things: Iterable[Thing],
    tell: Callable[[Thing], Any] = lambda thing: thing,
    total: int | None = None,
) -> web.Response:
    """Give the page that the query asks for; `tell` makes documents of those on it. Raise Problem.

    `total`: how many there are without the search.
    """
    every = list(things)
    number, size = _asked(request, len(every))
    return document(
        {
            "total": len(every) if total is None else total,
            "subtotal": len(every),
            "selectable": len(every),
            "page": number,
            "per_page": size,
            "search": request.query.get("search"),
            "sort": {"by": None, "order": None},
            "results": [tell(thing) for thing in every[(number - 1) * size : number * size]],
        }
    )


def _asked(request: web.BaseRequest, count: int) -> tuple[int, int]:
    page, size = request.query.get("page", "1"), request.query.get("per_page", "20")
    if size == "all":
        size = str(max(1, count))
    if not (page.isdecimal() and size.isdecimal() and int(page) > 0 and int(size) > 0):
        raise Problem(400, {"error": {"message": "page and per_page are numbers from 1"}})
    return int(page), int(size)
