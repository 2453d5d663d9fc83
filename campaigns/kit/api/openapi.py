"""The OpenAPI document: what each operation is called, takes and answers, said beside its view."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from http import HTTPStatus
from inspect import signature
from threading import Lock
from typing import Any, TypeVar

from django import forms
from drf_spectacular.authentication import SessionScheme
from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from msgspec import Struct, json
from rest_framework import serializers
from rest_framework.permissions import SAFE_METHODS

from campaigns.kit.api import idempotency, lists
from campaigns.kit.api.inputs import Input
from campaigns.kit.api.outputs import Selectable, names_of
from campaigns.kit.api.problems import MEDIA_TYPE
from campaigns.kit.filters import Filter, FilterSet
from campaigns.models import Scope

NOT_FOUND, CONFLICT = HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT
View = TypeVar("View", bound=Callable[..., Any])
PROBLEMS = {
    HTTPStatus.BAD_REQUEST: "Something in the request is not valid; each error names its field.",
    HTTPStatus.UNAUTHORIZED: "No token, or one that does not hold.",
    HTTPStatus.FORBIDDEN: "The token has not the scope, or a session comes without its CSRF token.",
    HTTPStatus.NOT_FOUND: "There is nothing at this address.",
    HTTPStatus.NOT_ACCEPTABLE: "The answer cannot be had in the format that `Accept` asks for.",
    HTTPStatus.CONFLICT: "The state of things, an owner's rule, or its `Idempotency-Key` forbids it.",
    HTTPStatus.PRECONDITION_FAILED: "It is not what `If-Match` names any more; `differs` says where.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The body is too large.",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "The body is of a type that is not read.",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many requests; `Retry-After` says when to ask again.",
    HTTPStatus.SERVICE_UNAVAILABLE: "The database is away; `Retry-After` says when to ask again.",
}
PLAIN = r"^[^\u0000]*$"
"""PostgreSQL holds no text with U+0000."""
ONCE_ANYWAY = ("replace", "edit", "set", "delete")
"""Verbs of PUT, PATCH and DELETE: sent again they do nothing more."""
NO_AUTH: Any = [{}]
BUILDING = Lock()
KEY = OpenApiParameter(
    idempotency.HEADER,
    {
        "type": "string",
        "minLength": 1,
        "maxLength": idempotency.LONGEST,
        "pattern": idempotency.PATTERN,
    },
    OpenApiParameter.HEADER,
    description="Sent again with it, the request is answered as before, and done once.",
)
MATCH = OpenApiParameter(
    "If-Match",
    str,
    OpenApiParameter.HEADER,
    description="The `ETag` of a former answer: 412 where somebody has changed since what this "
    "request would overwrite. What changes by itself, such as health or progress, does not count.",
)
ALWAYS = (
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.NOT_ACCEPTABLE,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.SERVICE_UNAVAILABLE,
)
OF_BODIES = (
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.CONFLICT,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
)


class ProblemError(serializers.Serializer[Any]):
    """One thing that is wrong, and where. What was sent there is not repeated: it may be a secret."""

    field = serializers.CharField(help_text="Path with dots, such as factors.engine.0.")
    message = serializers.CharField()


class Problem(serializers.Serializer[Any]):
    """What went wrong, as RFC 9457 tells it. `request`: its id in the log of the web server."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    errors = ProblemError(many=True, required=False)  # type: ignore[assignment]
    request = serializers.CharField(required=False)
    differs = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="Fields that are not as `If-Match` names them.",
    )
    needs = serializers.CharField(required=False, help_text="The scope that the token has not.")
    scopes = serializers.ListField(child=serializers.CharField(), required=False)


class Documented(AutoSchema):
    """What `?fields=` may leave out is not required of an answer; bodies hold no other names."""

    def get_auth(self) -> Any:
        """Return which scope a token needs."""
        reads = self.method in SAFE_METHODS
        scope = Scope.READ if reads else getattr(self.view, "needs", Scope.OPERATE)
        return [
            {
                name: [scope.value] if name == TokenScheme.name else needed
                for name, needed in each.items()
            }
            for each in super().get_auth()
        ]

    def _map_basic_serializer(self, serializer: Any, direction: Any) -> Any:
        shape: dict[str, Any] = super()._map_basic_serializer(serializer, direction)  # type: ignore[no-untyped-call]
        if isinstance(serializer, Selectable):
            shape.pop("required", None)
        if isinstance(serializer, Input):
            shape["additionalProperties"] = False
        for each in shape.get("properties", {}).values():
            if {} in each.get("oneOf", ()):  # any value, or null: which any value is, too
                del each["oneOf"]
        return shape


class BrowserScheme(SessionScheme):  # type: ignore[no-untyped-call]
    """A browser's session."""

    target_class = "campaigns.kit.api.authentication.BrowserAuthentication"


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """`Authorization: Bearer ...`."""

    target_class = "campaigns.kit.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Describe it."""
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "A token of one person, made on the page Account.",
        }


class StructShape(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """A body that msgspec decodes; structs within it are components of their own."""

    target_class = "msgspec.Struct"
    match_subclasses = True

    def get_name(self, auto_schema: Any, direction: Any) -> str:
        """Name it as its class."""
        return str(self.target.__name__)

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        """Return its schema."""
        shapes: dict[str, dict[str, Any]]
        _, shapes = json.schema_components(
            [self.target], ref_template="#/components/schemas/{name}Request"
        )
        for name, shape in shapes.items():
            del shape["title"]
            shape["properties"] = {
                field: _understood(each) for field, each in shape["properties"].items()
            }
            component = ResolvedComponent(  # type: ignore[no-untyped-call]
                f"{name}Request", ResolvedComponent.SCHEMA, shape, name
            )
            if name != self.target.__name__:
                auto_schema.registry.register_on_missing(component)
        return shapes[self.target.__name__]


def _understood(shape: dict[str, Any]) -> dict[str, Any]:
    """Return a schema of msgspec as generators of clients understand it.

    They warn of an object that does not say what its values are, and of a choice among plain types.
    """
    found = {name: each for name, each in shape.items() if name != "default"}
    if "items" in found:
        found["items"] = _understood(found["items"])
    if found.get("type") == "object":
        found["additionalProperties"] = _understood(found.get("additionalProperties", {}))
    if "anyOf" in found:
        found["anyOf"] = [_understood(each) for each in found["anyOf"]]
        if all(each.keys() == {"type"} for each in found["anyOf"]):
            found["type"] = [each["type"] for each in found.pop("anyOf")]
    return found


def operation(
    name: str,
    tag: str,
    *,
    answer: Any = None,
    code: int | None = None,
    also: Sequence[int] = (),
    later: Any = None,
    whole: bool = False,
    filters: type[FilterSet] | None = None,
    query: type[Input] | None = None,
    body: type[Input] | type[Struct] | Mapping[str, Any] | None = None,
    refusals: Sequence[HTTPStatus] = (),
    parameters: Sequence[OpenApiParameter] = (),
    media_type: str = "application/json",
    public: bool = False,
) -> Callable[[View], View]:
    """Describe a method of a view, whose docstring says what it does.

    The name begins with a verb: `list` answers a page of `answer`, or with `whole` a list of all of them; `create` and `make` answer 201. answer: a shape, one for each media type, or None for 204. code: where it is another one; also: further codes with the same answer; later: the shape of 202, where the request may have to wait. refusals: beside those that every request may meet, and 404 where the path names something. body: a shape, or what there is for each media type. public: no token is needed.
    """

    def describe(view: View) -> View:
        verb = name.split("_")[0]
        reads = body is None and verb in ("list", "get")
        paged = verb == "list" and not whole and answer is not None
        shape = list_of(answer, paged=paged) if paged or whole else answer
        answers: dict[Any, Any] = {}
        if answer is None and not reads:
            answers[int(HTTPStatus.NO_CONTENT)] = OpenApiResponse(
                description="Done; there is nothing to tell."
            )
        elif answer is not None:
            usual = code or (HTTPStatus.CREATED if verb in ("create", "make") else HTTPStatus.OK)
            shapes = shape if isinstance(shape, Mapping) else {media_type: shape}
            for status in (usual, *also):
                answers |= {(int(status), kind): each for kind, each in shapes.items()}
        if later is not None:
            answers[int(HTTPStatus.ACCEPTED), media_type] = later
        if reads and answer is not None:
            answers[HTTPStatus.NOT_MODIFIED.value] = OpenApiResponse(
                description="It is what `If-None-Match` names."
            )
        problems = {*refusals, HTTPStatus.BAD_REQUEST, *(() if reads else OF_BODIES)}
        problems |= {HTTPStatus.SERVICE_UNAVAILABLE} if public else {*ALWAYS}
        if len(signature(view).parameters) > len(("self", "request")):
            problems.add(HTTPStatus.NOT_FOUND)
        if verb in ONCE_ANYWAY:
            problems.add(HTTPStatus.PRECONDITION_FAILED)
        for status in sorted(problems):
            answers[status.value, MEDIA_TYPE] = OpenApiResponse(
                Problem, description=PROBLEMS[status]
            )
        named = filters.base_filters if filters else {}
        return extend_schema(
            operation_id=name,
            summary=name.replace("_", " ").capitalize(),
            tags=[tag],
            request=body,
            responses=answers,
            auth=NO_AUTH if public else None,
            parameters=[
                *(_filter(key, each) for key, each in named.items()),
                *([query] if query else []),
                *(_paging() if paged else []),
                *(_selection(answer) if reads else []),
                *([] if reads else [MATCH] if verb in ONCE_ANYWAY else [KEY]),
                *parameters,
            ],
        )(view)

    return describe


@cache
def list_of(shape: type[serializers.Serializer[Any]], *, paged: bool) -> Any:
    """The shape of a list; `next` and `previous` are null where all of it is there."""
    link: dict[str, Any] = {"allow_null": True}
    return type(
        f"{shape.__name__.removesuffix('Output')}{'Page' if paged else 'List'}",
        (serializers.Serializer,),
        {
            "__doc__": "A page of a list." if paged else "A list, whole.",
            "next": serializers.URLField(**link),
            "previous": serializers.URLField(**link),
            "results": shape(many=True),
        },
    )


def document() -> dict[str, Any]:
    """Return the whole document. It depends on what is installed, so it is built once.

    One thread builds it: drf_spectacular loads its extensions at first use, which is not thread-safe.
    """
    with BUILDING:
        return built()


@cache
def built() -> dict[str, Any]:
    """Build the document. Only for `document`, which lets one thread in at a time."""
    made: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return made


def _filter(name: str, each: Filter) -> OpenApiParameter:
    field = each.field
    shape: dict[str, Any] = {"type": "string", "minLength": 1, "pattern": PLAIN}
    if isinstance(field, forms.ChoiceField):
        shape = {"type": "string", "enum": [value for value, _ in each.extra["choices"]]}
    elif isinstance(field, forms.IntegerField):
        shape = {"type": "integer", "minimum": field.min_value, "maximum": field.max_value}
    elif isinstance(field, forms.DateTimeField):
        shape = {"type": "string", "format": "date-time"}
    elif isinstance(field, forms.CharField):
        shape["maxLength"] = field.max_length
    return OpenApiParameter(name, shape, OpenApiParameter.QUERY)


def _paging() -> list[OpenApiParameter]:
    limit = {
        "type": "integer",
        "minimum": lists.FEWEST,
        "maximum": lists.MOST,
        "default": lists.USUAL,
    }
    cursor = "Where the page begins: taken from `next` or `previous` of an answer."
    return [
        OpenApiParameter(
            "cursor", {"type": "string", "minLength": 1}, OpenApiParameter.QUERY, description=cursor
        ),
        OpenApiParameter("limit", limit, OpenApiParameter.QUERY),
    ]


def _selection(answer: Any) -> list[OpenApiParameter]:
    tag = OpenApiParameter(
        "If-None-Match",
        str,
        OpenApiParameter.HEADER,
        description="The `ETag` of a former answer; 304 where it is still the same.",
    )
    if isinstance(answer, Mapping):
        answer = answer.get("application/json")
    if not (isinstance(answer, type) and issubclass(answer, Selectable)):
        return [tag]
    shape = {"type": "array", "items": {"type": "string", "enum": names_of(answer)}, "minItems": 1}
    fields = OpenApiParameter(
        "fields",
        shape,
        OpenApiParameter.QUERY,
        style="form",
        explode=False,
        description="Names with commas between them: no other field is sent.",
    )
    return [fields, tag]
