"""REST resource of launches that wait for approval by a second person."""

from collections.abc import Callable
from typing import ClassVar

from django.contrib.auth.models import User
from django.db.models import Model, QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.kit.api.inputs import Input, NoQuery
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.views import Api
from campaigns.kit.errors import NotPossible
from campaigns.kit.events import work_waits
from campaigns.kit.rights import Right, find
from campaigns.models import LaunchRequest
from campaigns.planning import lifecycle
from campaigns.planning.api.launch_outputs import LaunchRequestOutput
from campaigns.planning.filters import LaunchRequestFilters

TAG = "launch requests"
Decide = Callable[[LaunchRequest, User, str], LaunchRequest]


class ReasonInput(Input):
    """Why."""

    words = serializers.CharField(required=False, allow_blank=True, default="", max_length=2000)


def rows() -> QuerySet[LaunchRequest]:
    """Return all requests, joined with the rows that an answer shows."""
    return LaunchRequest.objects.select_related("campaign", "asked_by", "decided_by")


class LaunchRequests(Api):
    """GET: requests for approval by a second person, waiting and decided."""

    @operation(
        "list_launch_requests", TAG, answer=LaunchRequestOutput, filters=LaunchRequestFilters
    )
    def get(self, request: Request) -> Response:
        """List the requests to load production servers, the newest first."""
        result = self.visible(rows(), "campaign__team")
        return self.page(result, LaunchRequestOutput, "-pk", LaunchRequestFilters)


class OneLaunchRequest(Api):
    """GET: one request."""

    of: ClassVar[type[Model] | None] = LaunchRequest

    @operation("get_launch_request", TAG, answer=LaunchRequestOutput)
    def get(self, request: Request, pk: int) -> Response:
        """Return the requested step, the hash of its definition, and who decided."""
        self.read_query(NoQuery)
        return Response(self.shown(find(rows(), self.user, pk=pk), LaunchRequestOutput))


class Decision(Api):
    """The base class of the views that decide."""

    of: ClassVar[type[Model] | None] = LaunchRequest
    takes = {"post": Right.OPERATE}

    def decide(self, pk: int, act: Decide, text: str) -> Response:
        """Decide, then dispatch what may start. Raise NotPossible, NotAllowed."""
        row = act(find(rows(), self.user, Right.OPERATE, pk=pk), self.user, text)
        work_waits.send(sender=None)
        if row.state == LaunchRequest.State.OUTDATED:
            raise NotPossible(f"It is void, and nothing began. {row.words}")
        return Response(self.shown(row, LaunchRequestOutput))


class Approve(Decision):
    """POST {words}: approve the request of another person."""

    @operation("approve_launch", TAG, body=ReasonInput, answer=LaunchRequestOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Approve as a second operator; the step is performed once.

        409 where the definition was changed since: the request is void then, and nothing began.
        """
        return self.decide(pk, lifecycle.approve, self.read(ReasonInput)["words"])


class Refuse(Decision):
    """POST {words}: reject a request."""

    @operation("refuse_launch", TAG, body=ReasonInput, answer=LaunchRequestOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Reject a request; nothing begins."""
        return self.decide(pk, lifecycle.refuse, self.read(ReasonInput)["words"])


class Withdraw(Decision):
    """POST: withdraw one's own request."""

    @operation("withdraw_launch", TAG, answer=LaunchRequestOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Withdraw your own request."""
        return self.decide(pk, lambda row, user, _: lifecycle.withdraw(row, user), "")
