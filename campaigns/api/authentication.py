"""Who sends a request: the owner of an API token."""

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q
from django.db.models.functions import Now
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from campaigns.credentials import token_hash
from campaigns.models import ApiToken

WORDS = (b"bearer", b"token")
NOTED_EVERY = timedelta(minutes=1)
REFUSED = "This token is unknown, revoked, or its owner's account is switched off."


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer <token>`, or `Token <token>`."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Give user and token; None without the header, so that a browser's session is tried."""
        words = get_authorization_header(request).split()
        if not words or words[0].lower() not in WORDS:
            return None
        if len(words) != 2:
            raise AuthenticationFailed("Send one token: Authorization: Bearer <token>.")
        text = words[1].decode("latin-1")
        token = (
            ApiToken.objects.select_related("user")
            .filter(hash=token_hash(text), revoked_at=None, user__is_active=True)
            .first()
        )
        if token is None:
            raise AuthenticationFailed(REFUSED)
        self._note_use(token)
        return token.user, token

    def authenticate_header(self, request: Any) -> str:
        """Tell clients how to come in."""
        return 'Bearer realm="perfdash"'

    def _note_use(self, token: ApiToken) -> None:
        """Note the last use, at most once in a while: reading must not write every time."""
        stale = Q(last_used_at=None) | Q(last_used_at__lt=Now() - NOTED_EVERY)
        ApiToken.objects.filter(stale, pk=token.pk).update(last_used_at=Now())
