"""How lines of the log are written: for a terminal, or as JSON. No secret leaves here.

Every line names what it belongs to: `request`, or `campaign`, `run` and `attempt`.
"""

import logging
import re
import time
from http import HTTPStatus
from typing import Any

from pythonjsonlogger.core import LogData
from pythonjsonlogger.json import JsonFormatter

from campaigns.kit import log_context
from campaigns.kit.redaction import redact
from perfdash.outages import is_database_away

DOORS = (
    "/sign-in/link/",
    "/sign-in/invitation/",
    "/public/",
    "/account/notifications/confirm/",
    "/hooks/",
)
"""Paths that contain a token, which must not be in the log: it opens something for anybody who has it."""
SECRETS = (
    (re.compile(rf"({'|'.join(DOORS)})[^/\s\"']+"), r"\1…"),
    (re.compile(r"(\w://)[^/\s@\"']*@"), r"\1…@"),  # name and password within a URL
    (re.compile(r"(?i)\b(bearer|token) [\w.~+/-]{16,}=*"), r"\1 …"),
)


def without_secrets(text: str) -> str:
    """Return the text without tokens and without secrets that this process has decrypted."""
    text = redact(text)
    for pattern, rest in SECRETS:
        text = pattern.sub(rest, text)
    return text


class Context(logging.Filter):
    """Notes on each record what its line belongs to."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Take all of them."""
        record.context = dict(log_context.current())
        return True


class BriefOutages(logging.Filter):
    """Drops tracebacks of web requests for which the database was away, or that were suspicious.

    The first would come with every poll of every open page, the second with every scan from outside.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Take all; make those short."""
        error = record.exc_info[1] if record.exc_info else None
        if record.name == "django.request" and is_database_away(error):
            record.msg = f"{record.getMessage()}: the database does not answer: {_first(error)}"
            record.args, record.exc_info, record.exc_text = (), None, None
        elif record.name.startswith("django.security."):
            record.exc_info, record.exc_text = None, None
        return True


class RefusedInput(logging.Filter):
    """Drops Django's warning of input that was refused with its reason: a slip needs nobody's look.

    `perfdash.requests` has a line of each request, with its status.
    """

    statuses = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.CONFLICT, HTTPStatus(422)})

    def filter(self, record: logging.LogRecord) -> bool:
        """Take all others."""
        refused = getattr(record, "status_code", None) in self.statuses
        return not (refused and record.name == "django.request")


class Line(logging.Formatter):
    """One line for people: instant in UTC, level, logger, message, and what it belongs to."""

    converter = staticmethod(time.gmtime)
    default_msec_format = "%s.%03dZ"

    def format(self, record: logging.LogRecord) -> str:
        """Write the message with its context at its end, and a traceback below."""
        return without_secrets(super().format(record))

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        """Write the first line."""
        line = super().formatMessage(record)
        context: dict[str, Any] = getattr(record, "context", {})
        text = " ".join(f"{name}={value}" for name, value in context.items())
        return f"{line} [{text}]" if text else line


class Json(JsonFormatter):
    """One JSON object a line, as collectors of logs read it."""

    converter = staticmethod(time.gmtime)

    def __init__(self) -> None:
        super().__init__(
            "{asctime}{levelname}{name}{message}",
            style="{",
            datefmt="%Y-%m-%dT%H:%M:%S",
            rename_fields={"asctime": "at", "levelname": "level", "name": "logger"},
            json_ensure_ascii=False,
        )

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802
        """Write the instant with milliseconds, in UTC."""
        return f"{super().formatTime(record, datefmt)}.{int(record.msecs):03d}Z"

    def process_log_record(self, log_data: LogData) -> LogData:
        """Format the context of a line after its message."""
        context = log_data.pop("context", {})
        log_data.pop("request", None)  # Django's own object
        return {
            name: without_secrets(value) if isinstance(value, str) else value
            for name, value in (log_data | context).items()
        }


def _first(error: BaseException | None) -> str:
    return (str(error).strip().splitlines() or [""])[0]
