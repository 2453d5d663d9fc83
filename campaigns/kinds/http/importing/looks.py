"""What a file looks like that is none of the formats read here, with what to do. Pure."""

import re
from typing import Any

HEAD = 4096
PACKED = (
    (b"PK\x03\x04", "ZIP"),
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\xfd7zXZ", "xz"),
    (b"BZh", "bzip2"),
)
TEXTS = (
    (r"\s*(await\s+)?fetch\(", "It is a call of fetch: choose “Copy as cURL (bash)” in the browser."),
    (r"(?s).{0,2000}?(^|\s)(Invoke-WebRequest|Invoke-RestMethod|WebRequestSession)\b",
     "It is a command of PowerShell: choose “Copy as cURL (bash)” in the browser."),
    (r"\s*(\$\s*)?(wget|http|https|xh|httpie)\s+\S", "It is a command of another program than curl; write it with curl."),
    (r"(?s)\s*(<\?xml.{0,300}?)?<jmeterTestPlan", "It is a test plan of JMeter: record what it does as HAR."),
    (r"(?is)\s*(<!--.{0,300}?-->\s*)?<(!doctype\s+html|html)\b", "It is a page of HTML, as a sign-in or an error page: look at the address it was saved from."),
    (r"\s*<\?xml|\s*<[A-Za-z]", "It is XML, which is not read here."),
    (r"(?s).{0,2000}?\bfrom\s+['\"]k6(/http)?['\"]", "It is a script of k6: record what it does as HAR."),
    (r"(?s).{0,2000}?\bfrom\s+locust\s+import\b", "It is a file of Locust: record what it does as HAR."),
    (r"(?m)(\A|.*\n)[^,\n]{1,300},[0-9a-fA-F]{64},\d+\s*$", "It is a PULP_MANIFEST: give its address as the parameter manifest of the kind downloader, or as a feed."),
)  # fmt: skip
KNOWN_TEXTS = tuple((re.compile(pattern), sentence) for pattern, sentence in TEXTS)
DESCRIBES = re.compile(r"^['\"]?(openapi|swagger)['\"]?\s*:", re.MULTILINE)
"""A line of an OpenAPI document in YAML, whose examples may hold anything."""
OTHER = "It is none of the formats that are read here."


def describes(text: str) -> bool:
    """Return whether a text says that it is an OpenAPI document in YAML."""
    return bool(DESCRIBES.search(text))


def packing_of(data: bytes) -> str:
    """Return how a file is packed; empty where it is not."""
    return next((name for begin, name in PACKED if data.startswith(begin)), "")


def other_text(text: str) -> str:
    """Return what a text is that is neither curl, JSON nor YAML; empty where it may be one of these."""
    head = text[:HEAD]
    if "\0" in head:
        return "The file is no text."
    if head.lstrip()[:1] in ("{", "[") or describes(text):
        return ""
    return next((sentence for pattern, sentence in KNOWN_TEXTS if pattern.match(head)), "")


def other_document(value: Any) -> str:
    """Return what a document of JSON or YAML is that is no format read here."""
    if isinstance(value, list):
        return "It is a list, of which perfdash knows no format."
    if not isinstance(value, dict):
        return "It is a text, and no document."
    if "steps" in value:
        return "It is a scenario already: put it into the field of the scenario."
    info = value.get("info")
    if isinstance(info, dict) and ("_postman_id" in info or "postman" in str(info.get("schema"))):
        return "It is a collection of Postman: show the code of its requests as cURL, or convert the collection to OpenAPI 3."
    if value.get("_type") == "export" or str(value.get("type")).startswith("collection.insomnia"):
        return "It is an export of Insomnia: export it as HAR."
    if "asyncapi" in value:
        return "It is an AsyncAPI document, of messages and no requests."
    if "log" in value or "entries" in value:
        return "It looks like a HAR file, but has no log.entries: save it again with the browser's network panel."
    if "paths" in value:
        return "It looks like an OpenAPI document, but does not say its version (openapi: 3.0.3)."
    if "resources" in value or "docs" in value:
        return "It looks like the apidoc of a Foreman, but has no docs.resources with methods: save /apidoc/v2.json."
    if ("data" in value and "errors" in value) or "__schema" in str(list(value)[:3]):
        return "It is an answer of GraphQL, and no list of requests."
    return OTHER
