"""Turns exceptions into problem+json (RFC 9457), in one place for the whole API."""

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, ClassVar

from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.response import Response

from campaigns.kit.errors import BadFile, Differs, Invalid, NotConfirmed, NotPossible
from campaigns.kit.revisions import Changed

MEDIA_TYPE = "application/problem+json"
CHANGED = "urn:perfdash:changed"
DIFFERS = "urn:perfdash:differs"
INVALID = "urn:perfdash:invalid"
NOT_POSSIBLE = "urn:perfdash:not-possible"
NOT_CONFIRMED = "urn:perfdash:not-confirmed"
MOST_ERRORS = 100


def answer(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """Return the response for an expected error; None for a bug, which Django raises again."""
    match error:
        case Invalid():
            return _problem(
                HTTPStatus.BAD_REQUEST,
                "The definition is not valid; each error names its field.",
                type_=INVALID,
                errors=list(_errors(error.errors)),
            )
        case ValidationError():
            return _problem(
                HTTPStatus.BAD_REQUEST,
                "The request is not valid; each error names its field.",
                type_=INVALID,
                errors=list(_errors(dict(_flat(error.detail)))),
            )
        case Changed():
            return _problem(
                HTTPStatus.PRECONDITION_FAILED,
                f"{error} Read it again, and send the new ETag.",
                type_=CHANGED,
                members={"differs": list(error.fields)},
            )
        case NotConfirmed():
            return _problem(
                HTTPStatus.CONFLICT,
                f"{error} Send it as confirm_target.",
                type_=NOT_CONFIRMED,
            )
        case BadFile():
            return _problem(
                HTTPStatus.BAD_REQUEST,
                "The file cannot be read; nothing was stored.",
                type_=INVALID,
                errors=[{"field": where, "message": what} for where, what in error.problems],
            )
        case Differs():
            return _problem(
                HTTPStatus.CONFLICT,
                str(error),
                type_=DIFFERS,
                members={"campaign": error.campaign},
            )
        case NotPossible():
            return _problem(HTTPStatus.CONFLICT, str(error), type_=NOT_POSSIBLE)
        case Http404():
            return _problem(HTTPStatus.NOT_FOUND, str(error) or "There is nothing here.")
        case PermissionDenied():
            return _problem(HTTPStatus.FORBIDDEN, str(error) or "This is not allowed.")
        case Refusal():
            return _problem(
                HTTPStatus(error.status_code),
                str(error.detail),
                type_=error.type_,
                headers=error.headers,
                members=error.members,
            )
        case APIException():
            return _problem(
                HTTPStatus(error.status_code), str(error.detail), headers=_headers(error)
            )
    return None


def _problem(
    code: HTTPStatus,
    detail: str,
    *,
    type_: str = "about:blank",
    errors: list[dict[str, Any]] | None = None,
    headers: Mapping[str, str] | None = None,
    members: Mapping[str, Any] | None = None,
) -> Response:
    body: dict[str, Any] = {
        "type": type_,
        "title": code.phrase,
        "status": code.value,
        "detail": detail,
        **(members or {}),
    }
    if errors is not None:
        body["errors"] = errors[:MOST_ERRORS]
    return Response(body, status=code, content_type=MEDIA_TYPE, headers=dict(headers or {}))


def _headers(error: APIException) -> dict[str, str]:
    """Return the challenge that DRF's views attach to an authentication error."""
    challenge = getattr(error, "auth_header", None)
    return {"WWW-Authenticate": challenge} if challenge else {}


def _errors(errors: Mapping[str, list[str]]) -> Iterator[dict[str, Any]]:
    """Yield each field with its message. Values are left out: under a mistyped name there may be a secret."""
    for path, messages in errors.items():
        for message in messages:
            yield {"field": path, "message": message}


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
        members: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(detail)
        self.headers = dict(headers or {})
        self.members = dict(members or {})
