"""REST resource of one's own API tokens: list, revoke.

They are made on the page Account only: a token that could make others would outlive its own end.
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
    """A token, without its text, which nobody knows. `in_use`: it is the one that asks."""

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
        """Return whether this request came with it."""
        return bool(self.context["request"].auth == token)


class Tokens(Api):
    """GET: one's own tokens."""

    @operation("list_tokens", "account", answer=TokenOutput)
    def get(self, request: Request) -> Response:
        """Your own tokens, the newest first, with those that have expired or were revoked."""
        return self.page(self.user.api_tokens.all(), TokenOutput, "-pk")


class Revoke(Api):
    """POST: end one of one's own tokens."""

    takes = {"post": Right.SEE}

    @operation("revoke_token", "account", answer=TokenOutput)
    def post(self, request: Request, pk: int) -> Response:
        """End a token of yours for good, be it the one that asks; its record stays."""
        token = get_object_or_404(self.user.api_tokens, pk=pk)
        access.revoke(token)
        token.refresh_from_db()
        return Response(self.shown(token, TokenOutput))
