"""The OpenAPI document, and the page that lets people read and try it."""

from functools import cache
from hashlib import sha256

import yaml
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET
from drf_spectacular.types import OpenApiTypes
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from campaigns.kit.api.inputs import NoQuery
from campaigns.kit.api.openapi import document, operation
from campaigns.kit.api.views import Api
from campaigns.kit.rights import for_everybody
from perfdash.headers import CONTENT_SECURITY_POLICY

TAG = "documents"
YAML = "application/yaml"
POLICY = CONTENT_SECURITY_POLICY.replace("img-src 'self'", "img-src 'self' data:")
"""The page's own styles hold small pictures."""


class OpenApi(Api):
    """GET: the document as JSON."""

    @operation("get_openapi", TAG, answer=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> HttpResponse:
        """Return this document as JSON."""
        self.read_query(NoQuery)
        return served(as_json(), "application/json")


class OpenApiYaml(Api):
    """GET: the document as YAML."""

    @operation("get_openapi_yaml", TAG, answer=OpenApiTypes.OBJECT, media_type=YAML)
    def get(self, request: Request) -> HttpResponse:
        """Return this document as YAML."""
        self.read_query(NoQuery)
        return served(as_yaml(), YAML)


def served(content: bytes, media_type: str) -> HttpResponse:
    """Answer with a document and the ETag of its content."""
    tag = f'"{sha256(content).hexdigest()[:32]}"'
    return HttpResponse(content, content_type=media_type, headers={"ETag": tag})


@cache
def as_json() -> bytes:
    """Render the document as JSON. Made once, as the document is."""
    rendered: bytes = JSONRenderer().render(document())
    return rendered


@cache
def as_yaml() -> bytes:
    """Render the document as YAML. Made once, as the document is; libyaml does it in a tenth of the time."""
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    rendered: bytes = yaml.dump(
        document(), Dumper=dumper, sort_keys=False, allow_unicode=True, encoding="utf-8"
    )
    return rendered


@require_GET
@for_everybody
def docs(request: HttpRequest) -> HttpResponse:
    """A page of the OpenAPI document, to read and to try."""
    response = render(request, "overview/api_docs.html")
    response.headers["Content-Security-Policy"] = POLICY
    return response
