"""Perform an action over HTTP, and extract a value from the response."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from campaigns.kit.http.connection import Answer, Connection
from campaigns.kit.http.credentials import BadCertificate, Login, Tls
from campaigns.kit.http.errors import ClientError
from campaigns.kit.network import NetworkError, Rules
from campaigns.kit.redaction import begin_of
from campaigns.kit.ssh.access import ActionFailed
from campaigns.targets.actions.values import PLACE, Action

SHOWN = 60


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The base URL of a target, its login and TLS settings, which are used for it alone, and the network rules."""

    base_url: str
    rules: Rules
    login: Login
    tls: Tls
    sender: str = "perfdash"


def ask(
    action: Action, endpoint: Endpoint, check: Callable[[], None], seconds: float, value: Any = None
) -> Answer:
    """Send the request of an action. Raise ActionFailed unless it succeeds."""
    at_home = action.url.startswith("/")
    base = endpoint.base_url if at_home else action.url
    parts = urlsplit(action.url)
    path = (
        action.url if at_home else (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    )
    same = _origin(base) == _origin(endpoint.base_url)
    headers = {"Accept": "application/json"}
    if action.login and at_home:
        headers |= endpoint.login.header
    try:
        connection = Connection(
            base,
            endpoint.rules,
            tls=endpoint.tls if same else Tls(),
            check=check,
            sender=endpoint.sender,
        )
        try:
            answer = connection.ask(
                action.method,
                path,
                body=filled(action.body, value),
                headers=headers,
                seconds=seconds,
            )
        finally:
            connection.close()
    except (ClientError, NetworkError, BadCertificate) as error:
        raise ActionFailed(str(error)) from error
    if not 200 <= answer.status < 300:
        raise ActionFailed(f"{answer}: {answer.shown or 'no words'}", answer.shown)
    return answer


def filled(body: Any, value: Any) -> Any:
    """Return a body with the value, of its own type, in place of PLACE."""
    if body == PLACE:
        return value
    if isinstance(body, Mapping):
        return {
            (str(value) if key == PLACE else key): filled(each, value) for key, each in body.items()
        }
    if isinstance(body, list | tuple):
        return [filled(each, value) for each in body]
    return body


def value_at(answer: Answer, at: str) -> Any:
    """Return the value at a path of a JSON response. Raise ActionFailed where there is none."""
    try:
        whole = answer.json()
    except ClientError as error:
        raise ActionFailed(str(error), answer.shown) from None
    return picked(whole, at, str(answer))


def read_json(text: str, at: str, where: str) -> Any:
    """Return the value in the output of a command."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        raise ActionFailed(f"{where} gave no JSON: {begin_of(text, SHOWN)!r}.", text) from None
    return picked(whole, at, where)


def picked(whole: Any, at: str, where: str) -> Any:
    """Return the value at a path of names and numbers, separated by dots."""
    result = whole
    for step in filter(None, at.split(".")):
        if isinstance(result, Mapping) and step in result:
            result = result[step]
        elif isinstance(result, list) and step.isdecimal() and int(step) < len(result):
            result = result[int(step)]
        else:
            known = ", ".join(map(str, list(result)[:8])) if isinstance(result, Mapping) else ""
            raise ActionFailed(
                f"{where} has no “{step}”" + (f"; it has {known}." if known else ".")
            )
    if isinstance(result, Mapping | list):
        raise ActionFailed(f"{where} holds no single value at “{at}”; say where in it.")
    return result


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme.lower(), parts.netloc.lower()
