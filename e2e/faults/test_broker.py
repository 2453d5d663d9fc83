"""A broker that forgets everything, and one that delivers everything again."""

from time import sleep

import pytest
import redis
from celery import Celery

from e2e.conftest import wait_for
from e2e.faults import processes
from e2e.faults.load import again_and_again
from perfdash.addresses import redis_url

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1800)]

TASK = "campaigns.execute_attempt"


@pytest.fixture
def broker(plant):
    client = redis.Redis.from_url(redis_url(plant.environment_of_commands["BROKER_URL"]))
    yield client
    client.close()


@pytest.fixture
def sender(plant):
    app = Celery(broker=plant.environment_of_commands["BROKER_URL"], set_as_current=False)
    yield app
    app.close()


@pytest.mark.nightly
def test_the_broker_is_emptied_again_and_again(load, broker, rounds):
    def fault(attempt):
        for _ in range(20):
            broker.flushall()
            sleep(0.05)

    again_and_again(load, rounds, fault)


def test_messages_are_delivered_again(load, sender, rounds):
    """Those of ended attempts, of the one that runs, and of the next one before it is queued."""

    def fault(attempt):
        ended = sorted(load.accepted())[-3:]
        for pk in [*ended, attempt, attempt + 1, attempt + 2] * 3:
            sender.send_task(TASK, args=[pk], queue="measure", ignore_result=True)

    again_and_again(load, rounds, fault)


@pytest.mark.nightly
def test_a_message_that_waits_is_doubled(plant, load, broker, sender, rounds):
    """Copied byte by byte: the one that waits, and those of earlier rounds.

    It is sent here, since the runs of a campaign follow each other without messages.
    """
    kept = []

    def fault(attempt):
        def waits():
            sender.send_task(TASK, args=[attempt], queue="measure", ignore_result=True)
            return broker.lindex("measure", 0)

        (parent,) = processes.worker(plant.pid)
        parent.suspend()
        try:
            kept.append(wait_for(waits, "a message that waits", 30))
            broker.lpush("measure", *(kept[-5:] * 3))
        finally:
            parent.resume()

    again_and_again(load, rounds, fault)
