"""What all views of the REST API share."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
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

from campaigns.kit import owners
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
from campaigns.kit.api.throttling import Standing, Throttle
from campaigns.kit.filters import FilterSet
from campaigns.kit.revisions import Data, Seen, held, revision_of
from campaigns.kit.rights import Right, visible
from campaigns.models import Scope

AnyRow = TypeVar("AnyRow", bound=Model)
TAG = re.compile(r'"([^".]*)[^"]*"')
"""An entity tag, with the revision before its point."""
TAG_LETTERS = 32
READING = frozenset({"fields"})
"""Names of a query that every answer knows."""


class Api(APIView):
    """Token or session, JSON in, JSON or problem+json out."""

    needs: ClassVar[Scope] = Scope.OPERATE
    """The scope that a token needs for what does more than read."""
    reads_body: ClassVar[bool] = False
    """Whether `post` reads the body itself; it then calls `once` by itself, too."""
    of: ClassVar[type[Model] | None] = None
    """Whose row the `pk` of the address names: the rights are those in its team.

    None: everybody who is signed in comes in, and the view narrows what it shows by `visible`.
    """
    takes: ClassVar[Mapping[str, Right]] = {}
    """The right that each method takes, in that team or else in any; GET takes `see`.

    A test refuses a view that changes something and says no right.
    """
    standing: Standing | None = None
    """What the one who asks may still ask for."""
    revision: str = ""
    """Of the stored thing in the answer: the first part of its ETag."""

    authentication_classes = [TokenAuthentication, BrowserAuthentication]
    permission_classes = [IsAuthenticated]
    throttle_classes = [Throttle]
    parser_classes = [StrictJSONParser]
    renderer_classes = [JSONRenderer]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Let in whoever may do this. Raise what keeps them out."""
        super().initial(request, *args, **kwargs)
        name = str(request.method).lower()
        handler = getattr(self, name, None)
        if handler is None:
            return
        require_scope(request, self.scope_needed())
        keyed = request.method == "POST" and idempotency.key_of(request) is not None
        right = self.right_needed(name)
        if self.of is not None or right != Right.SEE:
            owners.admit(self.user, right, self.of, kwargs.get("pk"))
        if keyed and not self.reads_body:
            digest = sha256(request.body).digest()
            act = partial(handler, request, *args, **kwargs)
            setattr(self, name, lambda *_, **__: self.once(act, lambda: digest))

    def scope_needed(self) -> Scope | None:
        """Return which scope a token needs for this request; None: any will do."""
        return Scope.READ if self.request.method in SAFE_METHODS else self.needs

    def right_needed(self, method: str) -> Right:
        """Return which right a method takes, such as `post`."""
        if method.upper() in SAFE_METHODS:
            return self.takes.get("get", Right.SEE)
        return self.takes[method]

    def once(
        self, act: Callable[[], HttpResponseBase], digest: Callable[[], bytes]
    ) -> HttpResponseBase:
        """Act, but answer a repeated Idempotency-Key as before. Raise what `repeating.once` raises.

        `digest`: hash of the whole body as it was sent, such as that of `repeating.Hashed`. Asked
        after `act`, or instead of it.
        """
        key = idempotency.key_of(self.request)
        return act() if key is None else idempotency.once(self, key, act, digest)

    def get_exception_handler(self) -> Any:
        """Answer errors as problem+json."""
        return problems.answer

    def read(self, shape: type[Input]) -> dict[str, Any]:
        """Check the body's shape; names that were not sent are not there. Raise ValidationError."""
        return checked(shape(data=self.request.data))

    def read_query(self, shape: type[Input]) -> dict[str, Any]:
        """Check the query's shape; `fields` is not looked at. Raise ValidationError."""
        query = self.request.query_params.dict()
        asked = {name: query[name] for name in query if name not in READING}
        return checked(shape(data=asked, context={"query": True}))

    def to_store(self, body: bytes) -> bytes:
        """Return what is kept of an answer for whoever repeats the request: without what is told once."""
        return body

    def page(
        self,
        rows: QuerySet[Any],
        output: type[Selectable],
        order: str,
        filters: type[FilterSet] | None = None,
    ) -> Response:
        """One page of a list in the order of a column, narrowed by the query. Raise ValidationError."""
        found = narrowed(rows, self.request, filters, beside=READING | lists.NAMES)
        pages = lists.Pages(order)
        page = pages.paginate_queryset(found, self.request, view=self)
        return pages.get_paginated_response(self.shown(page, output, many=True))

    def whole(self, entries: Sequence[Mapping[str, Any]], output: type[Selectable]) -> Response:
        """All of a list that is short by its nature. Raise ValidationError."""
        refuse_unknown(self.request, READING)
        only = selected(self.request, output)
        found = [picked(entry, only) for entry in entries]
        return Response({"next": None, "previous": None, "results": found})

    def one(
        self, row: Any, output: type[Selectable], revised: Callable[[Any], Data] | None = None
    ) -> Response:
        """One thing, read anew; `revised`: what its revision is made of. Raise ValidationError."""
        self.read_query(NoQuery)
        if revised is not None:
            self.revision = revision_of(revised(row))
        return Response(self.shown(row, output))

    @property
    def seen(self) -> Seen:
        """The revisions of `If-Match`, of which one has to hold; None: any will do."""
        sent = self.request.headers.get("If-Match")
        return None if sent is None or sent.strip() == "*" else TAG.findall(sent)

    @contextmanager
    def unchanged(self, row: AnyRow, revised: Callable[[AnyRow], Data]) -> Iterator[None]:
        """Change a row where it says what `If-Match` names; then its new revision. Raise Changed."""
        with held(row, revised, self.seen):
            yield
        now = type(row)._base_manager.filter(pk=row.pk).first()
        self.revision = revision_of(revised(now)) if now else ""

    def shown(
        self, rows: Any, output: type[Selectable], *, many: bool = False, **context: Any
    ) -> Any:
        """Return rows as their output shows them, with the fields that a reader asks for."""
        reads = self.request.method in SAFE_METHODS
        only = selected(self.request, output) if reads else None
        context |= {"request": self.request, "only": only}
        return output(rows, many=many, context=context).data

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Let nobody keep an answer without asking whether it still holds."""
        response.headers.setdefault("Cache-Control", "private, no-cache")
        for name, value in self.standing.headers().items() if self.standing else ():
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
        """Set an ETag: the revision, which `If-Match` is held against, and a hash of the answer."""
        digest = sha256(response.content).hexdigest()[:TAG_LETTERS]
        response.headers["ETag"] = f'"{self.revision}.{digest}"'

    def visible(self, rows: QuerySet[AnyRow], path: str = "team") -> QuerySet[AnyRow]:
        """Narrow rows to those of teams that the one who asks belongs to; `path`: to the team."""
        return visible(rows, self.user, path)

    @property
    def user(self) -> User:
        """Who asks; permissions have kept anybody else out."""
        user = self.request.user
        if not isinstance(user, User):
            raise TypeError(f"{user!r} came past the permission check.")
        return user


def checked(serializer: Input) -> dict[str, Any]:
    """What was sent, by name. Raise ValidationError."""
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


class Nothing(Api):
    """Any other address below the API."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Raise Http404, for those who may know."""
        super().initial(request, *args, **kwargs)
        raise Http404("There is nothing at this address.")
