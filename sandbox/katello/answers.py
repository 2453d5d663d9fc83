"""Answers as Foreman and Katello give them, also where something is wrong."""

from typing import Any

from aiohttp import web

from sandbox.pulp.answers import document, page

__all__ = ["Problem", "document", "page"]


class Problem(Exception):
    """A request that gets an error; the body is the one that this part of the server gives."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        super().__init__(str(body))
        self.status = status
        self.body = body

    def answer(self) -> web.Response:
        """Answer so."""
        return document(self.body, self.status)


def katello(status: int, words: str, *, old: bool) -> Problem:
    """Refuse as Katello does; before 5.0 the field was displayMessage, since then message."""
    return Problem(status, {"displayMessage" if old else "message": words, "errors": [words]})


def unauthorized(user: str) -> Problem:
    """Refuse a login, as Foreman does."""
    return Problem(401, {"error": {"message": f"Unable to authenticate user {user}"}})


def denied(permission: str) -> Problem:
    """Refuse a user who may not do it."""
    details = f"Missing one of the required permissions: {permission}"
    body = {"message": "Access denied", "details": details, "missing_permissions": [permission]}
    return Problem(403, {"error": body})


def not_found(what: str, pk: str) -> Problem:
    """Say that Foreman has no such thing."""
    return Problem(404, {"message": f"Resource {what} not found by id '{pk}'"})


def bad_search(name: str) -> Problem:
    """Say that a search names a field that there is not."""
    error = {
        "message": f"Field '{name}' not recognized for searching!",
        "class": "ScopedSearch::QueryNotSupported",
    }
    return Problem(400, {"error": error})
