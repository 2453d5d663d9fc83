"""What a smart proxy publishes, and what nobody should follow."""

import json

import pytest

from campaigns.kinds.hosts.program.messages import BadMessage, Cancel, Start, read_message

PROXY = "https://proxy.example:9090"
JOB = "7c1f8a52-30dd-4d0d-9c3a-60a8f1c9d1aa"


def message(**changes):
    """Return a message as smart_proxy_remote_execution_ssh writes it; None leaves a name out."""
    metadata = {
        "event": "start",
        "job_uuid": JOB,
        "return_url": f"{PROXY}/ssh/jobs/{JOB}/update",
        "version": "v1",
        "effective_user": None,
    } | changes.pop("metadata", {})
    whole = {
        "type": "data",
        "message_id": "6ad1d4a4-7f1c-4d2a-9dd4-6a9cf9a3a0a5",
        "version": 1,
        "sent": "2026-11-21T09:00:00+00:00",
        "directive": "foreman",
        "content": f"{PROXY}/ssh/jobs/{JOB}",
        "metadata": metadata,
    } | changes
    return json.dumps({name: value for name, value in whole.items() if value is not None}).encode()


def test_a_start_names_script_and_updates():
    start = Start(JOB, f"/ssh/jobs/{JOB}", f"/ssh/jobs/{JOB}/update")

    assert read_message(message(), PROXY) == start
    assert read_message(message(), "https://PROXY.example:9090/") == start


def test_a_cancellation_names_what_is_fetched():
    told = message(
        content=f"{PROXY}/ssh/jobs/{JOB}/cancel", metadata={"event": "cancel", "return_url": None}
    )

    assert read_message(told, PROXY) == Cancel(JOB, f"/ssh/jobs/{JOB}/cancel")


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        (b"", "no JSON"),
        (b"\xff", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"[]", "no JSON object"),
        (message(type="control"), "directive foreman"),
        (message(directive="echo"), "directive foreman"),
        (message(metadata={"job_uuid": 5}), "names no job"),
        (message(metadata={"job_uuid": "../../etc"}), "names no job"),
        (message(metadata={"event": "format"}), "its event is 'format'"),
        (message(content=7), "no URL"),
        (message(content=None), "no URL"),
        (message(metadata={"return_url": None}), "no URL"),
        (message(content=f"http://proxy.example:9090/ssh/jobs/{JOB}"), "sends the host to http:"),
        (message(content=f"https://proxy.example/ssh/jobs/{JOB}"), "sends the host to https:"),
        (message(content="https://169.254.169.254/latest"), "sends the host to"),
        (message(content=f"https://u:p@proxy.example:9090/ssh/jobs/{JOB}"), "no URL"),
        (message(content=f"{PROXY}/ssh/ü"), "letters"),
        (message(content=f"{PROXY}/ssh/a\r\nHost: b"), "no URL"),
        (message(metadata={"return_url": "https://other.example:9090/x"}), "sends the host to"),
    ],
)
def test_what_is_no_message_of_the_proxy_is_refused(payload, words):
    with pytest.raises(BadMessage, match=words):
        read_message(payload, PROXY)


def test_a_message_without_metadata_is_refused():
    with pytest.raises(BadMessage, match="no metadata"):
        read_message(json.dumps({"type": "data", "directive": "foreman"}).encode(), PROXY)
