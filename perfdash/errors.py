"""Answers to what went wrong: in the site's look, as problem+json, or one sentence for a part of a page.

They need no database, and reveal no internals; the request's id leads to the log.
"""

import sys
from collections.abc import Callable
from http import HTTPStatus

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string

from campaigns.kit import log_context
from campaigns.kit.rights import NotAllowed
from perfdash.outages import is_database_away

RETRY_SECONDS = 5
SENTENCES = {
    400: "The request could not be read. Nothing was changed.",
    403: "This is not allowed.",
    404: "There is nothing here.",
    411: "The length of the body is missing. Nothing was changed.",
    405: "This address does not accept this kind of request.",
    500: "Internal error in perfdash; running campaigns continue. See the log of the web server.",
    503: f"The database is not responding; running campaigns continue. Try again in {RETRY_SECONDS} s.",
}
Handler = Callable[[HttpRequest], HttpResponse]


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 400, or 413 where it was too much."""
    return answer(request, 413 if isinstance(exception, RequestDataTooBig) else 400)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 403, with which role it takes and who gives it where that is what was missing."""
    return answer(request, 403, str(exception) if isinstance(exception, NotAllowed) else "")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 404."""
    return answer(request, 404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 500, or 503 where the database is away: Django calls this while it handles the error."""
    return answer(request, 503 if is_database_away(sys.exc_info()[1]) else 500)


def answer(request: HttpRequest, status: int, sentence: str = "") -> HttpResponse:
    """Return the error as a page or problem+json, whichever the client reads; `sentence`: a further sentence."""
    if request.path.startswith("/api/"):
        response: HttpResponse = _problem(status, sentence or _sentence(request, status))
    elif "HX-Request" in request.headers:
        response = HttpResponse(
            sentence or _sentence(request, status), status=status, content_type="text/plain"
        )
    else:
        # Without the request no context is processed: nobody is looked up in a database.
        wanted = request if status in (403, 404) else None
        page = render_to_string(f"{status}.html", {"sentence": sentence}, request=wanted)
        response = HttpResponse(page, status=status)
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        response.headers["Retry-After"] = str(RETRY_SECONDS)
    response.headers["Cache-Control"] = "no-store"
    return response


def error_answers(get_response: Handler) -> Handler:
    """Middleware: refuse bodies that are too large, or have no length, unread; add a body to empty 405 answers.

    `receiving` gives chunked bodies a length. Behind another server, Django would take one for empty.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        if "HTTP_TRANSFER_ENCODING" in request.META and not request.META.get("CONTENT_LENGTH"):
            return answer(request, 411)
        if _length(request) > most_bytes(request.path):
            return answer(request, 413)
        response = get_response(request)
        if response.status_code == HTTPStatus.METHOD_NOT_ALLOWED and not response.content:
            worded = answer(request, 405)
            worded.headers["Allow"] = response.headers["Allow"]
            return worded
        return response

    return middleware


def most_bytes(path: str) -> int:
    """Bytes that a body sent to this address may have."""
    larger = (most for address, most in settings.LARGE_BODIES if address.fullmatch(path))
    return max(larger, default=settings.MOST_BYTES)


def _length(request: HttpRequest) -> int:
    """Bytes of the body as announced; Django reads no more, and none where nothing is announced."""
    announced = request.META.get("CONTENT_LENGTH") or "0"
    return int(announced) if announced.isdecimal() else 0


def _sentence(request: HttpRequest, status: int) -> str:
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return (
            f"What was sent is larger than {most_bytes(request.path):,} bytes. Nothing was changed."
        )
    return SENTENCES[status]


def _problem(status: int, sentence: str) -> JsonResponse:
    body = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": sentence,
        "request": log_context.current().get("request", ""),
    }
    return JsonResponse(body, status=status, content_type="application/problem+json")
