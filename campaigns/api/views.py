"""What all views share; kinds and targets."""

from typing import Any, ClassVar

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from rest_framework import serializers, status
from rest_framework.authentication import SessionAuthentication
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.permissions import SAFE_METHODS, IsAuthenticated
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from campaigns import dispatch
from campaigns.api import problems, scopes
from campaigns.api.authentication import TokenAuthentication
from campaigns.api.inputs import Input, TargetInput
from campaigns.api.kinds import described
from campaigns.api.outputs import TargetOutput
from campaigns.api.parsing import StrictJSONParser
from campaigns.definition import servers
from campaigns.drivers import all_kinds
from campaigns.models import Scope, Target

PAGING = frozenset({"limit", "offset"})


class Pages(LimitOffsetPagination):
    """`?limit=` and `?offset=`."""

    default_limit = 50
    max_limit = 500


class Api(APIView):
    """Token or session, JSON in, JSON or problem+json out."""

    needs: ClassVar[Scope] = Scope.OPERATE
    """The scope that a token needs for what does more than read."""

    authentication_classes = [TokenAuthentication, SessionAuthentication]
    permission_classes = [IsAuthenticated]
    parser_classes = [StrictJSONParser]
    renderer_classes = [JSONRenderer]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Let in whoever may do this. Raise what keeps them out."""
        super().initial(request, *args, **kwargs)
        if hasattr(self, str(request.method).lower()):
            scopes.require(request, self.scope_needed())

    def scope_needed(self) -> Scope | None:
        """Say which scope a token needs for this request; None: any will do."""
        return Scope.READ if self.request.method in SAFE_METHODS else self.needs

    def get_exception_handler(self) -> Any:
        """Answer errors as problem+json."""
        return problems.answer

    def read(self, shape: type[Input]) -> dict[str, Any]:
        """Check the body's shape; names that were not sent are not there. Raise ValidationError."""
        return _checked(shape(data=self.request.data))

    def read_query(self, shape: type[Input]) -> dict[str, Any]:
        """Check the query's shape; limit and offset are not looked at. Raise ValidationError."""
        query = self.request.query_params.dict()
        return _checked(shape(data={name: query[name] for name in query if name not in PAGING}))

    def page(self, rows: QuerySet[Any], output: type[serializers.BaseSerializer[Any]]) -> Response:
        """One page of a list."""
        pages = Pages()
        found = pages.paginate_queryset(rows, self.request, view=self)
        data = output(found, many=True, context={"request": self.request}).data
        return pages.get_paginated_response(data)

    @property
    def user(self) -> User:
        """Who asks; permissions have kept anybody else out."""
        user = self.request.user
        if not isinstance(user, User):
            raise TypeError(f"{user!r} came past the permission check.")
        return user


def _checked(serializer: Input) -> dict[str, Any]:
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


class Kinds(Api):
    """GET: all kinds of test."""

    def get(self, request: Request) -> Response:
        """Describe each of them."""
        found = [described(kind, driver) for kind, driver in all_kinds().items()]
        return Response({"count": len(found), "next": None, "previous": None, "results": found})


class Targets(Api):
    """GET: targets in use. POST: a new one."""

    def get(self, request: Request) -> Response:
        """List them by name."""
        return self.page(Target.objects.filter(retired_at=None).order_by("name"), TargetOutput)

    def post(self, request: Request) -> Response:
        """Save a target, and ask for its first probe; `warnings` hold what there is to be told."""
        data = self.read(TargetInput)
        target = servers.save_target(data)
        dispatch.request_probe(target)
        output = dict(TargetOutput(target, context={"request": request}).data)
        output["warnings"] = servers.to_be_told(target, data)
        return Response(output, status=status.HTTP_201_CREATED, headers={"Location": output["url"]})


class OneTarget(Api):
    """GET: one target, also a retired one."""

    def get(self, request: Request, pk: int) -> Response:
        """Read it."""
        target = get_object_or_404(Target, pk=pk)
        return Response(TargetOutput(target, context={"request": request}).data)


class Probe(Api):
    """POST: look whether a target answers."""

    def post(self, request: Request, pk: int) -> Response:
        """Ask for it; the result is in the target, a moment later.

        200 instead of 202: nobody asks it now, for the reason in `warnings`; this is the last answer.
        """
        target = get_object_or_404(Target, pk=pk, retired_at=None)
        why_not = dispatch.request_probe(target)
        output = TargetOutput(target, context={"request": request}).data
        if why_not:
            return Response(output | {"warnings": [why_not]})
        return Response(output, status=status.HTTP_202_ACCEPTED)


class Nothing(Api):
    """Any other address below the API."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Raise Http404, for those who may know."""
        super().initial(request, *args, **kwargs)
        raise Http404("There is nothing at this address.")
