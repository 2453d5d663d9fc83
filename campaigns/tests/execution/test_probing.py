"""Silent targets hold nobody up: they are looked at beside, several at a time."""

import threading

import pytest

from campaigns import execution, tasks
from campaigns.execution import probing
from campaigns.models import Target

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def targets(target):
    return [
        Target.objects.create(
            name=f"server {number}",
            family="stand-in",
            base_url=f"http://127.0.0.1:{number}",
            address=f"127.0.0.1:{number}",
        )
        for number in range(1, probing.MOST_AT_ONCE)
    ]


def test_targets_are_looked_at_several_at_a_time(targets, stand_in):
    together = threading.Barrier(probing.MOST_AT_ONCE, timeout=10)
    stand_in.probe = lambda target, rules: [together.wait()][:0]

    execution.probe_all()

    assert not Target.objects.filter(probed_at=None).exists()


def test_the_control_worker_does_not_wait_for_silent_targets(targets, stand_in):
    answer = threading.Event()
    stand_in.probe = lambda target, rules: [answer.wait(10)][:0]

    tasks.probe_targets.run()
    first = list(tasks.looking)
    tasks.probe_targets.run()

    assert tasks.looking == first
    assert not Target.objects.exclude(probed_at=None).exists()
    answer.set()
    first[0].join(10)
    assert not Target.objects.filter(probed_at=None).exists()
