"""The header `Idempotency-Key`: a repeated POST gets the same answer and has no second effect."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from django.db import transaction
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.kit import idempotency
from campaigns.kit.api.parsing import Readable
from campaigns.kit.api.problems import Refusal
from campaigns.kit.messages import messages_after_commit

if TYPE_CHECKING:
    from campaigns.kit.api.views import Api

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
LONGEST = 200
PATTERN = "^[!-~]([ -~]*[!-~])?$"
"""Spaces may be within a key, but not around it, since HTTP strips them."""
RETRY_SECONDS = 1
CHUNK = 1 << 16


class BadKey(Refusal):
    """The header holds no valid key."""

    status_code = status.HTTP_400_BAD_REQUEST


class StillGoingOn(Refusal):
    """Another request with the same key is running."""

    status_code = status.HTTP_409_CONFLICT
    type_ = "urn:perfdash:still-going-on"


class KeyReused(Refusal):
    """The key belongs to another request."""

    status_code = status.HTTP_409_CONFLICT
    type_ = "urn:perfdash:key-reused"


class Hashed:
    """A stream that hashes what is read from it."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._hash = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        """Return the next `size` bytes, or the rest."""
        content = self._stream.read(size) if size >= 0 else self._stream.read()
        self._hash.update(content)
        return content

    def digest(self) -> bytes:
        """Return the hash of the whole body, after reading the rest of it."""
        while self.read(CHUNK):
            continue
        return self._hash.digest()


def key_of(request: Request) -> str | None:
    """Return the key of a request, or None. Raise BadKey."""
    key = request.headers.get(HEADER)
    if key is None:
        return None
    if not re.fullmatch(PATTERN, key) or len(key) > LONGEST:
        raise BadKey(
            f"{HEADER} takes 1 to {LONGEST} printable letters of ASCII, such as a UUID; this one has "
            f"{len(key)}{'' if key.isascii() else ', not all of ASCII'}."
        )
    return key


def once(
    view: "Api",
    key: str,
    act: Callable[[], HttpResponseBase],
    digest: Callable[[], bytes],
) -> HttpResponseBase:
    """Return the response of `act`, or the stored one. Raise StillGoingOn, KeyReused, and what `act` raises.

    Only success is stored, so that anything else can be sent again.
    """
    with transaction.atomic(), messages_after_commit():
        if not idempotency.begin(view.user, key):
            raise StillGoingOn(
                f"A request with this {HEADER} is still going on. Send it again in a moment.",
                headers={"Retry-After": str(RETRY_SECONDS)},
            )
        stored = idempotency.find(view.user, key)
        if stored is not None:
            if stored.request != _identity(view.request, digest()):
                raise KeyReused(
                    f"This {HEADER} was sent with another address or body before. Take a new key "
                    "for each new request."
                )
            return _response(stored, replayed=True)
        response = act()
        if not 200 <= response.status_code < 300:
            transaction.set_rollback(True)
            return response
        answer = _answer_of(view, response, _identity(view.request, digest()))
        idempotency.store(view.user, key, replace(answer, body=view.to_store(answer.body)))
        return _response(answer)


def _identity(request: Request, body: bytes) -> bytes:
    """Return a hash of method, path and body."""
    line = f"{request.method} {request.get_full_path()}\n"
    return hashlib.sha256(line.encode() + body).digest()


def _answer_of(view: "Api", response: HttpResponseBase, identity: bytes) -> idempotency.Answer:
    headers = dict(response.headers)
    if isinstance(response, Response):
        view.finalize_response(view.request, response)
        response.render()
        headers["Content-Type"] = response.headers["Content-Type"]
    if not isinstance(response, HttpResponse):
        raise TypeError(f"The answer of {view} is a stream, which cannot be stored.")
    return idempotency.Answer(identity, response.status_code, headers, response.content)


def _response(answer: idempotency.Answer, *, replayed: bool = False) -> HttpResponse:
    headers = {**answer.headers, **({REPLAYED: "true"} if replayed else {})}
    return HttpResponse(answer.body, status=answer.status, headers=headers)
