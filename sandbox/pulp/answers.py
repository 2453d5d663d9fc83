"""Answers as Pulp gives them: JSON, and HTML where the framework answers by itself."""

import json
from typing import Any

from aiohttp import web

_PAGE = """
<!doctype html>
<html lang="en">
<head>
  <title>{title}</title>
</head>
<body>
  <h1>{title}</h1><p>{text}</p>
</body>
</html>
"""


class NotFound(Exception):
    """A 404 in JSON: the route exists, the object does not."""


class NoRoute(Exception):
    """A 404 in HTML."""


class NotAllowed(Exception):
    """A 405."""


def document(body: Any, status: int = 200, **headers: str) -> web.Response:
    """Answer with JSON."""
    return web.Response(
        body=json.dumps(body).encode(),
        status=status,
        headers=headers,
        content_type="application/json",
    )


def page(status: int, title: str, text: str = "") -> web.Response:
    """Answer with a page, as Django and proxies do."""
    body = _PAGE.format(title=title, text=text)
    return web.Response(text=body, status=status, content_type="text/html")


def no_route() -> web.Response:
    """Answer that nothing is there."""
    return page(404, "Not Found", "The requested resource was not found on this server.")


def server_error() -> web.Response:
    """Answer as Django does when a view fails."""
    return page(500, "Server Error (500)")


def task(href: str) -> web.Response:
    """Answer that a task will do it."""
    return document({"task": href}, 202)
