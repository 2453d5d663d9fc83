from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from kombu.transport.redis import Channel

from perfdash import celery
from perfdash.environment import REQUIRED


def test_a_worker_outlives_a_connection_that_is_closed_with_messages_that_nobody_has_begun():
    assert Channel.QoS is celery.RestoreWhereOpen
    closed: Any = object.__new__(Channel.QoS)
    closed.channel = SimpleNamespace(connection=SimpleNamespace(client=None))
    closed._delivered = {"tag": "message"}

    closed.restore_unacked()

    assert not closed._delivered


@pytest.mark.parametrize("queues", [["control"], ["measure", "control"]])
def test_a_worker_that_mails_signed_links_needs_the_key(monkeypatch, queues):
    monkeypatch.delenv("SECRET_KEY", raising=False)

    with pytest.raises(ImproperlyConfigured, match="SECRET_KEY"):
        celery._check_environment(options={"queues": queues})


@pytest.mark.parametrize("queues", [["measure"], ["generate"], ["analysis"]])
def test_a_worker_that_signs_nothing_needs_no_key(monkeypatch, queues):
    for name in REQUIRED:
        monkeypatch.setenv(name, "set")
    monkeypatch.delenv("SECRET_KEY", raising=False)

    celery._check_environment(options={"queues": queues})
