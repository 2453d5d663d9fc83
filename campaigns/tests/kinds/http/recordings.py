"""Recorded requests that several tests import: a sign-in at a small API, its document, and a HAR file of it."""

import json

PASSWORD, TOKEN, SESSION, KEY = (
    "battery-horse-staple",
    "t0k3n-of-that-session",
    "9f8e7d6c5b4a39281706",
    "key-0123456789-abc",
)
URL = "https://api.example.org"


def entry(
    method,
    path,
    *,
    url=URL,
    status=200,
    headers=(),
    body=None,
    type_="application/json",
    answer=None,
    sets=(),
    kind="xhr",
    second=0,
):
    """Give an entry of a HAR file."""
    text = answer if isinstance(answer, str) else "" if answer is None else json.dumps(answer)
    request = {
        "method": method,
        "url": url + path,
        "headers": [{"name": n, "value": v} for n, v in headers],
    }
    if body is not None:
        request["postData"] = {
            "mimeType": type_,
            "text": body if isinstance(body, str) else json.dumps(body),
        }
    content = {
        "mimeType": "text/html" if isinstance(answer, str) else "application/json",
        "text": text,
    }
    return {
        "startedDateTime": f"2026-01-01T10:00:{second:02}.000Z",
        "time": 100,
        "_resourceType": kind,
        "request": request,
        "response": {
            "status": status,
            "headers": [{"name": n, "value": v} for n, v in sets],
            "content": content,
        },
    }


def har(*entries):
    """Give a HAR file."""
    return json.dumps({"log": {"version": "1.2", "entries": list(entries)}}).encode()


SIGNED = [
    ("Accept", "application/json"),
    ("Authorization", f"Bearer {TOKEN}"),
    ("Cookie", f"sid={SESSION}; seen=yes"),
]
SIGN_IN = har(
    entry("GET", "/sign-in", answer='<input name="csrf" value="c5rf-0123456789abcdef">', headers=[("User-Agent", "Mozilla/5.0")]),
    entry("GET", "/app.css", kind="stylesheet"),
    entry("GET", "/pixel.gif", url="https://tracker.example.net", kind="image"),
    entry(
        "POST", "/sign-in", second=2,
        type_="application/x-www-form-urlencoded", body=f"user=anna&password={PASSWORD}&csrf=c5rf-0123456789abcdef",
        answer={"token": TOKEN, "me": "/people/anna-12345/"}, sets=[("Set-Cookie", f"sid={SESSION}; Path=/; HttpOnly")],
    ),
    entry("GET", "/items/?limit=10", headers=[*SIGNED, ("X-Api-Key", KEY)], second=5,
          answer={"count": 1, "results": [{"href": f"{URL}/items/0189-aaaa-bbbb/", "id": 12345678}]}),
    entry("PATCH", "/items/0189-aaaa-bbbb/?soft=1", headers=SIGNED, status=202, second=6,
          body={"owner": 12345678, "note": "{x} and {{y}}", "again": PASSWORD}),
    entry("HEAD", "/items/", headers=SIGNED),
    entry("GET", "/gone/", status=0),
)  # fmt: skip
"""A browser's file: a form with a hidden token, a sign-in, and a change of what a list named."""
SECRETS = (PASSWORD, TOKEN, SESSION, KEY, "c5rf-0123456789abcdef")

OPENAPI = """\
openapi: 3.1.0
info: {title: Items, version: '1'}
servers: [{url: 'https://{where}.example.org/v1/', variables: {where: {default: api}}}]
security: [{basic: []}]
components:
  securitySchemes: {basic: {type: http, scheme: basic}, key: {type: apiKey, in: header, name: X-Key}}
  schemas:
    Item:
      type: object
      required: [name, parent]
      properties:
        name: {type: string, examples: [a name]}
        parent: {$ref: '#/components/schemas/Item'}
        id: {type: integer, readOnly: true}
paths:
  /items/:
    get:
      operationId: list items
      parameters: [{name: limit, in: query, schema: {type: integer, default: 10}}]
      responses: {'200': {description: all}}
    post:
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Item'}}}}
      responses: {'201': {description: made}}
  /items/{item-id}/:
    parameters: [{name: item-id, in: path, required: true, schema: {type: string, format: uuid}}]
    get: {security: [{key: []}], responses: {default: {description: one}}}
"""
