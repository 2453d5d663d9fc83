"""REST resource that describes the caller: user, token, scopes, expiry."""

from django.conf import settings
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.kit.api.authentication import scopes_of
from campaigns.kit.api.inputs import NoQuery
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import Selectable, picked, selected
from campaigns.kit.api.views import Api
from campaigns.kit.database_clock import database_now
from campaigns.models import ApiToken, Scope


class WhoAmIOutput(Selectable):
    """The caller. `token` and `expires_at` are null for a session; `now`: the database's clock."""

    user = serializers.CharField()
    token = serializers.CharField(allow_null=True)
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=Scope.choices))
    expires_at = serializers.DateTimeField(allow_null=True)
    version = serializers.CharField()
    now = serializers.DateTimeField()


class WhoAmI(Api):
    """GET: the user, the token, the server. Any scope will do."""

    def scope_needed(self) -> None:
        """Require no scope: any token may describe itself."""

    @operation("get_whoami", "account", answer=WhoAmIOutput)
    def get(self, request: Request) -> Response:
        """Return the user and token of the request, and when the token expires. Requires no scope."""
        self.read_query(NoQuery)
        token = request.auth if isinstance(request.auth, ApiToken) else None
        data = {
            "user": self.user.get_username(),
            "token": token and token.name,
            "scopes": scopes_of(token),
            "expires_at": token and token.expires_at,
            "version": settings.VERSION,
            "now": database_now(),
        }
        return Response(picked(data, selected(request, WhoAmIOutput)))
