"""Senders that are slow, many more than the web server has threads, keep nobody else from an answer."""

import http.client
import json
import socket
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest

pytestmark = pytest.mark.e2e

SLOW = 24


def test_who_sends_slowly_keeps_nobody_from_an_answer(perfdash):
    assert perfdash.api("GET", "whoami")["user"]
    address = urlsplit(perfdash.state["base_url"])
    body = json.dumps({"question": "Is it slow?"}).encode()
    head = (
        f"POST /api/v1/campaigns HTTP/1.1\r\nHost: {address.netloc}\r\n"
        f"Authorization: Bearer {perfdash.token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()
    with ExitStack() as stack:
        slow = [
            stack.enter_context(
                socket.create_connection((address.hostname, address.port), timeout=60)
            )
            for _ in range(SLOW)
        ]
        for connection in slow:
            connection.sendall(head + body[:5])

        assert perfdash.api("GET", "whoami")["user"]

        for connection in slow:
            connection.sendall(body[5:])
        for connection in slow:
            response = http.client.HTTPResponse(connection)
            response.begin()
            assert response.status == 400  # it names no kind
            assert "kind" in response.read().decode()


def test_a_body_in_chunks_is_read(perfdash):
    perfdash.api("GET", "whoami")
    address = urlsplit(perfdash.state["base_url"])
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
    body = json.dumps({"question": "Is it read?"}).encode()
    headers = {
        "Authorization": f"Bearer {perfdash.token}",
        "Content-Type": "application/json",
    }

    connection.request("POST", "/api/v1/campaigns", iter([body[:9], body[9:]]), headers)

    answer = connection.getresponse()
    problem = answer.read().decode()
    assert answer.status == 400
    assert '"kind"' in problem
    assert "question" not in problem  # it was read
    connection.close()
