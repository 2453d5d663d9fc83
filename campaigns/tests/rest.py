import json
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client

from campaigns.accounts.access import make_token
from campaigns.kit import rates
from campaigns.tests.people import somebody
from campaigns.tests.toy import definition, target, toy, worker

__all__ = ["target", "toy", "worker"]


class ApiClient:
    """Sends JSON with a token; gives (status, body). Errors have to be problem+json."""

    def __init__(self, token: str) -> None:
        self.client = Client(headers={"Authorization": f"Bearer {token}"})

    def get(self, path: str, **query: Any) -> tuple[int, Any]:
        return self._read(self.client.get(f"/api/v1/{path}", query))

    def post(self, path: str, body: Any = None) -> tuple[int, Any]:
        return self._send("post", path, body)

    def put(self, path: str, body: Any) -> tuple[int, Any]:
        return self._send("put", path, body)

    def patch(self, path: str, body: Any) -> tuple[int, Any]:
        return self._send("patch", path, body)

    def delete(self, path: str) -> tuple[int, Any]:
        return self._send("delete", path, None)

    def _send(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        send = getattr(self.client, method)
        sent = "" if body is None else body
        return self._read(send(f"/api/v1/{path}", sent, content_type="application/json"))

    def _read(self, response: Any) -> tuple[int, Any]:
        if response.status_code >= 400:
            assert response["Content-Type"] == "application/problem+json"
            assert response.json()["status"] == response.status_code
        return response.status_code, response.json() if response.content else None


@pytest.fixture(autouse=True)
def own_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has used up what a token with this number, or this machine, may ask."""
    monkeypatch.setattr(rates, "PREFIX", f"test:{uuid4()}:")


@pytest.fixture
def owner(db: None) -> User:
    return somebody("owner")


@pytest.fixture
def token(owner: User) -> str:
    return make_token(owner, "tests")[1]


@pytest.fixture
def api(token: str) -> ApiClient:
    return ApiClient(token)


@pytest.fixture
def draft(api: ApiClient, target: Any) -> int:
    """Primary key of a stored draft of 6 runs."""
    status, body = api.post("campaigns", definition(target=target.pk))
    assert status == 201, body
    return int(body["id"])


@pytest.fixture
def send(client, owner):
    def sending(data, path="submissions", **headers):
        body = data if isinstance(data, bytes) else json.dumps(data).encode()
        client.force_login(owner)
        return client.post(
            f"/api/v1/{path}", body, content_type="application/json", headers=headers
        )

    return sending
