from types import SimpleNamespace
from typing import Any

from kombu.transport.redis import Channel

from perfdash import celery


def test_a_worker_outlives_a_connection_that_is_closed_with_messages_that_nobody_has_begun():
    assert Channel.QoS is celery.RestoreWhereOpen
    closed: Any = object.__new__(Channel.QoS)
    closed.channel = SimpleNamespace(connection=SimpleNamespace(client=None))
    closed._delivered = {"tag": "message"}

    closed.restore_unacked()

    assert not closed._delivered
