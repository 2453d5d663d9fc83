"""Breaks something of a running perfdash at random, over and over; the same seed asks for the same."""

import random
from collections import Counter
from contextlib import suppress
from time import monotonic

import psutil
import redis
from celery import Celery
from kombu.exceptions import OperationalError

from e2e.faults import processes
from e2e.faults.plant import GRACE_SECONDS, LEASE_SECONDS
from perfdash.addresses import redis_url

KILLED = {
    "engine program": (processes.engine, 8),
    "worker child": (processes.worker_child, 6),
    "backend": (processes.backends, 6),
    "worker parent": (processes.worker, 3),
    "control worker": (processes.control, 3),
    "analysis worker": (processes.analysis, 2),
    "beat": (processes.beat, 3),
    "web": (processes.web, 2),
    "web child": (processes.web_child, 2),
    "broker": (processes.broker, 2),
    "postmaster": (processes.postmaster, 1),
}
"""How to find what is killed, and how often it is chosen: rarer where everything waits for it."""
HEAVY = {"backend", "worker parent", "broker", "postmaster", "several at once"}
"""Everything waits until these are back: they wait for a run that began since the last of them."""
OTHERS = {
    "keeper stands still": 1,
    "keeper and engine stand still": 1,
    "broker emptied": 3,
    "messages replayed": 4,
    "several at once": 1,
}
STILL_SECONDS = LEASE_SECONDS + GRACE_SECONDS + 1
TASK = "campaigns.execute_attempt"


class Chaos:
    """`struck` counts what was broken, by role."""

    def __init__(self, plant, seed):
        self.plant = plant
        self.struck: Counter[str] = Counter()
        self._chance = random.Random(seed)
        self._asleep = []
        self._begun = 0
        broker = plant.environment_of_commands["BROKER_URL"]
        self._redis = redis.Redis.from_url(redis_url(broker), socket_timeout=2)
        self._celery = Celery(broker=broker, set_as_current=False)

    def strike(self):
        """Break one thing, or several; wake up what stood still for long enough."""
        self.wake()
        weights = {name: weight for name, (_, weight) in KILLED.items()} | OTHERS
        if not self._goes_on():
            weights = {name: weight for name, weight in weights.items() if name not in HEAVY}
        self._break(self._chance.choices(list(weights), weights=list(weights.values()))[0])

    def wake(self, *, all_of_them=False):
        """Let go on what has been stopped for longer than its lease."""
        for due, stopped in list(self._asleep):
            if all_of_them or monotonic() >= due:
                self._asleep.remove((due, stopped))
                for process in reversed(stopped):
                    with suppress(psutil.NoSuchProcess):
                        process.resume()

    def close(self):
        """Let everything go on, and let go of the broker."""
        self.wake(all_of_them=True)
        self._redis.close()
        self._celery.close()

    def _goes_on(self):
        """Whether the target is loaded by an attempt that began since the last heavy fault."""
        newest = self.plant.rows("SELECT max(id) AS id FROM campaigns_attempt WHERE phase <> ''")
        return bool(newest) and (newest[0]["id"] or 0) > self._begun

    def _break(self, what):
        if what in HEAVY:
            newest = self.plant.rows("SELECT max(id) AS id FROM campaigns_attempt")
            self._begun = (newest[0]["id"] if newest else None) or self._begun
        match what:
            case "keeper stands still":
                done = self._stop(processes.worker_child(self.plant.pid))
            case "keeper and engine stand still":
                pid = self.plant.pid
                done = self._stop([*processes.worker_child(pid), *processes.engine(pid)])
            case "broker emptied":
                done = self._ask_the_broker(self._redis.flushall)
            case "messages replayed":
                done = self._ask_the_broker(self._replay)
            case "several at once":
                for role in self._chance.sample(list(KILLED), k=self._chance.randint(2, 4)):
                    self._break(role)
                done = True
            case role:
                found = KILLED[role][0](self.plant.pid)
                processes.kill(
                    [self._chance.choice(found)] if role == "backend" and found else found
                )
                done = bool(found)
        if done:
            self.struck[what] += 1

    def _stop(self, found):
        for process in found:
            with suppress(psutil.NoSuchProcess):
                process.suspend()
        if found:
            self._asleep.append((monotonic() + STILL_SECONDS, found))
        return bool(found)

    def _ask_the_broker(self, action):
        try:
            action()
        except (redis.RedisError, OperationalError):
            return False  # it is away
        return True

    def _replay(self):
        newest = self.plant.rows("SELECT max(id) AS id FROM campaigns_attempt")
        last = (newest[0]["id"] if newest else None) or 1
        for pk in {*range(max(1, last - 2), last + 3), self._chance.randint(1, last)}:
            self._celery.send_task(
                TASK, args=[pk], queue="measure", retry=False, ignore_result=True
            )
