"""Settings of the server over HTTP: `GET` and `PUT /simulator/settings/<name>`, and readiness after a restart."""

from typing import Any

from aiohttp import web

from sandbox.katello.answers import document
from sandbox.katello.load import Load
from sandbox.katello.machine import BadSetting, UnknownSetting


def answer(load: Load, method: str, name: str, body: object) -> web.Response:
    """Read or change a setting; an empty name: all of them. A bad request gets an error message."""
    if method not in ("GET", "PUT"):
        return _said(405, "A setting is read with GET and changed with PUT.")
    known: dict[str, Any] = load.machine.document()
    if not name and method == "GET":
        return document(known)
    if name not in known:
        return _said(404, f"There is no setting {name[:80]}; there are {', '.join(known)}.")
    if method == "PUT":
        if not isinstance(body, dict) or "value" not in body:
            return _said(422, f'{name} is changed with a body such as {{"value": {known[name]}}}.')
        try:
            load.set(name, body["value"])
        except (BadSetting, UnknownSetting) as problem:
            return _said(422, str(problem))
    return document({"name": name, "value": load.machine.document()[name]})


def readiness(load: Load) -> web.Response:
    """Tell whether the server serves, with 503 while it does not."""
    seconds = load.away()
    messages = {"ready": not seconds, "seconds": round(seconds, 3)}
    return document(messages, 503 if seconds else 200)


def _said(status: int, words: str) -> web.Response:
    return document({"message": words}, status)
