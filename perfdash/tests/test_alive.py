from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from celery import current_app

from perfdash.alive import Scheduler

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def sent(monkeypatch):
    names = []
    monkeypatch.setattr(
        Scheduler, "apply_entry", lambda self, entry, producer=None: names.append(entry.name)
    )
    return names


def tick_for(scheduler, traveller, seconds):
    for _ in range(seconds * 2):
        traveller.shift(timedelta(seconds=0.5))
        while scheduler.tick() == 0:
            pass


@pytest.mark.parametrize("step", [timedelta(hours=-1), timedelta(hours=1)])
def test_beat_goes_on_when_the_clock_is_set(sent, step):
    with time_machine.travel(NOON, tick=False) as traveller:
        scheduler = Scheduler(app=current_app)
        tick_for(scheduler, traveller, 10)
        assert sent.count("dispatch") >= 4

        traveller.shift(step)
        sent.clear()
        tick_for(scheduler, traveller, 10)

        assert 4 <= sent.count("dispatch") <= 7
