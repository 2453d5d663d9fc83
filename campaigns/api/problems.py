"""Turns what was raised into problem+json (RFC 9457), in one place for the whole API."""

import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.permissions import SAFE_METHODS
from rest_framework.response import Response

from campaigns.api.refusals import Refusal
from campaigns.bundles import NotReady
from campaigns.definition import servers
from campaigns.definition.checking import Invalid
from campaigns.definition.drafts import NotADraft
from campaigns.definition.life import NotConfirmed, NotPossible
from campaigns.importers.known import Differs
from campaigns.importers.receiving import NotExternal
from campaigns.readers import BadFile

MEDIA_TYPE = "application/problem+json"
DIFFERS = "urn:perfdash:differs"
INVALID = "urn:perfdash:invalid"
NOT_POSSIBLE = "urn:perfdash:not-possible"
NOT_CONFIRMED = "urn:perfdash:not-confirmed"
USER_INFO = re.compile(r"//[^/\s]*@")
"""A name and password within a URL."""
LONGEST_VALUE = 200
MOST_ERRORS = 100
SECRETS = frozenset({*servers.SECRETS, "key", "address"})


def answer(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """Give the response for an expected error; None for a bug, which Django re-raises."""
    match error:
        case Invalid():
            return _problem(
                HTTPStatus.BAD_REQUEST,
                "The definition is not valid; each error names its field.",
                type_=INVALID,
                errors=list(_errors(error.errors, _sent(context))),
            )
        case ValidationError():
            return _problem(
                HTTPStatus.BAD_REQUEST,
                "The request is not valid; each error names its field.",
                type_=INVALID,
                errors=list(_errors(dict(_flat(error.detail)), _sent(context))),
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
                members={"campaign": error.campaign.pk},
            )
        case NotExternal():
            return _problem(HTTPStatus.CONFLICT, str(error), type_=NOT_POSSIBLE)
        case NotPossible() | NotADraft() | NotReady():
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
    """What DRF's views have put on an error of authentication."""
    challenge = getattr(error, "auth_header", None)
    return {"WWW-Authenticate": challenge} if challenge else {}


def _sent(context: Mapping[str, Any]) -> Any:
    """What was wrong: the query of what only reads, else the body, which has been read by then."""
    request, view = context["request"], context["view"]
    if request.method not in SAFE_METHODS and getattr(view, "reads_body", False):
        return getattr(view, "document", None)
    return request.query_params if request.method in SAFE_METHODS else request.data


def _errors(errors: Mapping[str, list[str]], sent: Any) -> Iterator[dict[str, Any]]:
    for path, messages in errors.items():
        value = _value_at(path, sent)
        for message in messages:
            yield {"field": path, **({} if value is None else {"value": value}), "message": message}


def _value_at(path: str, sent: Any) -> Any:
    """The scalar that was sent at a path; None where there is none, or it is a secret."""
    for name in path.split("."):
        if isinstance(sent, list) and name.isdecimal() and int(name) < len(sent):
            sent = sent[int(name)]
        elif name in SECRETS or not isinstance(sent, Mapping):
            return None
        else:
            sent = sent.get(name)
    if isinstance(sent, str):
        return USER_INFO.sub("//…@", sent)[:LONGEST_VALUE]
    return sent if isinstance(sent, bool | int | float) else None


def _flat(detail: Any, path: str = "") -> Iterator[tuple[str, list[str]]]:
    """DRF's nested messages as (path, messages)."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            name = "" if name == "non_field_errors" else str(name)
            yield from _flat(inner, f"{path}.{name}".strip("."))
    elif isinstance(detail, list) and any(isinstance(item, Mapping | list) for item in detail):
        for index, inner in enumerate(detail):
            yield from _flat(inner, f"{path}.{index}".strip("."))
    else:
        yield path, [str(message) for message in (detail if isinstance(detail, list) else [detail])]
