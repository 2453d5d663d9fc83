"""Read OpenAPI 3.0 and 3.1 documents: a request for each operation. Pure.

References are followed within the document only, and to a depth: a document may refer to itself.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlsplit

from campaigns.kinds.http.importing.columns import Columns, Filled
from campaigns.kinds.http.importing.documents import as_json, as_written, plain_number
from campaigns.kinds.http.importing.recorded import (
    BadImport,
    Recorded,
    Recording,
    needs,
    some_of,
)
from campaigns.kinds.http.importing.recorded import without_marks as plain

METHODS = ("get", "post", "put", "patch", "delete", "options", "head", "trace")
MOST_OPERATIONS = 2000
MOST_DEPTH = 5
MOST_REFERENCES = 20
MOST_VALUES, MOST_VALUES_IN_ALL = 2000, 200_000
"""Made from the schemas of a request, and of a document: a schema may hold others many times over."""
MOST_LETTERS = 64 * 1024 + 1
"""Of a body, beyond which it is not taken over."""
CHANGES = "it changes something"
DULL_HEADERS = frozenset({"accept", "content-type", "authorization"})
"""Header parameters that OpenAPI tells to ignore."""
OF_FORMATS = {
    "date": "2024-01-31", "date-time": "2024-01-31T12:00:00Z", "uuid": "00000000-0000-4000-8000-000000000000",
    "email": "anna@example.org", "uri": "https://example.org/", "hostname": "example.org", "ipv4": "192.0.2.1",
}  # fmt: skip
LIST = "_list"
"""End of the operationId of what lists, as drf-spectacular writes it."""
MISSING = object()


def is_openapi(value: Any) -> bool:
    """Return whether a document describes an API, of whatever version."""
    return isinstance(value, dict) and ("openapi" in value or "swagger" in value)


def read_openapi(document: Mapping[str, Any]) -> Recording:
    """Return a request for each operation. Raise BadImport."""
    version = str(document.get("openapi") or document.get("swagger") or "")
    if not re.match(r"3\.\d", version):
        raise BadImport(
            f"The document is of version {version[:20]}; OpenAPI 3.0 and 3.1 are read. Convert it, as with swagger2openapi."
        )
    paths = document.get("paths")
    if not isinstance(paths, dict) or not paths:
        raise BadImport("The OpenAPI document has no paths.")
    reader = _Reader(document, _lists(paths))
    requests, broken = [], []
    for path, item in paths.items():
        item = reader.resolved(item)
        if not isinstance(item, dict):
            broken.append(f"The path {_shown(path)} is no object, or is not in the document")
            continue
        for method in METHODS:
            operation = reader.resolved(item.get(method))
            if isinstance(operation, dict):
                requests.append(reader.request(str(path), method, item, operation))
            elif method in item:
                broken.append(f"{method.upper()} {_shown(path)} is no object")
        if len(requests) > MOST_OPERATIONS:
            raise BadImport(
                f"The document has more than {MOST_OPERATIONS:,} operations; cut it down."
            )
    left_out = [f"Of the OpenAPI document: {some_of(broken)}"] if broken else []
    if not requests:
        told = [*left_out, *reader.outside()]
        raise BadImport(" ".join(["The OpenAPI document has no operations.", *told]))
    return Recording("OpenAPI", requests, left_out, reader.outside())


def _shown(path: Any) -> str:
    return plain(str(path))[:80]


def _lists(paths: Mapping[str, Any]) -> dict[str, str]:
    """Return where lists stand, by the begin of the operationId of what reads them: `remotes_file_file` of `…_list`."""
    lists: dict[str, str] = {}
    for path, item in paths.items():
        operation = item.get("get") if isinstance(item, dict) else None
        name = operation.get("operationId") if isinstance(operation, dict) else None
        if isinstance(name, str) and name.endswith(LIST) and "{" not in str(path):
            lists[name.removesuffix(LIST)] = str(path)
    return lists


class _Reader:
    """Makes requests of operations. lists: where lists stand, as `_lists` says."""

    def __init__(self, document: Mapping[str, Any], lists: Mapping[str, str]) -> None:
        self.document = document
        self.lists = lists
        self.places = Columns()
        self.others: dict[str, None] = {}
        self.hrefs: dict[str, str] = {}
        self.base = self._base()
        self.left_in_all = MOST_VALUES_IN_ALL
        self.left = 0

    def resolved(self, value: Any) -> Any:
        """Return what a value refers to, within the document; MISSING where that is not there."""
        for _ in range(MOST_REFERENCES):
            if not isinstance(value, dict) or not isinstance(value.get("$ref"), str):
                return value
            value = self._at(value["$ref"])
        return MISSING

    def request(
        self, path: str, method: str, item: Mapping[str, Any], operation: Mapping[str, Any]
    ) -> Recorded:
        """Return the request of an operation."""
        self.left = min(MOST_VALUES, self.left_in_all)
        self.left_in_all -= self.left
        path = plain(path)
        filled = Filled(self.places, path)
        lacking: list[str] = []
        query: list[str] = []
        headers: list[tuple[str, str]] = []
        for parameter in self._parameters(item, operation):
            name, where = str(parameter.get("name", "")), parameter.get("in")
            value = self._example(parameter)
            needed = bool(parameter.get("required")) or where == "path"
            if not needed:
                continue
            if where == "path":
                if filled.begins_with(name):
                    rest = path.removeprefix(f"{{{name}}}")
                    value = self._href(name, value, operation) + ("" if rest[:1] == "/" else "/")
                filled.fill(name, _scalar(self._made(parameter, value)))
            elif where == "query":
                text = quote(_text(self._made(parameter, value)), safe="")
                query.append(f"{quote(name, safe='[]')}={text}")
            elif where == "header" and name.lower() not in DULL_HEADERS:
                headers.append((name, _text(self._made(parameter, value))))
            else:
                continue
            lacking += [name] if value is MISSING else []
        filled.fill_the_rest()
        body, type_ = self._body(operation)
        self.left_in_all += max(0, self.left)
        basic, token = self._signed_in(operation)
        url = filled.url(self.base)
        return Recorded(
            method=method.upper(),
            url=url + (f"?{'&'.join(query)}" if query else ""),
            headers=headers,
            body=body,
            type=type_,
            status=self._status(operation),
            name=plain(str(operation.get("operationId") or operation.get("summary") or "")),
            why_not=_why_not(method, filled.needed, lacking),
            columns=filled.columns,
            basic=basic,
            needs_token=token,
        )

    def outside(self) -> list[str]:
        """Return a message about what the document refers to outside of itself; none where it does not."""
        if not self.others:
            return []
        first = next(iter(self.others))
        return [
            f"The document refers to {first[:80]}{' and others' if len(self.others) > 1 else ''}, outside itself, which is left "
            "out; bundle it into one file, as with redocly bundle."
        ]

    def _href(self, name: str, value: Any, operation: Mapping[str, Any]) -> str:
        """Return a value for a parameter that is a whole path, as in `{file_remote_href}tasks/`: that of a list, and a UUID."""
        text = _text(value) if value is not MISSING else ""
        if not text.startswith("/"):
            stem = str(operation.get("operationId") or "")
            while stem and stem not in self.lists:
                stem = stem.rpartition("_")[0]
            if stem:
                self.hrefs[name] = f"{self.lists[stem].rstrip('/')}/{OF_FORMATS['uuid']}"
            text = self.hrefs.get(name, "/text")
        return text.rstrip("/")

    def _parameters(
        self, item: Mapping[str, Any], operation: Mapping[str, Any]
    ) -> Iterator[Mapping[str, Any]]:
        """Yield the parameters of an operation, which replace those of its path."""
        found: dict[tuple[str, str], Mapping[str, Any]] = {}
        for listed in (item.get("parameters"), operation.get("parameters")):
            for each in listed if isinstance(listed, list) else ():
                parameter = self.resolved(each)
                if isinstance(parameter, dict):
                    found[str(parameter.get("name")), str(parameter.get("in"))] = parameter
        yield from found.values()

    def _example(self, parameter: Mapping[str, Any]) -> Any:
        """Return the value that a parameter or a body proposes; MISSING without one."""
        if "example" in parameter:
            return self._fitting(parameter["example"], parameter.get("schema"), 0)
        if isinstance(parameter.get("examples"), dict):
            for each in parameter["examples"].values():
                example = self.resolved(each)
                if isinstance(example, dict) and "value" in example:
                    return self._fitting(example["value"], parameter.get("schema"), 0)
        schema = self.resolved(parameter.get("schema"))
        if not isinstance(schema, dict):
            return MISSING
        value = self._proposed(schema)
        return value if value is MISSING else self._fitting(value, schema, 0)

    def _fitting(self, value: Any, schema: Any, depth: int) -> Any:
        """Return an example with a text wherever its schema wants one: a number of YAML as it was written."""
        schema = self.resolved(schema)
        self.left -= 1
        if not isinstance(schema, dict) or depth > MOST_DEPTH or self.left < 0:
            return value
        if schema.get("type") in ("string", ["string", "null"]):
            return as_written(value)
        properties = schema.get("properties")
        if isinstance(value, dict) and isinstance(properties, dict):
            return {
                key: self._fitting(inner, properties.get(key), depth + 1)
                for key, inner in value.items()
            }
        if isinstance(value, list) and "items" in schema:
            return [self._fitting(inner, schema["items"], depth + 1) for inner in value]
        return value

    @staticmethod
    def _proposed(schema: Mapping[str, Any]) -> Any:
        for name in ("example", "default", "const"):
            if name in schema:
                return schema[name]
        for name in ("examples", "enum"):
            if isinstance(schema.get(name), list) and schema[name]:
                return schema[name][0]
        return MISSING

    def _made(self, parameter: Mapping[str, Any], value: Any) -> Any:
        return self._of_schema(parameter.get("schema"), 0) if value is MISSING else value

    def _of_schema(self, schema: Any, depth: int) -> Any:
        """Return a value that fits a schema."""
        schema = self.resolved(schema)
        self.left -= 1
        if not isinstance(schema, dict) or depth > MOST_DEPTH or self.left < 0:
            return "text"
        if (value := self._proposed(schema)) is not MISSING:
            return self._fitting(value, schema, depth)
        for name in ("oneOf", "anyOf"):
            if isinstance(schema.get(name), list) and schema[name]:
                return self._of_schema(schema[name][0], depth + 1)
        if isinstance(schema.get("allOf"), list):
            parts = [self._of_schema(each, depth + 1) for each in schema["allOf"]]
            merged = {
                key: value
                for part in parts
                if isinstance(part, dict)
                for key, value in part.items()
            }
            return merged or (parts[0] if parts else "text")
        type_ = schema.get("type")
        if isinstance(type_, list):
            type_ = next((each for each in type_ if each != "null"), "string")
        if type_ == "object" or "properties" in schema:
            return self._object(schema, depth)
        if type_ == "array":
            return [self._of_schema(schema.get("items"), depth + 1)]
        if type_ in ("integer", "number"):
            least = schema.get("minimum")
            return least if isinstance(least, int | float) and not isinstance(least, bool) else 1
        if type_ == "boolean":
            return True
        return OF_FORMATS.get(str(schema.get("format")), "text")

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        """Return an object with its required properties, or all of them where none is required."""
        properties = schema.get("properties")
        if not isinstance(properties, dict):
            return {}
        required = schema.get("required")
        names = (
            [name for name in required if isinstance(name, str) and name in properties]
            if isinstance(required, list)
            else []
        )
        made = {}
        for name in names or list(properties)[:20]:
            inner = self.resolved(properties[name])
            if not (isinstance(inner, dict) and inner.get("readOnly")):
                made[str(name)] = self._of_schema(inner, depth + 1)
        return made

    def _body(self, operation: Mapping[str, Any]) -> tuple[str, str]:
        """Return body and content type of a request: JSON, else a form, else what comes first and has an example."""
        body = self.resolved(operation.get("requestBody"))
        content = body.get("content") if isinstance(body, dict) else None
        if not isinstance(content, dict):
            return "", ""
        types = sorted(
            content,
            key=lambda type_: (
                not re.search(r"[/+]json\b", str(type_)),
                "urlencoded" not in str(type_),
            ),
        )
        for type_ in types[:1]:
            media = self.resolved(content[type_])
            if not isinstance(media, dict):
                continue
            value = self._example(media)
            value = self._of_schema(media.get("schema"), 0) if value is MISSING else value
            if "urlencoded" in str(type_) and isinstance(value, dict):
                pairs = (
                    f"{quote(str(key), safe='')}={quote(_text(each), safe='')}"
                    for key, each in value.items()
                )
                return "&".join(pairs)[:MOST_LETTERS], str(type_)
            if isinstance(value, str) and not re.search(r"[/+]json\b", str(type_)):
                return plain(value)[:MOST_LETTERS], str(type_)
            return plain(as_json(value)[:MOST_LETTERS]), str(type_)
        return "", ""

    @staticmethod
    def _status(operation: Mapping[str, Any]) -> int:
        """Return the status of the first answer that is a success; 0 where none is named."""
        answers = operation.get("responses")
        known = [str(each) for each in answers] if isinstance(answers, dict) else []
        return next((int(each) for each in known if re.match(r"2\d\d\Z", each)), 0)

    def _signed_in(self, operation: Mapping[str, Any]) -> tuple[bool, str]:
        """Return whether an operation takes user and password, and else how it is signed in."""
        security = operation.get("security", self.document.get("security"))
        if not isinstance(security, list) or not security or {} in security:
            return False, ""
        schemes = self.resolved(self.document.get("components"))
        known = schemes.get("securitySchemes") if isinstance(schemes, dict) else None
        known = known if isinstance(known, dict) else {}
        others = []
        for option in security:
            for name in option if isinstance(option, dict) else ():
                scheme = self.resolved(known.get(name))
                if (
                    isinstance(scheme, dict)
                    and scheme.get("type") == "http"
                    and str(scheme.get("scheme")).lower() == "basic"
                ):
                    return True, ""
                others.append(str(name))
        return False, others[0][:40] if others else ""

    def _base(self) -> str:
        """Return the path at which the API begins, with its server where one is named."""
        servers = self.document.get("servers")
        first = servers[0] if isinstance(servers, list) and servers else {}
        url = str(first.get("url") or "") if isinstance(first, dict) else ""
        variables = first.get("variables") if isinstance(first, dict) else None
        if isinstance(variables, dict):
            url = re.sub(r"\{([^{}]*)\}", lambda found: _default(variables, found), url)
        try:
            parts = urlsplit(plain(url))
        except ValueError:
            raise BadImport(
                f"The first server of the OpenAPI document, {url[:80]}, is no URL."
            ) from None
        path = parts.path.strip("/")
        path = f"/{path}" if path else ""
        return (
            f"{parts.scheme}://{parts.netloc}{path}"
            if parts.scheme in ("http", "https") and parts.netloc
            else path
        )

    def _at(self, reference: str) -> Any:
        if not reference.startswith("#/"):
            self.others[plain(reference)] = None
            return MISSING
        value: Any = self.document
        for part in reference[2:].split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            value = value.get(key, MISSING) if isinstance(value, dict) else MISSING
        return value


def _why_not(method: str, in_path: list[str], lacking: list[str]) -> str:
    if method != "get":
        return CHANGES
    return needs([*in_path, *lacking])


def _default(variables: Mapping[str, Any], found: re.Match[str]) -> str:
    """Return the value of a variable of a server; it is no template itself."""
    variable = variables.get(found[1])
    return str(variable.get("default", "")) if isinstance(variable, dict) else found[0]


def _scalar(value: Any) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return plain_number(value)
    return value if isinstance(value, str | bool) else _text(value)


def _text(value: Any) -> str:
    value = as_written(value)
    return plain(value if isinstance(value, str) else as_json(value))[:MOST_LETTERS]
