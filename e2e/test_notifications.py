"""A worker that is killed in the middle of a delivery: the message comes again, with the same id."""

import json
import os
import signal

import psutil
import pytest

from campaigns.tests.accounts.notifications.receiver import receiving
from e2e.conftest import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]
STATES = "SELECT state, tries FROM campaigns_delivery WHERE channel_id = %s ORDER BY id"
LET_THE_CLAIM_LAPSE = "UPDATE campaigns_delivery SET claimed_until = now() - interval '1 s' WHERE channel_id = %s RETURNING id"


@pytest.fixture
def receiver():
    with receiving() as started:
        yield started


@pytest.fixture
def channel(perfdash, receiver):
    """A channel to the receiver, which is told of nothing that happens."""
    sent = {"name": "hook", "kind": "webhook", "address": receiver.url, "kinds": []}
    made = perfdash.api("POST", "notifications/channels", sent)
    yield made
    perfdash.api("PATCH", f"notifications/channels/{made['id']}", {"is_on": False})


def test_a_message_outlives_the_worker_that_was_killed_while_it_was_sent(
    perfdash, receiver, channel
):
    key = channel["id"]
    receiver.hang = 8.0
    perfdash.api("POST", f"notifications/channels/{key}/trial")
    receiver.wait(1, 30)

    control = psutil.Process(perfdash.state["services"]["control"])
    for process in [*control.children(recursive=True), control]:
        os.kill(process.pid, signal.SIGKILL)
    receiver.hang = 0.0
    assert perfdash.rows(STATES, key) == [("waiting", 1)]
    perfdash.rows(LET_THE_CLAIM_LAPSE, key)

    receiver.wait(2, 60)
    wait_for(lambda: perfdash.rows(STATES, key) == [("delivered", 2)], "its note", 30)
    first, second = receiver.got[:2]
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body
    assert json.loads(first.body)["type"] == "trial"
    log = perfdash.log.read_text()
    assert "of-a-secret-path" not in log
    assert channel["secret"] not in log
