"""REST resource of the API tokens of the user: list, revoke.

Tokens are created on the page Account only: a token that could create others would survive its revocation.
"""

from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.accounts import access
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import Selectable
from campaigns.kit.api.views import Api
from campaigns.kit.rights import Right
from campaigns.models import ApiToken


class TokenOutput(Selectable, serializers.ModelSerializer[ApiToken]):
    """A token without its text, of which only the hash is stored. `in_use`: it sends this request."""

    in_use = serializers.SerializerMethodField()

    class Meta:
        model = ApiToken
        fields = [
            "id",
            "name",
            "scopes",
            "created_at",
            "expires_at",
            "last_used_at",
            "revoked_at",
            "in_use",
        ]

    def get_in_use(self, token: ApiToken) -> bool:
        """Return whether this request was sent with the token."""
        return bool(self.context["request"].auth == token)


class Tokens(Api):
    """GET: the tokens of the user."""

    @operation("list_tokens", "account", answer=TokenOutput)
    def get(self, request: Request) -> Response:
        """List your tokens, the newest first, including expired and revoked ones."""
        return self.page(self.user.api_tokens.all(), TokenOutput, "-pk")


class Revoke(Api):
    """POST: revoke a token of the user."""

    takes = {"post": Right.SEE}

    @operation("revoke_token", "account", answer=TokenOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Revoke one of your tokens for good, even the current one; its record stays."""
        token = get_object_or_404(self.user.api_tokens, pk=pk)
        access.revoke(token)
        token.refresh_from_db()
        return Response(self.shown(token, TokenOutput))
