"""Compares answers with the OpenAPI document: status, media type and body."""

import json
import re
from functools import cache
from http import HTTPStatus

import jsonschema_rs
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from campaigns.kit.api.openapi import document

BASE = "urn:perfdash:openapi"
READS_JSON = re.compile(r"application/(\w+\+)?json$")


class NotAsDocumented(AssertionError):
    """An answer of which the OpenAPI document says something else."""


def require_documented(request: HttpRequest, response: HttpResponseBase) -> None:
    """Raise NotAsDocumented for an answer of the API that its document does not allow.

    Pages, addresses that lead nowhere and methods that there are not have no operation, and pass;
    so does a crash, which clients of tests raise themselves.
    """
    path = _path_of(request)
    if path is None or not path.startswith("/api/"):
        return
    method = str(request.method).lower()
    told_as = "get" if method == "head" else method
    told = document()["paths"].get(path, {}).get(told_as)
    if told is None or response.status_code == HTTPStatus.INTERNAL_SERVER_ERROR:
        return
    name, status = f"{request.method} {path}", str(response.status_code)
    answer = told["responses"].get(status)
    if answer is None:
        raise NotAsDocumented(f"{name} answers {status}, of which the document says nothing.")
    media_type = response.get("Content-Type", "").partition(";")[0]
    content = answer.get("content", {})
    body = b"" if response.streaming else response.content  # type: ignore[attr-defined]
    if method == "head" or not (content or response.streaming or body):
        return
    if media_type not in content:
        raise NotAsDocumented(f"{name} answers {status} as {media_type}, not as {list(content)}.")
    if response.streaming or not READS_JSON.fullmatch(media_type):
        return
    where = ("paths", path, told_as, "responses", status, "content", media_type)
    schema = validator("/".join(map(_escaped, (*where, "schema"))))
    for error in schema.iter_errors(json.loads(body)):
        place = "/".join(str(each) for each in error.instance_path)
        raise NotAsDocumented(f"{name} answers {status}, where “{place}”: {error.message}")


@cache
def validator(pointer: str) -> jsonschema_rs.Validator:
    """Compile the schema at a place of the document."""
    return jsonschema_rs.Draft202012Validator(
        {"$ref": f"{BASE}#/{pointer}"}, registry=_registry(), validate_formats=True
    )


@cache
def _registry() -> jsonschema_rs.Registry:
    return jsonschema_rs.Registry([(BASE, document())], draft=jsonschema_rs.Draft202012)


def _path_of(request: HttpRequest) -> str | None:
    found = request.resolver_match
    if found is None:
        return None
    named = re.sub(r"<\w+:(\w+)>", r"{\1}", found.route)
    return f"/{named}".replace("{pk}", "{id}")


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1").replace("{", "%7B").replace("}", "%7D")
