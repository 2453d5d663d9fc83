"""Read from each answer what a client needs from it, and reject unusable answers. Pure."""

import json
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from campaigns.kinds.load.failures import LoadFailed
from campaigns.kinds.load.wire import Answer
from campaigns.kit.mappings import JsonObject

SIMPLE_CONTENT_ACCESS = "org_environment"
TOKEN = re.compile(r"Bearer\s+([\w.~+/=-]{8,})")
BUILT = re.compile(r"/unattended/built\?token=[\w.~%+=-]+")
MOST_BEFORE = 2000
"""Letters before such a path that its server and prefix may have."""
SHOWN = 200


@dataclass(slots=True)
class Known:
    """What a host has learned from the answers so far. Its key never appears in repr."""

    rels: frozenset[str] = frozenset()
    capabilities: frozenset[str] = frozenset()
    uuid: str = ""
    serial: str = ""
    certificate: str = ""
    key: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    script: str = ""
    built: str = ""

    def offers(self, what: str) -> bool:
        """Return whether the server has the rel, or the capability."""
        return not what or what in self.rels or what in self.capabilities


def take(known: Known, step: str, answer: Answer) -> None:
    """Update `known` from the answer to a step. Raise LoadFailed where the client could not use it."""
    match step.partition("_")[0] if step.startswith(("status", "compliance")) else step:
        case "service":
            known.rels = frozenset(
                str(each.get("rel")) for each in _items(step, answer) if isinstance(each, dict)
            )
        case "status":
            names = _object(step, answer).get("managerCapabilities")
            known.capabilities = frozenset(map(str, names if isinstance(names, list) else ()))
        case "consumer":
            _take_identity(known, _object(step, answer))
        case "serials":
            known.serial = _serial(step, answer)
        case "certificates":
            certificates = _items(step, answer)
            if not all(isinstance(each, dict) and each.get("cert") for each in certificates):
                raise _unusable(step, "there is no certificate in it")
            if not certificates:
                raise _unusable(step, "it holds no certificate")
        case "accessible_content":
            if "contentListing" not in _object(step, answer):
                raise _unusable(step, "it has no contentListing")
        case "content_overrides":
            _items(step, answer)
        case "compliance":
            if "status" not in _object(step, answer):
                raise _unusable(step, "it has no status")
        case "script":
            _take_token(known, answer)
        case "configuration":
            _take_built(known, answer)


def _take_identity(known: Known, data: JsonObject) -> None:
    try:
        identity = data["idCert"]
        known.uuid = str(data["uuid"])
        known.certificate, known.key = str(identity["cert"]), str(identity["key"])
        mode = data["owner"]["contentAccessMode"]
    except (KeyError, TypeError) as error:
        raise _unusable("consumer", f"{error} is missing") from None
    if mode != SIMPLE_CONTENT_ACCESS:
        raise _unusable(
            "consumer",
            f"the organization's contentAccessMode is {mode}, and not {SIMPLE_CONTENT_ACCESS}: the "
            "client would unregister again. Switch simple content access on",
        )


def _serial(step: str, answer: Answer) -> str:
    items = _items(step, answer)
    if not items or not isinstance(items[0], dict) or not isinstance(items[0].get("serial"), int):
        raise _unusable(step, "it names no serial")
    return ",".join(str(each["serial"]) for each in items if isinstance(each, dict))


def _take_token(known: Known, answer: Answer) -> None:
    match = TOKEN.search(_text(answer))
    if match is None:
        raise _unusable("script", f"it is no script with a token: {_text(answer)[:SHOWN]!r}")
    known.token = match[1]


def _take_built(known: Known, answer: Answer) -> None:
    text = _text(answer)
    if match := BUILT.search(text):
        before = text[max(0, match.start() - MOST_BEFORE) : match.start()]
        words = re.split(r"[\s'\"]", before)[-1]
        begin = max(words.find("http://"), words.find("https://"))
        prefix = urlsplit(words[begin:]).path.rstrip("/") if begin >= 0 else ""
        known.built = prefix + match[0]


def _items(step: str, answer: Answer) -> list[Any]:
    data = _json(step, answer)
    if not isinstance(data, list):
        raise _unusable(step, f"it is no list: {str(data)[:SHOWN]}")
    return data


def _object(step: str, answer: Answer) -> JsonObject:
    data = _json(step, answer)
    if not isinstance(data, dict):
        raise _unusable(step, f"it is no object: {str(data)[:SHOWN]}")
    return data


def _json(step: str, answer: Answer) -> Any:
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError):
        kind = answer.header(b"content-type").decode("latin-1") or "no content type"
        shown = " ".join(_text(answer)[:SHOWN].split())
        raise _unusable(step, f"it is no JSON ({answer.status}, {kind}): {shown!r}") from None


def _text(answer: Answer) -> str:
    return answer.body.decode(errors="replace")


def _unusable(step: str, why: str) -> LoadFailed:
    return LoadFailed("protocol", f"{step}: the answer cannot be used: {why}")
