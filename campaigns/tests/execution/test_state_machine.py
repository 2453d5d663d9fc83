"""The runs' state machine under random faults, against the real database.

By day a few examples, the same every time; at night many new ones, and more of them with `HYPOTHESIS_PROFILE=long`.
What a failure printed is tried again by itself, from Hypothesis's own store of examples, or with @reproduce_failure as
it says.
"""

import os
import sys
from contextlib import suppress

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as profile
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from campaigns.execution import dispatch as dispatching
from campaigns.models import Campaign, Run, Target, TargetLease
from campaigns.planning import lifecycle
from campaigns.targets import saving
from campaigns.tests.execution import people
from campaigns.tests.execution.beside import Beside, not_stored_yet
from campaigns.tests.execution.books import check_the_books
from campaigns.tests.execution.people import nth
from campaigns.tests.execution.world import World, empty_the_database

pytestmark = pytest.mark.django_db(transaction=True)

profile.register_profile(
    "quick",
    max_examples=4,
    stateful_step_count=30,
    derandomize=True,  # the same examples every time; the other profiles look for new ones
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
profile.register_profile(
    "night",
    profile.get_profile("quick"),
    max_examples=100,
    stateful_step_count=40,
    derandomize=False,
)
profile.register_profile(
    "long", profile.get_profile("night"), max_examples=400, stateful_step_count=60
)

MOST_CAMPAIGNS = 3
TICK_SECONDS = 5.0
number = st.integers(0, 5)
designs = st.fixed_dictionaries(
    {
        "target": number,
        "levels": st.integers(1, 2),
        "repetitions": st.integers(1, 2),
        "pool": st.sampled_from(["measure", "measure", "far"]),
        "cool_down": st.sampled_from([0, 0, 0, 20]),
        "failures": st.sampled_from([5, 5, 1]),
        "budget": st.sampled_from([None, None, None, 30]),
        "launched": st.sampled_from([True, True, True, False]),
    }
)
ADDRESSES = ("127.0.0.1:9", "127.0.0.1:9", "127.0.0.2:9")


class Faults(RuleBasedStateMachine):
    """Everything that people, processes and machines do, in any order."""

    make_world: staticmethod

    @initialize(designs=st.lists(designs, min_size=1, max_size=2))
    def begin(self, designs):
        empty_the_database()
        self.world = self.make_world()
        self.planned: dict[int, int] = {}
        for n, address in enumerate(ADDRESSES):
            Target.objects.create(
                name=f"server {n}",
                family="controlled",
                base_url=f"http://{address}",
                address=address,
            )
        for worker in self.world.workers:
            self.world.start(worker)
        for design in designs:
            people.define(design)

    # What people do

    @rule(design=designs)
    def define_another(self, design):
        if Campaign.objects.count() < MOST_CAMPAIGNS:
            people.define(design)

    @rule(
        name=st.sampled_from(
            ["launch", "try_one", "pause", "resume", "cancel", "extend", "change", "delete"]
        ),
        n=number,
    )
    def change_a_campaign(self, name, n):
        self._quietly(people.on_a_campaign(name, n))

    @rule(name=st.sampled_from(["cancel_run", "run_again", "exclude", "include"]), n=number)
    def change_a_run(self, name, n):
        self._quietly(people.on_a_run(name, n))

    @rule(n=number, address=st.sampled_from(["127.0.0.1:9", "127.0.0.3:9"]))
    def change_an_address(self, n, address):
        target = nth(Target.objects.filter(retired_at=None).order_by("pk"), n)
        if target is not None:
            data = {"name": target.name, "family": target.family, "base_url": f"http://{address}"}
            self._quietly(lambda: saving.save_target(data, target))

    @rule(n=number)
    def retire_a_target(self, n):
        target = nth(Target.objects.filter(retired_at=None).order_by("pk"), n)
        if target is not None:
            self._quietly(lambda: saving.retire_target(target))

    @rule(n=number)
    def begin_or_end_quiet_hours(self, n):
        target = nth(Target.objects.order_by("pk"), n)
        always = "" if target.quiet_hours else "daily 00:00-24:00"
        Target.objects.filter(pk=target.pk).update(quiet_hours=always)

    # What perfdash does

    @rule()
    def tick(self):
        dispatching.dispatch()

    @rule(n=number, worker=number)
    def deliver(self, n, worker):
        if message := nth(self.world.messages, n):
            self.world.deliver(message, worker)

    @rule(n=number)
    def tick_and_deliver_all(self, n):
        dispatching.dispatch()
        for message in list(self.world.messages):
            self.world.deliver(message, n)

    @rule(
        n=number,
        state=st.sampled_from(["accepted", "accepted", "failed", "void", "lost", "stopped"]),
    )
    def close(self, n, state):
        if worker := self._busy(n):
            self.world.close(worker, state)

    @rule(n=number)
    def look(self, n):
        if load := nth(self.world.loads(), n):
            self.world.look(load)

    @rule(seconds=st.floats(0.1, 12))
    def wait(self, seconds):
        self.world.pass_time(seconds, beat=True)

    # What breaks

    @rule(n=number, worker=number)
    def replay(self, n, worker):
        if message := nth(reversed(self.world.ever_sent), n):
            self.world.deliver(message, worker)

    @rule()
    def empty_the_broker(self):
        self.world.messages.clear()

    @rule()
    def toggle_the_broker(self):
        self.world.broker_away = not self.world.broker_away
        if self.world.broker_away:
            self.world.messages.clear()

    @rule(n=number)
    def kill_a_worker(self, n):
        if worker := self._busy(n) or nth(self._alive(), n):
            self.world.kill(worker)

    @rule(n=number)
    def shut_a_worker_down(self, n):
        if worker := self._busy(n) or nth(self._alive(), n):
            self.world.shut_down(worker)

    @rule(n=number)
    def start_a_worker(self, n):
        if worker := nth((each for each in self.world.workers if not each.alive), n):
            self.world.start(worker)

    @rule(n=number)
    def restart_a_worker(self, n):
        self.world.start(nth(self.world.workers, n))

    @rule(n=number)
    def stop_or_continue_a_keeper(self, n):
        if load := nth(self.world.loads(), n):
            load.stopped = not load.stopped

    @rule(seconds=st.floats(1, 90), beat=st.booleans(), workers_live=st.booleans())
    def long_silence(self, seconds, beat, workers_live):
        self.world.pass_time(seconds, beat=beat, workers_live=workers_live)

    @rule(seconds=st.floats(-4000, 4000))
    def set_the_clock(self, seconds):
        self.world.set_the_clock(seconds)

    @rule(seconds=st.floats(1, 90))
    def database_away(self, seconds):
        self.world.database_was_away(seconds)

    @rule(
        first=st.sampled_from(
            [
                "tick",
                "claim",
                "close",
                "look",
                "renew",
                "pause",
                "resume",
                "cancel",
                "cancel_run",
                "extend",
            ]
        ),
        second=st.sampled_from(
            ["tick", "claim", "close", "look", "renew", "resume", "cancel", "cancel_run", "again"]
        ),
        n=number,
    )
    def at_the_same_time(self, first, second, n):
        """The second one begins when the first one is done but not stored yet."""
        doing, beside_it = self._action(first, n), self._action(second, n)
        with not_stored_yet():
            doing()
            beside = Beside(beside_it)
            beside.ended(0.03)
        beside.get()

    # What must be true

    @invariant()
    def books(self):
        if not hasattr(self, "world"):
            return
        check_the_books()
        for campaign in Campaign.objects.exclude(state=Campaign.State.DRAFT):
            runs = campaign.runs.exclude(purpose=Run.Purpose.TRIAL).count()
            assert runs >= self.planned.get(campaign.pk, 0), "planned runs have gone"
            self.planned[campaign.pk] = runs
        for lease in TargetLease.objects.all():
            highest = self.world.highest_claimed.get(lease.address, 0)
            assert lease.token >= highest, "a token went back"

    def teardown(self):
        """Heal everything: what was begun must come to its end."""
        if not hasattr(self, "world") or sys.exc_info()[0] is not None:
            return
        self._heal()
        stuck = [f"{run} of {run.campaign.pk} {run.state}" for run in self._open_runs()]
        assert not stuck, stuck
        assert not self._active().exists(), list(self._active().values_list("pk", "state"))

    # How it is done

    def _heal(self):
        """Let time go on with everything at work, for as long as it may take at most."""
        world = self.world
        world.broker_away = False
        Target.objects.update(quiet_hours="")
        for load in world.loads():
            load.stopped = False
        for worker in world.workers:
            if not worker.alive:
                world.start(worker)
        for _ in range(40 + 10 * self._open_runs().count()):
            if not self._open_runs().exists() and not self._active().exists():
                break
            for paused in Campaign.objects.filter(state=Campaign.State.PAUSED):
                lifecycle.resume(paused)
            world.pass_time(TICK_SECONDS, beat=True)
            for message in list(world.messages):
                world.deliver(message)
            for worker in world.workers:
                if worker.load is not None:
                    told = worker.load.keeper.cancelled.is_set()
                    world.close(worker, "stopped" if told else "accepted")
                elif not worker.alive:
                    world.start(worker)
            check_the_books()

    def _open_runs(self):
        return Run.objects.filter(state__in=Run.OPEN)

    def _active(self):
        return Campaign.objects.filter(state__in=Campaign.ACTIVE)

    def _alive(self):
        return (worker for worker in self.world.workers if worker.alive)

    def _busy(self, n):
        return nth((worker for worker in self.world.workers if worker.load is not None), n)

    def _quietly(self, action):
        with suppress(*people.REFUSALS):
            action()
        dispatching.dispatch()

    def _action(self, name, n):
        """One thing to be done beside another one; refused is fine."""
        world = self.world
        worker, message = self._busy(n), nth(world.messages, n)
        if name in ("cancel_run", "again"):
            action = people.on_a_run({"again": "run_again"}.get(name, name), n)
        elif name in ("pause", "resume", "cancel", "extend"):
            action = people.on_a_campaign(name, n)
        else:
            action = {
                "tick": dispatching.dispatch,
                "claim": lambda: message and world.deliver(message, n, alone=False),
                "close": lambda: worker and world.close(worker, "accepted", alone=False),
                "look": lambda: worker and worker.load and world.look(worker.load),
                "renew": lambda: worker and worker.load and world.look(worker.load, due=True),
            }[name]

        def quietly():
            with suppress(*people.REFUSALS):
                action()

        return quietly


@pytest.mark.parametrize("name", ["quick", pytest.param("night", marks=pytest.mark.nightly)])
def test_whatever_happens_the_books_balance_and_every_run_ends(
    transactional_db, controlled, settings, monkeypatch, tmp_path, name
):
    settings.ALLOWED_ADDRESSES = "127.0.0.0/8:9"
    settings.WORK_DIRECTORY = tmp_path

    class Machine(Faults):
        make_world = staticmethod(lambda: World(settings, monkeypatch))

    chosen = os.environ.get("HYPOTHESIS_PROFILE", name)
    try:
        run_state_machine_as_test(Machine, settings=profile.get_profile(chosen))
    finally:
        empty_the_database()
