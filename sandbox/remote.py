"""Say something to a simulator that another process runs."""

import json
import urllib.request
from typing import Any


def say(url: str, method: str, body: object = None) -> dict[str, Any]:
    """Send JSON, past any proxy, and give the JSON of the answer. Raise OSError."""
    request = urllib.request.Request(  # noqa: S310 - it is ours, over HTTP
        url,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request) as answer:
        messages: dict[str, Any] = json.load(answer)
    return messages


def fetch(url: str) -> bytes:
    """Give the body of an answer, past any proxy. Raise OSError."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url) as answer:
        body: bytes = answer.read()
    return body
