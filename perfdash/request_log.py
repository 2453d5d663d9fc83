"""One line of the log for every web request, and an id that its other lines and its error page carry."""

import logging
import re
import secrets
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.core.signals import request_finished
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.utils.functional import LazyObject, empty

from campaigns.kit import log_context
from perfdash.logs import without_secrets

SANE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{7,63}")
QUIET = ("/static/", "/health", "/ready", "/metrics")

log = logging.getLogger("perfdash.requests")


def request_log(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware, the outermost one: nothing of the query is written, it may hold secrets.

    Frequent requests (polls, health checks, static files) are logged at DEBUG, where it
    succeeds.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        started = perf_counter_ns()
        identifier = _identifier(request)
        log_context.clear()
        log_context.add(request=identifier)
        response = get_response(request)
        response.headers["X-Request-ID"] = identifier
        _write(request, response, (perf_counter_ns() - started) / 1e6)
        return response

    return middleware


@receiver(request_finished)
def _forget(**kwargs: Any) -> None:
    """The thread goes on to something else; Django itself still wrote of errors until now."""
    log_context.clear()


def _identifier(request: HttpRequest) -> str:
    """Give the id that a proxy sent, where it is a plain word; else a new one."""
    sent = request.headers.get("X-Request-ID", "")
    return sent if SANE.fullmatch(sent) else secrets.token_hex(8)


def _write(request: HttpRequest, response: HttpResponse, milliseconds: float) -> None:
    path = without_secrets(request.path[:200])
    polled = "HX-Request" in request.headers and request.method == "GET"
    quiet = response.status_code < 400 and (polled or path.startswith(QUIET))
    user = _user(request)
    log.log(
        logging.DEBUG if quiet else logging.INFO,
        "%s %s %s in %.0f ms%s",
        request.method,
        path,
        response.status_code,
        milliseconds,
        f", user {user}" if user else "",
        extra={
            "method": request.method,
            "path": path,
            "status": response.status_code,
            "milliseconds": round(milliseconds, 1),
            "user": user,
        },
    )


def _user(request: HttpRequest) -> int | None:
    """Return the primary key of the user, if it is known without a query."""
    user = getattr(request, "user", None)
    if isinstance(user, LazyObject):
        user = None if user._wrapped is empty else user._wrapped
    return user.pk if isinstance(user, AbstractBaseUser) else None
