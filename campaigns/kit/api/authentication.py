"""Authentication of REST requests by an API token or a browser session, and the scopes of tokens."""

from collections import OrderedDict
from datetime import datetime, timedelta
from threading import Lock
from time import monotonic
from typing import Any, cast

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.http import HttpRequest, QueryDict
from rest_framework import status
from rest_framework.authentication import (
    BaseAuthentication,
    SessionAuthentication,
    get_authorization_header,
)
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from campaigns.kit.activity import Action, record, set_means, token_means
from campaigns.kit.api.problems import Refusal
from campaigns.kit.api.throttling import count_failure
from campaigns.kit.encryption import token_hash
from campaigns.kit.statements import Message, all_names, loaded, selected
from campaigns.models import ApiToken, AuditEvent, Scope
from perfdash.clients import client_address

KEYWORDS = (b"bearer", b"token")
NOTED_EVERY = timedelta(minutes=1)
NEW_ONE = "Make a new one on the page Account."


class _Headers:
    """A request that looks as if it had no body, so that nothing reads it."""

    POST = QueryDict()

    def __init__(self, request: HttpRequest) -> None:
        self._request = request

    def __getattr__(self, name: str) -> Any:
        return getattr(self._request, name)


class BrowserAuthentication(SessionAuthentication):
    """A browser session; requests that change something send the CSRF token in a header."""

    def enforce_csrf(self, request: Request) -> None:
        """Raise PermissionDenied without the token. The body may be large, and is not read."""
        super().enforce_csrf(cast(Request, _Headers(request._request)))


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer <token>`, or `Token <token>`."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Return user and token; None without the header, so that the browser session is tried."""
        parts = get_authorization_header(request).split()
        if not parts or parts[0].lower() not in KEYWORDS:
            return None
        if len(parts) != 2:
            raise AuthenticationFailed("Send one token: Authorization: Bearer <token>.")
        try:
            token = _token(parts[1].decode("latin-1"))
        except AuthenticationFailed:
            count_failure(request)
            raise
        set_means(token_means(token.name))
        note_use(token, client_address(request._request) or "")
        return token.user, token

    def authenticate_header(self, request: Any) -> str:
        """Return the header WWW-Authenticate of 401."""
        return 'Bearer realm="perfdash"'


def _token(text: str) -> ApiToken:
    """Return the token of that text. Raise AuthenticationFailed where there is none, or it is not valid."""
    message = Message()
    message.add(_TOKEN, token_hash(text))
    (rows,) = message.send()
    if not rows:
        raise AuthenticationFailed(f"This token is unknown. Copy the whole of it. {NEW_ONE}")
    now, *values = rows[0]
    token = loaded(ApiToken, _TOKEN_NAMES, values[: len(_TOKEN_NAMES)])
    token.user = loaded(User, _USER_NAMES, values[len(_TOKEN_NAMES) :])
    _require_valid(token, now)
    _note_last_use(token, now)
    return token


# Every request begins with it, so it is not built by the ORM each time.
_TOKEN_NAMES, _USER_NAMES = all_names(ApiToken), all_names(User)
_TOKEN = (
    f"SELECT statement_timestamp(), {selected(ApiToken, 't', _TOKEN_NAMES)}, {selected(User, 'u', _USER_NAMES)}"  # noqa: S608
    " FROM campaigns_apitoken t JOIN auth_user u ON u.id = t.user_id WHERE t.hash = %s"
)


def _require_valid(token: ApiToken, now: datetime) -> None:
    if not token.user.is_active:
        raise AuthenticationFailed("This token belongs to an account that is switched off.")
    if token.revoked_at is not None:
        raise AuthenticationFailed(
            f"This token was revoked on {_when(token.revoked_at)}. {NEW_ONE}"
        )
    if token.expires_at is not None and token.expires_at <= now:
        raise AuthenticationFailed(f"This token expired on {_when(token.expires_at)}. {NEW_ONE}")


def _note_last_use(token: ApiToken, now: datetime) -> None:
    """Store the instant of the last use, at most once a minute, so that reads do not always write."""
    if token.last_used_at is None or token.last_used_at < now - NOTED_EVERY:
        stale = Q(last_used_at=None) | Q(last_used_at__lt=Now() - NOTED_EVERY)
        ApiToken.objects.filter(stale, pk=token.pk).update(last_used_at=Now())


def _when(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d at %H:%M} UTC"


class ScopeMissing(Refusal):
    """The token does not have the scope that the request needs."""

    status_code = status.HTTP_403_FORBIDDEN
    type_ = "urn:perfdash:scope"

    def __init__(self, token: ApiToken, needed: Scope) -> None:
        super().__init__(
            f"This takes a token with the scope {needed}; “{token.name}” has "
            f"{' and '.join(token.scopes)}. Make one that has it, on the page Account.",
            headers={
                "WWW-Authenticate": 'Bearer realm="perfdash", error="insufficient_scope", '
                f'scope="{needed}"'
            },
            members={"needs": needed, "scopes": scopes_of(token)},
        )


def scopes_of(token: ApiToken | None) -> list[str]:
    """Return the scopes of a token, and those that these include; all in a browser session."""
    if token is None or Scope.OPERATE in token.scopes:
        return list(Scope.values)
    return [scope for scope in Scope.values if scope in token.scopes]


def require_scope(request: Request, needed: Scope | None) -> None:
    """Raise ScopeMissing where the token of a request does not have the scope."""
    token = request.auth
    if needed and isinstance(token, ApiToken) and needed not in scopes_of(token):
        raise ScopeMissing(token, needed)


EVERY = timedelta(days=1)
KNOWN = 10_000
"""Pairs of token and address that a process remembers, to save a query."""

_noted: OrderedDict[tuple[int, str], float] = OrderedDict()
_lock = Lock()


def note_use(token: ApiToken, address: str) -> None:
    """Record the use of a token from an address, unless that was done within a day."""
    pair = (token.pk, address)
    now = monotonic()
    with _lock:
        if now - _noted.get(pair, -EVERY.total_seconds()) < EVERY.total_seconds():
            return
    with transaction.atomic():
        ApiToken.objects.select_for_update(no_key=True, of=("self",)).get(pk=token.pk)
        rows = AuditEvent.objects.filter(
            subject_kind="apitoken",
            subject_key=token.pk,
            action=Action.TOKEN_USED,
            at__gt=Now() - EVERY,
            details__address=address,
        )
        if not rows.exists():
            record(Action.TOKEN_USED, user=token.user, subject=token, address=address)
    with _lock:
        _noted[pair] = now
        _noted.move_to_end(pair)
        while len(_noted) > KNOWN:
            _noted.popitem(last=False)
