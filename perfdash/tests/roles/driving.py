"""Sends requests as anybody, at real rows, and says in a word what came of it."""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from http.cookies import SimpleCookie
from typing import Any
from unittest.mock import patch

from django.db import transaction
from django.test import Client
from django.urls import URLPattern, get_resolver

from campaigns.kit import rights
from campaigns.kit.pages import people

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
OWN = ("tokens", "channels", "sessions", "keys")
"""Addresses of rows of the one who asks."""
BY_NAME = ("user", "exclusion", "link", "kind", "chart")
"""Parts of an address that are called the same everywhere."""
OF_NOBODY = 2**31 - 1
"""A primary key that no row has, and that every field takes."""
NAMING = {"<pk>": OF_NOBODY, "<kind>": "nobodys-00000000"}
"""Parts of an address by which it names a row of a team, each with a name that no row has."""
NAME = re.compile(r"<(\w+)>")


def addresses(patterns: Any = None, prefix: str = "/") -> dict[str, Any]:
    """Every address there is, as the table writes it, with its view."""
    results: dict[str, Any] = {}
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        text = re.sub(r"<\w+:(\w+)>", r"<\1>", str(pattern.pattern))
        text = prefix + text.removeprefix("^").removesuffix("/?$")
        if isinstance(pattern, URLPattern):
            results[text] = pattern.callback
        else:
            results |= addresses(pattern.url_patterns, text)
    return results


def filled(address: str, named: Mapping[str, Any]) -> str:
    """Write real names into an address. Raise KeyError for what rows.py does not make yet."""

    def value(match: re.Match[str]) -> str:
        before = address[: match.start()].rstrip("/").rpartition("/")[2]
        by_name = match[1] in BY_NAME
        for key in (match[1], before) if by_name else (before, match[1]):
            if key in named:
                return str(named[key])
        raise KeyError(f"{address}: perfdash/tests/roles/rows.py makes no “{before}” {match[0]}")

    return NAME.sub(value, address)


def is_named(address: str, named: Mapping[str, Any]) -> bool:
    """Whether an address names a row of a team."""
    before, part = of_which(address)
    return bool(part) and before in named and before not in OWN


def of_which(address: str) -> tuple[str, str]:
    """Return which rows an address names a row of, and by which part; empty where it names none."""
    part = next((part for part in NAMING if part in address), "")
    before = address.partition(part)[0] if part else ""
    return before.rstrip("/").rpartition("/")[2], part


def answer(client: Client, method: str, path: str, body: Any = None) -> Any:
    """Send it, and take back what it did. body: what is sent as JSON; by default nothing."""
    send = getattr(client, method.lower())
    sent: dict[str, Any] = {}
    if method not in ("GET", "HEAD"):
        is_api = path.startswith("/api/") and path != "/api/v1/docs"
        sent = {
            "data": json.dumps(body or {}) if is_api else "",
            "content_type": "application/json" if is_api else FORM,
        }
    cookies: SimpleCookie = SimpleCookie()
    cookies.update(client.cookies)
    with transaction.atomic():
        response = send(path, REMOTE_ADDR="192.0.2.1", **sent)
        body = b"".join(response.streaming_content) if response.streaming else response.content
        transaction.set_rollback(True)
    client.cookies = cookies  # signing out is taken back, too
    response.told = body
    return response


FORM = "application/x-www-form-urlencoded"


class Admitted(BaseException):
    """Ends a request: who sends it has the right that the view declares. Nothing on the way may take it for an error."""


def answer_unless_admitted(client: Client, method: str, path: str) -> Any:
    """Send it as `answer` does, but end it where its view admits the one who asks: None."""

    def admit(*arguments: Any) -> None:
        admit_unpatched(*arguments)
        raise Admitted

    admit_unpatched = rights.admit
    with (
        suppress(Admitted),
        patch.object(rights, "admit", admit),
        patch.object(people, "admit", admit),
    ):
        return answer(client, method, path)
    return None


def allowed_by(response: Any) -> set[str] | None:
    """Return the methods that a refusal names, but OPTIONS; None where it names none."""
    named = response.get("Allow")
    return None if named is None else set(re.findall(r"\w+", named)) - {"OPTIONS"}


def word_of(response: Any) -> str:
    """How the table says it: yes, a refusal by its number, or the way to the sign-in page. None: admitted."""
    if response is None:
        return "yes"
    status = int(response.status_code)
    if status in (301, 302) and response["Location"].startswith("/sign-in/?next="):
        return "sign in"
    if status in (401, 403, 404, 405):
        return str(status)
    return "yes" if status < 500 else f"a crash: {status}"
