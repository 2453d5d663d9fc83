"""The program as people call it, in this process, on the real application with a real database."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections

from campaigns.accounts.access import make_token
from campaigns.models import Target
from campaigns.tests.findings.compute.conftest import paired, published
from campaigns.tests.people import somebody
from campaigns.tests.toy import target, toy, worker
from perfdash.wsgi import application
from perfdash_client import app, connection

__all__ = ["paired", "published", "target", "toy", "worker"]

URL = "http://testserver"
Handler = Callable[[httpx.Request], httpx.Response]


@dataclass
class Ran:
    """How a call ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """What it gave as JSON."""
        return json.loads(self.out)

    @property
    def words(self) -> str:
        """Everything that it printed, in one line."""
        return " ".join((self.out + self.err).split())


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for logins of its own, and nothing in the environment."""
    for name in ("URL", "TOKEN", "SERVER", "PATIENCE"):
        monkeypatch.delenv(f"PERFDASH_{name}", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


@pytest.fixture(autouse=True)
def one_connection() -> Iterator[None]:
    """Keep the test's own transaction: a server closes connections around each request."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture(autouse=True)
def rests(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds for which it would have rested before asking again; it does not."""
    rested: list[float] = []
    monkeypatch.setattr(connection, "sleep", rested.append)
    return rested


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Call the program. `answers`: what a server that is none answers, in the real one's stead."""

    def call(*arguments: object, answers: Handler | None = None) -> Ran:
        transport: httpx.BaseTransport = httpx.WSGITransport(application)
        if answers is not None:
            transport = httpx.MockTransport(answers)
        capfd.readouterr()
        code = app.main([str(argument) for argument in arguments], transport)
        out, err = capfd.readouterr()
        return Ran(code, out, err)

    return call


@pytest.fixture
def token(db: None) -> str:
    """A token that may do everything."""
    return make_token(somebody("owner"), "tests")[1]


@pytest.fixture
def perfdash(
    call: Callable[..., Ran], token: str, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Ran]:
    """Call the program with the environment of a CI job."""
    monkeypatch.setenv("PERFDASH_URL", URL)
    monkeypatch.setenv("PERFDASH_TOKEN", token)
    return call


@pytest.fixture
def sandbox_target(db: None, settings: Any) -> Target:
    """The target that comes with perfdash; nothing is asked of it."""
    settings.ALLOWED_ADDRESSES = "127.0.0.1:9"
    return Target.objects.create(
        name="sandbox", family="http", base_url="http://127.0.0.1:9", address="127.0.0.1:9"
    )


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], Path]:
    """Write a file."""

    def write(text: str | bytes, name: str = "definition.yaml") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write
