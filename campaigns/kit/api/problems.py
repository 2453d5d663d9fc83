"""Turns exceptions into problem+json (RFC 9457), in one place for the whole API."""

from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from itertools import islice
from typing import Any, ClassVar

from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.response import Response

from campaigns.kit.errors import BadFile, Differs, Invalid, NotConfirmed, NotPossible, TooBusy
from campaigns.kit.mappings import Json
from campaigns.kit.revisions import Changed

MEDIA_TYPE = "application/problem+json"
CHANGED = "urn:perfdash:changed"
DIFFERS = "urn:perfdash:differs"
INVALID = "urn:perfdash:invalid"
NOT_POSSIBLE = "urn:perfdash:not-possible"
TOO_BUSY, TOO_MANY = "urn:perfdash:busy", "urn:perfdash:too-many"
NOT_CONFIRMED = "urn:perfdash:not-confirmed"
MOST_ERRORS = 100


def answer(error: Exception, context: Json) -> Response | None:
    """Return the response for an expected error; None for a bug, which Django raises again."""
    match error:
        case Invalid():
            detail = "The definition is not valid; each error names its field."
            return _problem(400, detail, INVALID, errors=_errors(error.errors.items()))
        case ValidationError():
            detail = "The request is not valid; each error names its field."
            return _problem(400, detail, INVALID, errors=_errors(dict(_flat(error.detail)).items()))
        case BadFile():
            errors = _errors((where, [text]) for where, text in error.problems)
            detail = "The file cannot be read; nothing was stored."
            return _problem(400, detail, INVALID, errors=errors)
        case Changed():
            detail = f"{error} Read it again, and send the new ETag."
            return _problem(412, detail, CHANGED, differs=list(error.fields))
        case NotConfirmed():
            return _problem(409, f"{error} Send it as confirm_target.", NOT_CONFIRMED)
        case Differs():
            return _problem(409, str(error), DIFFERS, campaign=error.campaign)
        case TooBusy():
            status, type_ = (429, TOO_MANY) if error.own else (503, TOO_BUSY)
            return _problem(status, str(error), type_, {"Retry-After": str(error.seconds)})
        case NotPossible():
            return _problem(409, str(error), NOT_POSSIBLE)
        case Http404():
            return _problem(404, str(error) or "There is nothing here.")
        case PermissionDenied():
            return _problem(403, str(error) or "This is not allowed.")
        case Refusal():
            detail, headers = str(error.detail), error.headers
            return _problem(error.status_code, detail, error.type_, headers, **error.members)
        case APIException():
            return _problem(error.status_code, str(error.detail), headers=_headers(error))
    return None


def _problem(
    status: int,
    detail: str,
    type_: str = "about:blank",
    headers: Mapping[str, str] | None = None,
    **members: Any,
) -> Response:
    title = HTTPStatus(status).phrase
    body = {"type": type_, "title": title, "status": status, "detail": detail, **members}
    return Response(body, status=status, content_type=MEDIA_TYPE, headers=dict(headers or {}))


def _headers(error: APIException) -> dict[str, str]:
    """Return the challenge that DRF's views attach to an authentication error."""
    challenge = getattr(error, "auth_header", None)
    return {"WWW-Authenticate": challenge} if challenge else {}


def _errors(messages: Iterable[tuple[str, list[str]]]) -> list[dict[str, str]]:
    """Return each field with its message. Values are left out: under a mistyped name there may be a secret."""
    errors = ({"field": path, "message": text} for path, texts in messages for text in texts)
    return list(islice(errors, MOST_ERRORS))


def _flat(detail: Any, path: str = "") -> Iterator[tuple[str, list[str]]]:
    """Yield DRF's nested messages as (path, messages)."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            name = "" if name == "non_field_errors" else str(name)
            yield from _flat(inner, f"{path}.{name}".strip("."))
    elif isinstance(detail, list) and any(isinstance(item, Mapping | list) for item in detail):
        for index, inner in enumerate(detail):
            yield from _flat(inner, f"{path}.{index}".strip("."))
    else:
        yield path, [str(message) for message in (detail if isinstance(detail, list) else [detail])]


class Refusal(APIException):
    """An error whose problem+json has a type, headers or members of its own."""

    type_: ClassVar[str] = "about:blank"

    def __init__(
        self,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        members: Json | None = None,
    ) -> None:
        super().__init__(detail)
        self.headers = dict(headers or {})
        self.members = dict(members or {})
