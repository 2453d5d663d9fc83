from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from kombu.transport.redis import Channel

from perfdash import celery
from perfdash.environment import NEEDED, REQUIRED, SIGNING


def test_a_worker_outlives_a_connection_that_is_closed_with_messages_that_nobody_has_begun():
    assert Channel.QoS is celery.RestoreWhereOpen
    closed: Any = object.__new__(Channel.QoS)
    closed.channel = SimpleNamespace(connection=SimpleNamespace(client=None))
    closed._delivered = {"tag": "message"}

    closed.restore_unacked()

    assert not closed._delivered


@pytest.mark.parametrize("queues", [["control"], ["measure", "control"], [], None])
@pytest.mark.parametrize("missing", ["SECRET_KEY", "PERFDASH_ENCRYPTION_KEYS"])
def test_a_worker_that_signs_links_and_hands_secrets_over_needs_the_keys(
    monkeypatch, queues, missing
):
    for name in (*REQUIRED, SIGNING):
        monkeypatch.setenv(name, "set")
    monkeypatch.delenv(missing, raising=False)

    with pytest.raises(ImproperlyConfigured, match=missing):
        celery._check_environment(options={"queues": queues})


@pytest.mark.parametrize("queues", [["measure"], ["generate", "berlin"], ["analysis"]])
def test_a_worker_that_does_neither_needs_no_key(monkeypatch, queues):
    for name in NEEDED:
        monkeypatch.setenv(name, "set")
    for name in ("SECRET_KEY", "PERFDASH_ENCRYPTION_KEYS"):
        monkeypatch.delenv(name, raising=False)

    celery._check_environment(options={"queues": queues})
