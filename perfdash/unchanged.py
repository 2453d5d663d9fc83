"""Answer 304 where a page is what the browser has already."""

import hashlib
import re

from django.http.request import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.http import ConditionalGetMiddleware
from django.utils.http import quote_etag

MASKED = re.compile(rb'(X-CSRFToken": "|name="csrfmiddlewaretoken" value=")[A-Za-z0-9]{64}(?=")')
"""Where a page has the token of its forms, which is masked anew in each answer; text of people has no bare quotes."""


class UnchangedPages(ConditionalGetMiddleware):
    """Django's middleware, with an ETag of pages that only changes with what they show.

    It is a hash of the whole page, so it changes with whatever somebody sees: threads, the number at the inbox, rights,
    messages, the version. Of the tokens of forms it has the secret behind the mask instead: one that a browser kept is
    valid as long as that is the same.
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Set the ETag of a page, and leave the comparison to Django."""
        if (
            request.method == "GET"
            and response.status_code == 200
            and not response.streaming
            and response.get("Content-Type", "").startswith("text/html")
            and self.needs_etag(response)
            and not response.has_header("ETag")
        ):
            content = MASKED.sub(rb"\1", response.content)  # type: ignore[attr-defined]
            digest = hashlib.blake2b(content, digest_size=16)
            digest.update(request.META.get("CSRF_COOKIE", "").encode())
            response.headers["ETag"] = quote_etag(digest.hexdigest())
            response.headers.setdefault("Cache-Control", "private, no-cache")
        return super().process_response(request, response)
