"""The messages that a smart proxy publishes to a host: begin a job, or cancel it. Pure.

Source: smart_proxy_remote_execution_ssh, action PullScript. A message names URLs; only those of the proxy itself are taken, so
that no message can send the hosts anywhere else.
"""

import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from campaigns.kit.network import BadUrl, normalised_address

DIRECTIVE = "foreman"
PATH = re.compile(r"/[!-~]{0,2000}\Z", re.ASCII)
JOB = re.compile(r"[0-9A-Za-z_-]{1,64}\Z", re.ASCII)


class BadMessage(ValueError):
    """A message is none that a smart proxy publishes, or names another server. job: of it, where it names one."""

    def __init__(self, message: str, job: str = "") -> None:
        super().__init__(message)
        self.job = job


@dataclass(frozen=True, slots=True)
class Start:
    """Begin a job: where its script is, and where its updates go. Both are paths at the proxy."""

    job: str
    script: str
    update: str


@dataclass(frozen=True, slots=True)
class Cancel:
    """Cancel a job. path: which a host fetches with this message, as it does with every one."""

    job: str
    path: str


def topic_of(consumer: str) -> str:
    """Return the topic of a host, by its consumer uuid."""
    return f"yggdrasil/{consumer}/data/in"


def read_message(payload: bytes, proxy_url: str) -> Start | Cancel:
    """Return what a message says. proxy_url: of the smart proxy that hosts ask. Raise BadMessage."""
    message = _object(payload)
    if message.get("type") != "data" or message.get("directive") != DIRECTIVE:
        raise BadMessage("it is none of type data with the directive foreman")
    metadata = message.get("metadata")
    if not isinstance(metadata, dict):
        raise BadMessage("it has no metadata")
    job = metadata.get("job_uuid")
    if not isinstance(job, str) or not JOB.match(job):
        raise BadMessage("it names no job")
    path = _path(message.get("content"), proxy_url, job)
    match metadata.get("event", "start"):
        case "start":
            return Start(job, path, _path(metadata.get("return_url"), proxy_url, job))
        case "cancel":
            return Cancel(job, path)
        case other:
            raise BadMessage(f"its event is {str(other)[:40]!r}", job)


def _object(payload: bytes) -> dict[str, Any]:
    try:
        message = json.loads(payload)
    except (ValueError, RecursionError):
        raise BadMessage("it is no JSON") from None
    if not isinstance(message, dict):
        raise BadMessage("it is no JSON object")
    return message


def _path(url: Any, proxy_url: str, job: str) -> str:
    """Return the path of a URL at the proxy, its query included. Raise BadMessage."""
    try:
        parts = urlsplit(str(url))
        there = normalised_address(str(url))
    except (BadUrl, ValueError):
        raise BadMessage("it has no URL that can be read", job) from None
    if parts.scheme != "https" or there != normalised_address(proxy_url):
        place = f"{parts.scheme}://{parts.netloc}"[:200]
        raise BadMessage(f"it sends the host to {place}, and the proxy is {proxy_url}", job)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if not PATH.match(path):
        raise BadMessage("it has a URL with letters that no URL has", job)
    return path
