"""What is told of a task of Pulp that failed, from the errors of a real one."""

import json
from pathlib import Path

import pytest

from campaigns.kinds.servers.pulp_tasks import read_task

RECORDINGS = Path(__file__).parents[4] / "sandbox" / "pulp" / "recordings"


def task(error, state="failed"):
    return read_task(
        {"pulp_href": "/1/", "name": "sync", "state": state, "error": error, "progress_reports": [],
         "pulp_created": "2026-01-01T00:00:00Z", "started_at": None, "finished_at": None}
    )  # fmt: skip


def recorded(name):
    def errors(value):
        if isinstance(value, dict):
            if value.get("traceback"):
                yield value
            value = list(value.values())
        if isinstance(value, list):
            for each in value:
                yield from errors(each)

    return next(errors(json.loads((RECORDINGS / f"{name}.json").read_text())))


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("feed-file-corrupt", "raise DigestValidationError(actual_digest, expected_digest, url=self.url) "
         "in download/base.py, line 237"),
        ("feed-refuses", "raise client_error(req.connection_key, exc) from exc in aiohttp/connector.py, line 1345"),
        ("feed-file-missing", "raise ClientResponseError( in aiohttp/client_reqrep.py, line 842"),
    ],
)  # fmt: skip
def test_the_message_is_followed_by_the_end_of_the_traceback(name, end):
    error = recorded(name)

    text = task(error).failure_text

    assert text.startswith(error["description"].rstrip("."))
    assert text.endswith(f" (its traceback ends: {end})")


def test_an_error_without_a_message_is_told_by_its_traceback():
    error = {"description": "", "traceback": '  File "/a/tasks/syncing.py", line 7, in x\n    assert y\n'}  # fmt: skip

    assert task(error).failure_text == (
        "failed, without a message (its traceback ends: assert y in tasks/syncing.py, line 7)"
    )
    assert task(error).error_text == ""


def test_a_traceback_that_ends_with_its_message_repeats_nothing():
    error = {"description": "ValueError: no", "traceback": "Traceback\nValueError: no\n"}

    assert task(error).failure_text == "ValueError: no"
    assert task({"reason": "Worker has gone missing."}).failure_text == "Worker has gone missing."
    assert task(None, "canceled").failure_text == "canceled, without a message"
