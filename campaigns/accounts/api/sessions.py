"""REST resource of the browser sessions of one's own account: list, end."""

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
    """A browser that is signed in. `by`: the door it came in by; `in_use`: it is the one that asks."""

    id = serializers.IntegerField(source="pk")
    browser = serializers.CharField()
    address = serializers.CharField(allow_blank=True)
    by = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField(source="since")
    last_seen_at = serializers.DateTimeField(source="seen")
    in_use = serializers.BooleanField(source="here")


class EndedOutput(Selectable, serializers.Serializer[Any]):
    """How many were ended."""

    ended = serializers.IntegerField()


class Sessions(Api):
    """GET: one's own sessions."""

    @operation("list_sessions", TAG, answer=SessionOutput, whole=True)
    def get(self, request: Request) -> Response:
        """Where your account is signed in with a browser, the latest first."""
        rows = sessions.of(self.user, _key(request))
        return self.whole([self.shown(row, SessionOutput) for row in rows], SessionOutput)


class End(Api):
    """POST: end one of one's own sessions."""

    takes = {"post": Right.SEE}

    @operation("end_session", TAG)
    def post(self, request: Request, pk: int) -> Response:
        """End a session of yours at once, be it the one that asks; your tokens go on."""
        if not sessions.end(self.user, pk):
            raise Http404
        return Response(status=status.HTTP_204_NO_CONTENT)


class EndOthers(Api):
    """POST: end all of one's own sessions but the one that asks."""

    takes = {"post": Right.SEE}

    @operation("end_other_sessions", TAG, answer=EndedOutput)
    def post(self, request: Request) -> Response:
        """End all your sessions but the one that asks; where a token asks, all."""
        self.read_query(NoQuery)
        return Response({"ended": sessions.end_others(self.user, _key(request))})


def _key(request: Request) -> str:
    """Of the session that asks; empty where a token does."""
    return "" if request.auth else request.session.session_key or ""
