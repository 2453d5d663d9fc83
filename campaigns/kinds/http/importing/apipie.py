"""Read the documents of Apipie, as Foreman and Katello serve them at /apidoc/v2.json: a request for each address of a method. Pure."""

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import msgspec

from campaigns.kinds.http.importing.columns import Columns, Filled
from campaigns.kinds.http.importing.recorded import BadImport, Recorded, Recording, needs, some_of
from campaigns.kinds.http.importing.recorded import without_marks as plain

MOST_OPERATIONS = 5000
MOST_DEPTH = 5
CHANGES = "it changes something"
DEPRECATED = "deprecated"
SIGNED_IN = ("foreman", "katello", "satellite")
"""Names of documents whose API takes user and password; Apipie itself does not say it."""
VARIABLE = re.compile(r":([A-Za-z_][A-Za-z0-9_]*)")
OPTIONAL = re.compile(r"\([^()]*\)")
"""Parts of an address that may be left out, such as (.:format)."""
CHOICES = re.compile(r"<code>([^<]*)</code>")
MISSING = object()


def is_apipie(value: Any) -> bool:
    """Return whether a document of JSON describes an API by resources and their methods."""
    resources = _resources(value)
    return any(isinstance(each, dict) and "methods" in each for each in resources.values())


def read_apipie(value: Mapping[str, Any]) -> Recording:
    """Return a request for each address of each method. Raise BadImport."""
    docs = value["docs"] if isinstance(value.get("docs"), dict) else value
    basic = any(name in str(docs.get("name")).lower() for name in SIGNED_IN)
    places = Columns()
    requests: list[Recorded] = []
    broken: list[str] = []
    for resource, described in _resources(value).items():
        methods = described.get("methods") if isinstance(described, dict) else None
        if not isinstance(methods, list):
            broken.append(f"The resource {plain(str(resource))[:60]} has no list of methods")
            continue
        for number, method in enumerate(methods, start=1):
            try:
                requests += _requests(str(resource), method, places, basic=basic)
            except (KeyError, TypeError, AttributeError, ValueError) as error:
                what = (
                    f"{error} is missing" if isinstance(error, KeyError) else "it has another form"
                )
                broken.append(
                    f"Method {number:,} of {plain(str(resource))[:60]} cannot be read ({what})"
                )
        if len(requests) > MOST_OPERATIONS:
            raise BadImport(
                f"The document has more than {MOST_OPERATIONS:,} addresses; cut it down."
            )
    left_out = [f"Of the apidoc: {some_of(broken)}"] if broken else []
    if not requests:
        raise BadImport(" ".join(["The apidoc has no method with an address.", *left_out]))
    return Recording("apipie", requests, left_out)


def _resources(value: Any) -> Mapping[str, Any]:
    docs = value.get("docs", value) if isinstance(value, dict) else None
    resources = docs.get("resources") if isinstance(docs, dict) else None
    if isinstance(resources, list):  # of one resource, as at /apidoc/v2/hosts.json
        return {_name_of(each, number): each for number, each in enumerate(resources, start=1)}
    return resources if isinstance(resources, dict) else {}


def _name_of(resource: Any, number: int) -> str:
    """Return the name of a listed resource: the end of its address."""
    address = str(resource.get("doc_url") or "") if isinstance(resource, dict) else ""
    return address.rpartition("/")[2] or f"resource {number}"


def _requests(
    resource: str, method: Mapping[str, Any], places: Columns, *, basic: bool
) -> Iterator[Recorded]:
    """Yield the requests of a method, one for each of its addresses."""
    listed = method.get("params")
    parameters = [each for each in listed or () if isinstance(each, dict)]
    for api in method["apis"]:
        verb = str(api["http_method"]).upper()
        filled = Filled(places, _template(str(api["api_url"])))
        required = [each for each in parameters if each.get("required")]
        for name in filled.parameters():
            described = next((each for each in parameters if each.get("name") == name), {})
            filled.fill(name, _scalar(_value(described, 0)))
        others = [each for each in required if str(each.get("name")) not in filled.needed]
        query, body = "", ""
        if verb == "GET" and others:
            pairs = ((plain(str(each["name"])), _value(each, 0)) for each in others)
            query = f"?{_urlencoded(pairs)}"
        elif verb not in ("GET", "HEAD", "DELETE"):
            body = msgspec.json.encode(
                {plain(str(each["name"])): _value(each, 0) for each in others}
            ).decode()
        yield Recorded(
            method=verb,
            url=filled.url("") + query,
            body=body,
            type="application/json" if body else "",
            name=plain(f"{resource} {method.get('name') or ''}").strip(),
            why_not=_why_not(
                verb, method, api, [*filled.needed, *(str(each["name"]) for each in others)]
            ),
            columns=filled.columns,
            basic=basic,
        )


def _template(address: str) -> str:
    """Return an address with its variables in braces: `/api/hosts/:id` is `/api/hosts/{id}`."""
    path = OPTIONAL.sub("", plain(address).replace("{", "").replace("}", "")).partition("?")[0]
    return "/" + VARIABLE.sub(r"{\1}", path.strip()).lstrip("/")


def _why_not(
    verb: str, method: Mapping[str, Any], api: Mapping[str, Any], needed: Sequence[str]
) -> str:
    if verb != "GET":
        return CHANGES
    if method.get("deprecated") or api.get("deprecated"):
        return DEPRECATED
    return needs(map(plain, needed))


def _value(parameter: Mapping[str, Any], depth: int) -> Any:
    """Return a value that a parameter takes, as far as its description says."""
    if (given := parameter.get("default_value", MISSING)) not in (MISSING, None, ""):
        return given
    type_ = str(parameter.get("expected_type") or "string")
    inner = parameter.get("params")
    if type_ in ("hash", "array") and depth < MOST_DEPTH:
        fields = {
            plain(str(each["name"])): _value(each, depth + 1)
            for each in (inner if isinstance(inner, list) else ())
            if isinstance(each, dict) and each.get("required") and "name" in each
        }
        return fields if type_ == "hash" else [fields] if fields else []
    if type_ == "boolean":
        return True
    if type_ in ("numeric", "integer", "decimal"):
        return 1
    validator = str(parameter.get("validator") or "")
    choices = CHOICES.findall(validator) if "one of" in validator else []
    return html.unescape(choices[0]) if choices else "text"


def _scalar(value: Any) -> Any:
    return value if isinstance(value, str | int | float) else "text"


def _urlencoded(pairs: Iterable[tuple[str, Any]]) -> str:
    texts = (
        (name, value if isinstance(value, str) else msgspec.json.encode(value).decode())
        for name, value in pairs
    )
    return "&".join(f"{quote(name, safe='[]')}={quote(text, safe='')}" for name, text in texts)
