"""The base class of all REST views: scopes, rights, idempotency, lists, ETags."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from hashlib import sha256
from typing import Any, ClassVar, TypeVar

from django.contrib.auth.models import User
from django.db.models import Model, QuerySet
from django.http import Http404
from django.http.response import HttpResponseBase
from django.utils.cache import set_response_etag
from rest_framework import status
from rest_framework.permissions import SAFE_METHODS, IsAuthenticated
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from campaigns.kit import rights
from campaigns.kit.api import idempotency, lists, problems
from campaigns.kit.api.authentication import (
    BrowserAuthentication,
    TokenAuthentication,
    require_scope,
)
from campaigns.kit.api.inputs import Input, NoQuery
from campaigns.kit.api.lists import narrowed, refuse_unknown
from campaigns.kit.api.outputs import Selectable, picked, selected
from campaigns.kit.api.parsing import StrictJSONParser
from campaigns.kit.api.throttling import Quota, Throttle
from campaigns.kit.filters import FilterSet
from campaigns.kit.mappings import Json, JsonObject
from campaigns.kit.revisions import Data, Seen, held, revision_of
from campaigns.kit.rights import Right, visible
from campaigns.models import Scope

AnyRow = TypeVar("AnyRow", bound=Model)
TAG = re.compile(r'"([^".]*)(?:\.[^"]*)?"')
"""An entity tag, with the revision before its point."""
TAG_LETTERS = 32
READING = frozenset({"fields"})
"""Query parameters of every GET."""


class Api(APIView):
    """A view that authenticates by token or session, reads JSON and answers JSON or problem+json."""

    needs: ClassVar[Scope] = Scope.OPERATE
    """The scope that a token needs for methods that change something."""
    reads_body: ClassVar[bool] = False
    """Whether `post` reads the body itself, and then calls `once` itself, too."""
    of: ClassVar[type[Model] | None] = None
    """The model of the row that `pk` in the path names; rights are those in its team.

    None: all users may read, and the view narrows its rows by `visible`.
    """
    takes: ClassVar[Mapping[str, Right]] = {}
    """The right that each method needs, in that team or else in any; for GET by default `see`.

    A test fails for a view that changes something and names no right.
    """
    admits_later: ClassVar[frozenset[str]] = frozenset()
    """Methods that check the right of a request without Idempotency-Key themselves, with what they read of the row anyway."""
    quota: Quota | None = None
    """What is left of the client's rate."""
    revision: str = ""
    """The revision of the row in the answer: the first part of the ETag."""

    authentication_classes = [TokenAuthentication, BrowserAuthentication]
    permission_classes = [IsAuthenticated]
    throttle_classes = [Throttle]
    parser_classes = [StrictJSONParser]
    renderer_classes = [JSONRenderer]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check scope and right, and wrap a POST that has an Idempotency-Key."""
        super().initial(request, *args, **kwargs)
        name = str(request.method).lower()
        handler = getattr(self, name, None)
        if handler is None:
            return
        require_scope(request, self.scope_needed())
        keyed = request.method == "POST" and idempotency.key_of(request) is not None
        right = self.right_needed(name)
        if name in self.admits_later and not keyed:
            return
        if self.of is not None or right != Right.SEE:
            rights.admit(self.user, right, self.of, kwargs.get("pk"))
        if keyed and not self.reads_body:
            digest = sha256(request.body).digest()
            act = partial(handler, request, *args, **kwargs)
            setattr(self, name, lambda *_, **__: self.once(act, lambda: digest))

    def scope_needed(self) -> Scope | None:
        """Return the scope that a token needs for this request; None: any."""
        return Scope.READ if self.request.method in SAFE_METHODS else self.needs

    def right_needed(self, method: str) -> Right:
        """Return the right that a method, such as `post`, needs."""
        if method.upper() in SAFE_METHODS:
            return self.takes.get("get", Right.SEE)
        return self.takes[method]

    def once(
        self, act: Callable[[], HttpResponseBase], digest: Callable[[], bytes]
    ) -> HttpResponseBase:
        """Return the response of `act`, or the stored one of a repeated key; see `idempotency.once`.

        digest: returns the hash of the whole body, such as that of `idempotency.Hashed`; called
        after `act`, or instead of it.
        """
        key = idempotency.key_of(self.request)
        return act() if key is None else idempotency.once(self, key, act, digest)

    def get_exception_handler(self) -> Any:
        """Return the handler that turns errors into problem+json."""
        return problems.answer

    def read(self, shape: type[Input]) -> JsonObject:
        """Return the values of the body by name, without those that were not sent. Raise ValidationError."""
        return checked(shape(data=self.request.data))

    def read_query(self, shape: type[Input]) -> JsonObject:
        """Return the values of the query by name, without `fields`. Raise ValidationError."""
        query = self.request.query_params.dict()
        if not query:
            return dict(_without_query(shape))
        values = {name: query[name] for name in query if name not in READING}
        return checked(shape(data=values, context={"query": True}))

    def to_store(self, body: bytes) -> bytes:
        """Return the body that is stored for repeated requests: without secrets that are shown once."""
        return body

    def page(
        self,
        rows: QuerySet[Any],
        output: type[Selectable],
        order: str,
        filters: type[FilterSet] | None = None,
    ) -> Response:
        """Return a page of rows, filtered by the query, in the order of a column. Raise ValidationError."""
        rows = narrowed(rows, self.request, filters, other_names=READING | lists.NAMES)
        pages = lists.Pages(order)
        page = pages.paginate_queryset(rows, self.request, view=self)
        return pages.get_paginated_response(self.shown(page, output, many=True))

    def whole(self, entries: Sequence[Json], output: type[Selectable]) -> Response:
        """Return a whole list that is always short. Raise ValidationError."""
        refuse_unknown(self.request, READING)
        only = selected(self.request, output)
        results = [picked(entry, only) for entry in entries]
        return Response({"next": None, "previous": None, "results": results})

    def one(
        self, row: Any, output: type[Selectable], revised: Callable[[Any], Data] | None = None
    ) -> Response:
        """Return one row; `revised`: returns what its revision is made of. Raise ValidationError."""
        self.read_query(NoQuery)
        if revised is not None:
            self.revision = revision_of(revised(row))
        return Response(self.shown(row, output))

    @property
    def seen(self) -> Seen:
        """The revisions in `If-Match`, of which one must be current; None: any."""
        sent = self.request.headers.get("If-Match")
        return None if sent is None or sent.strip() == "*" else TAG.findall(sent)

    @contextmanager
    def unchanged(self, row: AnyRow, revised: Callable[[AnyRow], Data]) -> Iterator[None]:
        """Lock a row for a change and set its new revision. Raise Changed where `If-Match` names another one."""
        with held(row, revised, self.seen):
            yield
        now = type(row)._base_manager.filter(pk=row.pk).first()
        self.revision = revision_of(revised(now)) if now else ""

    def shown(
        self, rows: Any, output: type[Selectable], *, many: bool = False, **context: Any
    ) -> Any:
        """Return rows in the shape of `output`, with the fields that `?fields=` selects."""
        reads = self.request.method in SAFE_METHODS
        only = selected(self.request, output) if reads else None
        context |= {"request": self.request, "only": only}
        return output(rows, many=many, context=context).data

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Add the headers of caching, rate and ETag."""
        response.headers.setdefault("Cache-Control", "private, no-cache")
        for name, value in self.quota.headers().items() if self.quota else ():
            response.headers[name] = value
        if place := response.headers.get("Location"):
            response.headers["Location"] = str(place)  # exactly: some servers refuse a Hyperlink
        if isinstance(response, Response):
            if self.revision and response.status_code < status.HTTP_300_MULTIPLE_CHOICES:
                response.add_post_render_callback(self.tag)
            elif request.method == "HEAD":
                response.add_post_render_callback(set_response_etag)
        return super().finalize_response(request, response, *args, **kwargs)

    def tag(self, response: Response) -> None:
        """Set the ETag: the revision, with which `If-Match` is compared, and a hash of the answer."""
        digest = sha256(response.content).hexdigest()[:TAG_LETTERS]
        response.headers["ETag"] = f'"{self.revision}.{digest}"'

    def visible(self, rows: QuerySet[AnyRow], path: str = "team") -> QuerySet[AnyRow]:
        """Return the rows of the user's teams; `path`: from a row to its team."""
        return visible(rows, self.user, path)

    @property
    def user(self) -> User:
        """The user who sends the request; `permission_classes` let nobody else in."""
        user = self.request.user
        if not isinstance(user, User):
            raise TypeError(f"{user!r} came past the permission check.")
        return user


@cache
def _without_query(shape: type[Input]) -> Mapping[str, Json]:
    """Return what an empty query means. Raise ValidationError."""
    return checked(shape(data={}, context={"query": True}))


def checked(serializer: Input) -> JsonObject:
    """Return the values by name. Raise ValidationError."""
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


class Nothing(Api):
    """Every other address below the API."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Raise Http404, after authentication."""
        super().initial(request, *args, **kwargs)
        raise Http404("There is nothing at this address.")
