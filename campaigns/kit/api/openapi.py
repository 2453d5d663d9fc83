"""The OpenAPI document. `operation` describes each method of a view."""

from collections.abc import Callable, Iterable, Mapping, Sequence
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
from drf_spectacular.plumbing import ComponentRegistry, ResolvedComponent
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from msgspec import Struct, json
from rest_framework import serializers
from rest_framework.permissions import SAFE_METHODS

from campaigns.kit.api import idempotency, lists
from campaigns.kit.api.inputs import Input, StructInput
from campaigns.kit.api.outputs import Selectable, names_of
from campaigns.kit.api.problems import MEDIA_TYPE
from campaigns.kit.filters import Filter, FilterSet
from campaigns.kit.structs import schema_of
from campaigns.models import Scope

NOT_FOUND, CONFLICT = HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT
View = TypeVar("View", bound=Callable[..., Any])
PROBLEMS = {
    HTTPStatus.BAD_REQUEST: "The request is not valid; each error names its field.",
    HTTPStatus.UNAUTHORIZED: "There is no token, or it is not valid.",
    HTTPStatus.FORBIDDEN: "The token lacks the scope, or the session's CSRF token is missing.",
    HTTPStatus.NOT_FOUND: "There is nothing at this address.",
    HTTPStatus.NOT_ACCEPTABLE: "The answer is not available in the format of `Accept`.",
    HTTPStatus.CONFLICT: "The current state, a team's rule, or the `Idempotency-Key` forbids it.",
    HTTPStatus.PRECONDITION_FAILED: "It has changed since the version in `If-Match`; see `differs`.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The body is too large.",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "The media type or the encoding of the body is not supported.",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many requests; send it again after `Retry-After` seconds.",
    HTTPStatus.SERVICE_UNAVAILABLE: "The database is away; send it again after `Retry-After` seconds.",
}
PLAIN = r"^[^\u0000]*$"
"""PostgreSQL cannot store U+0000."""
IDEMPOTENT = ("replace", "edit", "set", "delete")
"""Verbs of PUT, PATCH and DELETE: sent again they change nothing more."""
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
    description="A repeated request with the same key gets the same answer and is executed once.",
)
MATCH = OpenApiParameter(
    "If-Match",
    str,
    OpenApiParameter.HEADER,
    description="The `ETag` of an earlier answer. 412 if somebody has changed what this request would "
    "overwrite since then. What changes by itself, such as health or progress, does not count.",
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
    """One error and its field. The value is not repeated, since it may be a secret."""

    field = serializers.CharField(help_text="A path with dots, such as factors.engine.0.")
    message = serializers.CharField()


class Problem(serializers.Serializer[Any]):
    """A problem as in RFC 9457. `request`: the id of the request in the log of the web server."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    errors = ProblemError(many=True, required=False)  # type: ignore[assignment]
    request = serializers.CharField(required=False)
    differs = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="Fields that have changed since the version in `If-Match`.",
    )
    needs = serializers.CharField(required=False, help_text="The scope that the token lacks.")
    scopes = serializers.ListField(child=serializers.CharField(), required=False)


class Documented(AutoSchema):
    """The schema of an operation: `?fields=` makes fields of answers optional; bodies have no other names."""

    def get_auth(self) -> Any:
        """Add the scope that a token needs."""
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
        if isinstance(serializer, StructInput):
            known = schema_of(serializer.struct)["properties"]
            shape["properties"] = {
                **{name: known[name] for name in serializer.taken()},
                **shape.get("properties", {}),
            }
        if isinstance(serializer, Input):
            shape["additionalProperties"] = False
        for each in shape.get("properties", {}).values():
            if {} in each.get("oneOf", ()):  # any value, or null: which any value is, too
                del each["oneOf"]
        return shape


class BrowserScheme(SessionScheme):  # type: ignore[no-untyped-call]
    target_class = "campaigns.kit.api.authentication.BrowserAuthentication"


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "campaigns.kit.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Return the scheme of bearer tokens."""
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "A token of one person, created on the page Account.",
        }


class StructShape(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """The schema of a body that msgspec decodes; structs within it are components of their own."""

    target_class = "msgspec.Struct"
    match_subclasses = True

    def get_name(self, auto_schema: Any, direction: Any) -> str:
        """Return the name of the class."""
        return str(self.target.__name__)

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        """Return the schema of the struct, and register those within it."""
        shapes = shapes_of([self.target], "Request")
        own = shapes.pop(self.target.__name__)
        register(shapes, auto_schema.registry, "Request")
        return own


def shapes_of(types: Iterable[type], suffix: str = "") -> dict[str, dict[str, Any]]:
    """Return the schemas of types that msgspec knows, and of those within them, by name.

    suffix: of the names in references.
    """
    template = f"#/components/schemas/{{name}}{suffix}"
    shapes: dict[str, dict[str, Any]]
    _, shapes = json.schema_components(types, ref_template=template)
    return {name: _component(shape) for name, shape in shapes.items()}


def register(shapes: Mapping[str, Any], registry: ComponentRegistry, suffix: str = "") -> None:
    """Add schemas by name to the components of the document."""
    for name, shape in shapes.items():
        registry.register_on_missing(
            ResolvedComponent(f"{name}{suffix}", ResolvedComponent.SCHEMA, shape, name)  # type: ignore[no-untyped-call]
        )


def _component(shape: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a named type in a form that generators of clients understand."""
    schema = {name: each for name, each in shape.items() if name not in ("title", "prefixItems")}
    if "properties" in schema:
        schema["properties"] = {
            name: _understood(each) for name, each in schema["properties"].items()
        }
    if "prefixItems" in shape:  # a named tuple; its members are of one type
        schema["items"] = shape["prefixItems"][0]
    if "enum" in schema:
        schema["type"] = "string"
    return schema


def _understood(shape: dict[str, Any]) -> dict[str, Any]:
    """Return a schema of msgspec in a form that generators of clients understand.

    They warn of an object without the type of its values, and of a choice among plain types.
    """
    schema = {name: each for name, each in shape.items() if name not in ("default", "prefixItems")}
    if "prefixItems" in shape:  # a tuple; its members are of one type
        schema["items"] = shape["prefixItems"][0]
    if "items" in schema:
        schema["items"] = _understood(schema["items"])
    if schema.get("type") == "object":
        schema["additionalProperties"] = _understood(schema.get("additionalProperties", {}))
    if "anyOf" in schema:
        schema["anyOf"] = [_understood(each) for each in schema["anyOf"]]
        if all(
            "type" in each and each.keys() <= {"type", "description"} for each in schema["anyOf"]
        ):
            kinds = schema.pop("anyOf")
            schema["type"] = [each["type"] for each in kinds]
            texts = [each["description"] for each in kinds if "description" in each]
            schema |= {"description": texts[0]} if texts else {}
    if "enum" in schema:
        schema["type"] = "string"
    return schema


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
    """Describe a method of a view in the OpenAPI document; its docstring is the description.

    The name begins with a verb. `list` answers a page of `answer`, or with `whole` all of the list; `create`
    and `make` answer 201.

    answer: a shape, one for each media type, or None for 204. code: where it is another one; also: further
    codes with the same answer; later: the shape of 202, where the request may have to wait. refusals: codes
    beside those of every request, and 404 where the path has parameters. body: a shape, or one for each media
    type. public: no token is needed.
    """

    def describe(view: View) -> View:
        verb = name.split("_")[0]
        reads = body is None and verb in ("list", "get")
        paged = verb == "list" and not whole and answer is not None
        shape = list_of(answer, paged=paged) if paged or whole else answer
        answers: dict[Any, Any] = {}
        if answer is None and not reads:
            answers[int(HTTPStatus.NO_CONTENT)] = OpenApiResponse(
                description="Done; the answer has no body."
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
                description="It has not changed since the version in `If-None-Match`."
            )
        problems = {*refusals, HTTPStatus.BAD_REQUEST, *(() if reads else OF_BODIES)}
        problems |= {HTTPStatus.SERVICE_UNAVAILABLE} if public else {*ALWAYS}
        if len(signature(view).parameters) > len(("self", "request")):
            problems.add(HTTPStatus.NOT_FOUND)
        if verb in IDEMPOTENT:
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
                *([] if reads else [MATCH] if verb in IDEMPOTENT else [KEY]),
                *parameters,
            ],
        )(view)

    return describe


@cache
def list_of(shape: type[serializers.Serializer[Any]], *, paged: bool) -> Any:
    """Return the shape of a list; `next` and `previous` are null in one that is not paged."""
    link: dict[str, Any] = {"allow_null": True}
    return type(
        f"{shape.__name__.removesuffix('Output')}{'Page' if paged else 'List'}",
        (serializers.Serializer,),
        {
            "__doc__": "A page of a list." if paged else "A whole list.",
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


ADDRESSES = "perfdash.urls"
"""Those of perfdash, whatever addresses a test has at the moment: it is built once."""


@cache
def built() -> dict[str, Any]:
    """Build the document. Only `document` calls this, in one thread at a time."""
    made: dict[str, Any] = SchemaGenerator(urlconf=ADDRESSES).get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
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
    cursor = "Where the page begins, as in `next` or `previous` of an answer."
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
        description="The `ETag` of an earlier answer; 304 if it is still the same.",
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
        description="Names, separated by commas: only these fields are sent.",
    )
    return [fields, tag]
