"""`Idempotency-Key`: the same POST, sent again, has the same answer and no second effect."""

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
"""Of a key: spaces may be within it, since HTTP takes away those around it."""
RETRY_SECONDS = 1
CHUNK = 1 << 16


class BadKey(Refusal):
    """The header says nothing that could be kept."""

    status_code = status.HTTP_400_BAD_REQUEST


class StillGoingOn(Refusal):
    """The same key is at work in another request."""

    status_code = status.HTTP_409_CONFLICT
    type_ = "urn:perfdash:still-going-on"


class KeyReused(Refusal):
    """The key belongs to another request."""

    status_code = status.HTTP_409_CONFLICT
    type_ = "urn:perfdash:key-reused"


class Hashed:
    """A body that is hashed while somebody reads it."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._hash = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        """Read on; all of the rest unless a size is given."""
        content = self._stream.read(size) if size >= 0 else self._stream.read()
        self._hash.update(content)
        return content

    def digest(self) -> bytes:
        """Hash of the whole body: what nobody has read is read now."""
        while self.read(CHUNK):
            continue
        return self._hash.digest()


def key_of(request: Request) -> str | None:
    """The key that was sent, None where there is none. Raise BadKey."""
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
    """Do it, or answer as before. Raise StillGoingOn, KeyReused, and what `act` raises.

    Only success is kept; of anything else nothing is stored, so that it can be sent again.
    """
    with transaction.atomic(), messages_after_commit():
        if not idempotency.begin(view.user, key):
            raise StillGoingOn(
                f"A request with this {HEADER} is still going on. Send it again in a moment.",
                headers={"Retry-After": str(RETRY_SECONDS)},
            )
        kept = idempotency.find(view.user, key)
        if kept is not None:
            if kept.request != _identity(view.request, digest()):
                raise KeyReused(
                    f"This {HEADER} was sent with another address or body before. Take a new key "
                    "for each new request."
                )
            return _answer(kept, replayed=True)
        response = act()
        if not 200 <= response.status_code < 300:
            transaction.set_rollback(True)
            return response
        answer = _answer_of(view, response, _identity(view.request, digest()))
        idempotency.keep(view.user, key, replace(answer, body=view.to_store(answer.body)))
        return _answer(answer)


def _identity(request: Request, body: bytes) -> bytes:
    """Hash of all that makes a request another one."""
    asked = f"{request.method} {request.get_full_path()}\n"
    return hashlib.sha256(asked.encode() + body).digest()


def _answer_of(view: "Api", response: HttpResponseBase, identity: bytes) -> idempotency.Answer:
    headers = dict(response.headers)
    if isinstance(response, Response):
        view.finalize_response(view.request, response)
        response.render()
        headers["Content-Type"] = response.headers["Content-Type"]
    if not isinstance(response, HttpResponse):
        raise TypeError(f"The answer of {view} is a stream, which cannot be kept.")
    return idempotency.Answer(identity, response.status_code, headers, response.content)


def _answer(kept: idempotency.Answer, *, replayed: bool = False) -> HttpResponse:
    headers = {**kept.headers, **({REPLAYED: "true"} if replayed else {})}
    return HttpResponse(kept.body, status=kept.status, headers=headers)
