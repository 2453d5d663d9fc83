"""Read HTTP archives (HAR 1.2), as browsers and proxies save them. Pure."""

import binascii
from base64 import b64decode
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from campaigns.kinds.http.importing.recorded import (
    BadImport,
    Recorded,
    Recording,
    Reply,
    some_of,
)
from campaigns.kinds.http.importing.recorded import without_marks as plain
from campaigns.kit.numbers import counted

STATIC_RESOURCES = frozenset(
    {"image", "font", "stylesheet", "script", "media", "manifest", "texttrack"}
)
STATIC_TYPES = ("image/", "font/", "video/", "audio/", "text/css", "text/javascript", "application/javascript",
                "application/x-javascript", "application/font", "application/wasm")  # fmt: skip
STATIC_ENDINGS = (
    ".js",
    ".mjs",
    ".css",
    ".png",
    ".jpg",
    ".jpeg",
    ".gif",
    ".svg",
    ".ico",
    ".woff",
    ".woff2",
    ".ttf",
    ".map",
    ".webp",
)
ENDLESS = frozenset({"eventsource", "websocket"})
MOST_ENTRIES = 20_000
NO_ANSWERS = (
    "The file holds no answer to {}: nothing is carried from there, and no status is expected."
)


def is_har(value: Any) -> bool:
    """Return whether a document of JSON is an archive."""
    return (
        isinstance(value, dict) and isinstance(value.get("log"), dict) and "entries" in value["log"]
    )


def read_har(value: Mapping[str, Any]) -> Recording:
    """Return the requests of an archive. Raise BadImport."""
    entries = value["log"]["entries"]
    if not isinstance(entries, list):
        raise BadImport(
            "log.entries of the HAR file is no list; save it again with the browser's network panel."
        )
    if not entries:
        raise BadImport(
            "The HAR file has no entries. Open the browser's network panel first, then do what is to be recorded."
        )
    if len(entries) > MOST_ENTRIES:
        raise BadImport(
            f"The HAR file has {len(entries):,} entries; at most {MOST_ENTRIES:,} are read. Record less at once."
        )
    requests, broken = [], []
    unanswered = unknown = 0
    for number, entry in enumerate(entries, start=1):
        try:
            recorded = _entry(entry)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            broken.append(f"Entry {number:,} of the HAR file cannot be read ({_said(error)})")
            continue
        if recorded is None:
            unanswered += 1
            continue
        unknown += recorded.reply is None
        requests.append(recorded)
    if broken and not requests:
        raise BadImport(f"{some_of(broken)} Save it again with the browser's network panel.")
    left_out = [some_of(broken)] if broken else []
    if unanswered:
        left_out.append(
            f"{counted(unanswered, 'request')} that got no answer, as when a page is left or a blocker stops them."
        )
    hints = [NO_ANSWERS.format(counted(unknown, "request"))] if unknown else []
    return Recording("HAR", requests, left_out, hints)


def _entry(entry: Mapping[str, Any]) -> Recorded | None:
    """Return the request of an entry; None for one without an answer. One whose answer the file does not hold has no reply."""
    request, response = entry["request"], entry.get("response") or {}
    method, url = str(request["method"]).upper(), plain(str(request["url"]))
    if not method or not url:
        raise ValueError("it has no method or no URL")
    status = int(response.get("status") or 0)
    reply = None
    if "status" in response:
        if not 100 <= status <= 599:
            return None
        reply = _reply(status, response)
    body, type_ = _posted(request.get("postData") or {})
    kind = str(entry.get("_resourceType") or "").lower()
    return Recorded(
        method=method,
        url=url,
        headers=_pairs(request.get("headers")),
        body=body,
        type=type_,
        reply=reply,
        status=status,
        why_not=_why_not(method, url, kind, reply),
        began_at=_instant(entry.get("startedDateTime")),
        seconds=_seconds(entry.get("time")),
    )


def _why_not(method: str, url: str, kind: str, reply: Reply | None) -> str:
    path = url.partition("?")[0].partition("#")[0].lower()
    type_ = reply.type if reply else ""
    if kind in STATIC_RESOURCES or type_.startswith(STATIC_TYPES) or path.endswith(STATIC_ENDINGS):
        return "static file"
    if kind == "preflight" or method == "OPTIONS":
        return "preflight of the browser"
    if reply and reply.status == 401:
        return "answered 401: the sign-in came afterwards"
    if kind in ENDLESS or type_ == "text/event-stream":
        return "a stream, which does not end"
    return ""


def _seconds(milliseconds: Any) -> float:
    """Return how long a request took; 0 where the file does not say it."""
    try:
        seconds = float(milliseconds or 0.0) / 1000
    except (TypeError, ValueError):
        return 0.0
    return seconds if 0 <= seconds < float("inf") else 0.0


def _reply(status: int, response: Mapping[str, Any]) -> Reply:
    content = response.get("content") or {}
    text = str(content.get("text") or "")
    if content.get("encoding") == "base64":
        try:
            text = b64decode(text).decode()
        except (binascii.Error, UnicodeDecodeError, ValueError):
            text = ""
    return Reply(
        status, _pairs(response.get("headers")), plain(text), media_type(content.get("mimeType"))
    )


def _posted(data: Mapping[str, Any]) -> tuple[str, str]:
    """Return the body of a request, and its content type as it was sent."""
    type_ = plain(str(data.get("mimeType") or ""))
    text = data.get("text")
    if (
        not text
        and isinstance(data.get("params"), list)
        and media_type(type_) == "application/x-www-form-urlencoded"
    ):
        text = urlencode(
            [(str(each.get("name", "")), str(each.get("value", ""))) for each in data["params"]]
        )
    return plain(str(text or "")), type_


def _pairs(headers: Any) -> list[tuple[str, str]]:
    listed: Sequence[Mapping[str, Any]] = headers if isinstance(headers, list) else []
    return [(plain(str(each["name"])), plain(str(each.get("value", "")))) for each in listed]


def media_type(text: Any) -> str:
    """Return a media type without its parameters, in lower case."""
    return str(text or "").partition(";")[0].strip().lower()


def _instant(text: Any) -> float | None:
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except (ValueError, OverflowError):
        return None


def _said(error: Exception) -> str:
    return (
        f"{error} is missing"
        if isinstance(error, KeyError)
        else str(error)[:80] or type(error).__name__
    )
