import json
import logging
import os
import subprocess
import sys

import pytest

from campaigns.kit import log_context, redaction
from perfdash.logs import Context, Json, Line, RefusedInput, without_secrets


@pytest.fixture(autouse=True)
def _no_context():
    log_context.clear()
    yield
    log_context.clear()


def record(message, *arguments, extra=None, exc_info=None):
    made = logging.getLogger("somebody").makeRecord(
        "somebody", logging.WARNING, __file__, 1, message, arguments, exc_info, extra=extra
    )
    Context().filter(made)
    return made


def raised(message):
    """What is known of an exception with its traceback."""
    try:
        raise ValueError(message)  # noqa: TRY301
    except ValueError:
        return sys.exc_info()


LINE = Line("{asctime} {levelname} {name}: {message}", style="{")


def test_a_line_ends_with_what_it_belongs_to():
    log_context.add(campaign=3, run=12, attempt=40)

    line = LINE.format(record("%s waits", "it"))

    assert line.endswith("Z WARNING somebody: it waits [campaign=3 run=12 attempt=40]")


def test_a_line_that_belongs_to_nothing_has_no_brackets():
    assert LINE.format(record("hello")).endswith("somebody: hello")


@pytest.mark.parametrize(
    ("name", "status", "written"),
    [
        ("django.request", 422, False),
        ("django.request", 400, False),
        ("django.request", 409, False),
        ("django.request", 404, True),
        ("django.request", 500, True),
        ("django.security.csrf", 400, True),
        ("somebody", None, True),
    ],
)
def test_input_that_was_refused_is_no_warning(name, status, written):
    made = logging.LogRecord(name, logging.WARNING, __file__, 1, "Unprocessable", (), None)
    if status is not None:
        made.status_code = status

    assert RefusedInput().filter(made) is written


def test_json_has_a_field_for_each():
    log_context.add(request="abcdefgh")

    made = json.loads(Json().format(record("hello", extra={"status": 200, "request": object()})))

    assert made["message"] == "hello"
    assert made["level"] == "WARNING"
    assert made["logger"] == "somebody"
    assert made["status"] == 200
    assert made["request"] == "abcdefgh"
    assert made["at"].endswith("Z")


def test_json_keeps_a_traceback_on_one_line():
    line = Json().format(record("oh", exc_info=raised("of\ntwo lines")))

    assert "\n" not in line
    assert "two lines" in json.loads(line)["exc_info"]


@pytest.mark.parametrize("formatter", [LINE, Json()])
@pytest.mark.parametrize(
    "secret",
    [
        "GET /sign-in/link/PLANTED/ 403",
        "connection to postgresql://perfdash:PLANTED@db:5432/x failed",
        "redis://:PLANTED@host/0",
        "Authorization: Bearer PLANTEDPLANTEDPLANTED",
    ],
)
def test_no_line_has_a_secret(formatter, secret):
    line = formatter.format(record("%s", secret, exc_info=raised(secret)))

    assert "PLANTED" not in line


def test_what_only_looks_like_a_secret_stays():
    text = "Look at https://pulp.example/api@v3 and ask a bearer of news."

    assert without_secrets(text) == text


def test_lines_belong_to_known_things_only():
    with pytest.raises(ValueError, match="password is none of them"):
        log_context.add(password="x")  # noqa: S106


@pytest.mark.system
@pytest.mark.slow
def test_workers_write_as_the_settings_say():
    code = (
        "import logging; from perfdash.celery import app; import django; django.setup(); "
        "app.log.setup(loglevel='ERROR'); logging.getLogger('campaigns').info('of a worker')"
    )
    environment = os.environ | {"LOG_FORMAT": "json", "LOG_LEVEL": "INFO"}

    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True)

    assert json.loads(done.stderr.splitlines()[-1])["message"] == "of a worker"


def test_a_secret_that_was_opened_is_in_neither_message_nor_traceback():
    secret = "hunter22 of the log"  # noqa: S105
    redaction.remember(secret)
    result = record("Refused: %s", secret, exc_info=raised(f"it was {secret}"))

    line, coded = LINE.format(result), Json().format(result)

    assert "Refused: [secret]" in line
    assert "ValueError: it was [secret]" in line
    assert secret not in line + coded
    assert "Refused: [secret]" in coded
