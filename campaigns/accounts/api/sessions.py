"""REST resource of the browser sessions of the user: list, end."""

from typing import Any

from django.http import Http404
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.accounts import sessions
from campaigns.kit.api.inputs import NoQuery
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import Selectable
from campaigns.kit.api.views import Api
from campaigns.kit.rights import Right

TAG = "account"


class SessionOutput(Selectable, serializers.Serializer[Any]):
    """A browser session. `by`: its sign-in method; `in_use`: it sends this request."""

    id = serializers.IntegerField(source="pk")
    browser = serializers.CharField()
    address = serializers.CharField(allow_blank=True)
    by = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField(source="since")
    last_seen_at = serializers.DateTimeField(source="seen")
    in_use = serializers.BooleanField(source="here")


class EndedOutput(Selectable, serializers.Serializer[Any]):
    """The number of ended sessions."""

    ended = serializers.IntegerField()


class Sessions(Api):
    """GET: the sessions of the user."""

    @operation("list_sessions", TAG, answer=SessionOutput, whole=True)
    def get(self, request: Request) -> Response:
        """List the browser sessions of your account, the latest first."""
        rows = sessions.of(self.user, _key(request))
        return self.whole([self.shown(row, SessionOutput) for row in rows], SessionOutput)


class End(Api):
    """POST: end a session of the user."""

    takes = {"post": Right.SEE}

    @operation("end_session", TAG)
    def post(self, request: Request, pk: int) -> Response:
        """End one of your sessions at once, even the current one; your tokens stay valid."""
        if not sessions.end(self.user, pk):
            raise Http404
        return Response(status=status.HTTP_204_NO_CONTENT)


class EndOthers(Api):
    """POST: end all other sessions of the user."""

    takes = {"post": Right.SEE}

    @operation("end_other_sessions", TAG, answer=EndedOutput)
    def post(self, request: Request) -> Response:
        """End all your sessions except the current one; with a token, all of them."""
        self.read_query(NoQuery)
        return Response({"ended": sessions.end_others(self.user, _key(request))})


def _key(request: Request) -> str:
    """Return the key of the current session; empty for a token."""
    return "" if request.auth else request.session.session_key or ""
