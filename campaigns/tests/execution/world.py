"""What surrounds the database when runs are executed: time, a broker, workers, and their load.

The database and every function that changes it are the real ones. Time goes on by moving all that
is stored back; a load knows, as an engine does, until when it was told that it may go on.
"""

from dataclasses import dataclass, field
from datetime import timedelta

from celery import current_app
from django.apps import apps
from django.db import connection
from django.db.models import DateTimeField, F
from django.db.models.functions import Now
from kombu.exceptions import OperationalError

from campaigns import tasks
from campaigns.execution import dispatch
from campaigns.execution import dispatch as dispatching
from campaigns.execution import keeper as keeping
from campaigns.execution.claim import claim
from campaigns.execution.running import _store as store
from campaigns.execution.running import interrupt_worker
from campaigns.kinds.base import Health, Measured
from campaigns.kinds.programs.deadline import monotonic
from campaigns.kit import messages as sending
from campaigns.models import Attempt, AuditEvent, Campaign, Dispatcher, Run, Worker
from campaigns.planning.analyses import request_analysis_after
from campaigns.results.closing import Fenced
from campaigns.results.storing import Outcome
from campaigns.targets import quiet

MEASURED = Measured(
    values={"duration": 1.0, "rate": 2.0}, health=Health("healthy", (), {}), units_done=1
)
NOT_MOVED = {"database_started_at"}


@dataclass
class Message:
    name: str
    argument: int
    queue: str
    sent_at: float


@dataclass
class Load:
    """An attempt that a worker's child executes, with the engine that loads the target."""

    attempt: Attempt
    keeper: keeping.Keeper
    address: str
    told_until: float
    stopped: bool = False
    loading: bool = True


@dataclass
class WorkerProcess:
    """One worker with one child: it executes one attempt at a time."""

    name: str
    host: str
    pools: list[str]
    alive: bool = False
    ending: bool = False
    load: Load | None = None
    presence: tasks.Presence = field(init=False)

    def __post_init__(self) -> None:
        self.presence = tasks.Presence(self.name, self.pools)


class World:
    """Everything but the database."""

    def __init__(self, settings, monkeypatch):
        self.settings = settings
        self.passed = 0.0
        self.messages: list[Message] = []
        self.ever_sent: list[Message] = []
        self.broker_away = False
        self.highest_claimed: dict[str, int] = {}
        self.workers = [
            WorkerProcess("measure@a", "a", ["measure"]),
            WorkerProcess("far@a", "a", ["far"]),
            WorkerProcess("both@b", "b", ["far", "measure"]),
            WorkerProcess("control@b", "b", ["control"]),
        ]
        make_moving()
        monkeypatch.setattr(keeping, "monotonic", self.now)
        monkeypatch.setattr(dispatch, "WAIT_SECONDS", 0.1)
        monkeypatch.setattr(current_app, "send_task", self.send)

    def now(self) -> float:
        return monotonic() + self.passed

    # The broker

    def send(self, name, args, queue, **options):
        if self.broker_away:
            raise OperationalError("the broker is away")
        message = Message(name, args[0] if args else 0, queue, self.now())
        self.messages.append(message)
        self.ever_sent.append(message)

    def deliver(self, message: Message, choice: int = 0, *, alone: bool = True) -> None:
        """Give a message to a worker that has time for it; without one it waits."""
        free = [
            worker
            for worker in self.workers
            if worker.alive
            and not worker.ending
            and worker.load is None
            and message.queue in worker.pools
        ]
        if not free:
            return
        if message in self.messages:
            self.messages.remove(message)
        if self.now() - message.sent_at > sending.MESSAGE_SECONDS:
            return
        if message.name == "campaigns.analyse":
            tasks.analyse(message.argument)
        elif message.name == "campaigns.dispatch":
            dispatching.dispatch()
        elif message.name == "campaigns.execute_attempt":
            self.begin(free[choice % len(free)], message.argument, alone=alone)

    # Workers

    def begin(self, worker: WorkerProcess, attempt_pk: int, *, alone: bool = True) -> None:
        """Claim an attempt as `execute` does, and go on with it."""
        asked_at = self.now()
        attempt = claim(attempt_pk, worker.name, worker.host)
        if attempt is None:
            dispatching.dispatch()
        else:
            self.go_on(worker, attempt, asked_at, alone=alone)

    def go_on(
        self, worker: WorkerProcess, attempt: Attempt, asked_at: float, *, alone: bool = True
    ) -> None:
        """Look what an attempt that was just claimed must never find.

        `alone`: nobody changes its campaign at the same instant, so it must be one that goes on.
        """
        before = self.loads()
        if alone:
            trial = attempt.run.purpose == Run.Purpose.TRIAL
            expected = Campaign.State.DRAFT if trial else Campaign.State.RUNNING
            state = Campaign.objects.get(pk=attempt.run.campaign_id).state
            assert state == expected, f"a run began in a campaign that is {state}"
        target = attempt.run.target
        assert target is not None
        assert attempt.claimed_at is not None
        assert quiet.on_by(target, attempt.claimed_at) is None, "a run began in quiet hours"
        address = target.address
        keeper = keeping.Keeper(attempt, asked_at)
        for other in before:
            assert not (other.loading and other.address == address), "two load one target"
            assert not (other.loading and other.attempt.host == worker.host), "two on one host"
        assert attempt.token > self.highest_claimed.get(address, 0), "a token came twice"
        self.highest_claimed[address] = attempt.token
        worker.load = Load(
            attempt,
            keeper,
            address,
            self.now() + keeper.lease_seconds(),
        )

    def loads(self) -> list[Load]:
        return [worker.load for worker in self.workers if worker.load is not None]

    def start(self, worker: WorkerProcess) -> None:
        """Start a worker; one that was there is killed, with what it measured."""
        self.kill(worker)
        worker.alive = True
        self.settings.GENERATOR_HOST = worker.host
        worker.presence._begin()

    def kill(self, worker: WorkerProcess) -> None:
        worker.alive, worker.ending, worker.load = False, False, None

    def shut_down(self, worker: WorkerProcess) -> None:
        """Ask a worker to end, as SIGTERM does; its attempt is closed when it has noticed."""
        self.settings.GENERATOR_HOST = worker.host
        worker.presence._take_back()
        interrupt_worker(worker.name)
        worker.ending = True
        if worker.load is None:
            self.kill(worker)

    def look(self, load: Load, *, due: bool = False) -> None:
        """What a keeper does every moment: renew, heed limits, listen, tell the engine.

        `due`: it is time to renew and to heed limits.
        """
        if load.stopped:
            return
        keeper = load.keeper
        if due:
            keeper._renew_at = keeper._limits_at = self.now()
        keeper._mind()
        keeper._stop_where_the_lease_is_over()
        if keeper.cancelled.is_set():
            load.loading = False
        elif load.loading:
            load.told_until = self.now() + keeper.lease_seconds()

    def close(self, worker: WorkerProcess, state: str, *, alone: bool = True) -> None:
        """End an attempt. Told to stop, it says why, unless it had just ended by itself.

        `alone`: nobody changes the attempt at the same instant, so its end is certain.
        """
        load = worker.load
        if load is None or load.stopped:
            return
        load.loading, worker.load = False, None
        keeper = load.keeper
        if state == "stopped":
            asked = keeper.cancelled.is_set() and not (keeper.lost or keeper.interrupted)
            state = Attempt.State.CANCELLED if asked else Attempt.State.LOST
        asked_at, following = self.now(), None
        reason = "" if state == Attempt.State.ACCEPTED else keeper.why or f"it ended {state}"
        measured = MEASURED if state == Attempt.State.ACCEPTED else None
        before = Attempt.objects.filter(pk=load.attempt.pk, state=Attempt.State.RUNNING).exists()
        try:
            outcome = Outcome(state, reason, measured=measured)
            run, following = store(load.attempt, outcome, follow=True)
        except Fenced:
            assert not (before and alone), "the holder was fenced off"
        else:
            assert before or not alone, "a latecomer was let in"
            if following is None:
                request_analysis_after(run)
        if following is None:
            dispatching.dispatch()
        else:
            self.go_on(worker, following, asked_at, alone=alone)
            assert not (worker.ending and worker.load), "a worker that ends began a run"
        if worker.ending:
            self.kill(worker)

    # Time

    def pass_time(self, seconds: float, *, workers_live: bool = True, beat: bool = False) -> None:
        """Let time go on, in steps as short as a keeper's."""
        for step in self._steps(seconds):
            self._move_everything_stored(step)
            self.passed += step
            for load in self.loads():
                load.loading = load.loading and self.now() < load.told_until
                self.look(load)
            for worker in self.workers:
                if worker.alive and not worker.ending and workers_live:
                    Worker.objects.filter(name=worker.name).update(seen_at=Now())
        if beat:
            dispatching.dispatch()

    def _steps(self, seconds: float) -> list[float]:
        most = self.settings.RENEW_SECONDS
        whole = int(seconds // most)
        return [most] * whole + [seconds - whole * most]

    def _move_everything_stored(self, seconds: float) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_temp.move_back(make_interval(secs => %s))", [seconds])

    def set_the_clock(self, seconds: float) -> None:
        """Set the time of day forward, or back; what measures durations goes on undisturbed."""
        self._move_everything_stored(seconds)

    def database_was_away(self, seconds: float) -> None:
        """Nobody could renew for a while, and the server is a new one."""
        self._move_everything_stored(seconds)
        self.passed += seconds
        for load in self.loads():
            load.loading = load.loading and self.now() < load.told_until
        Dispatcher.objects.update(database_started_at=F("database_started_at") - timedelta(hours=1))


def make_moving() -> None:
    """Let a function of this connection move everything stored back: PostgreSQL plans its statements once."""
    statements = [
        f"UPDATE {model._meta.db_table} SET "  # noqa: S608
        + ", ".join(f"{name} = {name} - by" for name in names)
        for model in apps.get_app_config("campaigns").get_models()
        if model is not AuditEvent  # which nobody may change; nothing is decided by it
        and (
            names := [
                each.column
                for each in model._meta.concrete_fields
                if isinstance(each, DateTimeField) and each.column not in NOT_MOVED
            ]
        )
    ]
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE OR REPLACE FUNCTION pg_temp.move_back(by interval) RETURNS void LANGUAGE plpgsql"
            f" AS $$ BEGIN {'; '.join(statements)}; END $$"
        )


def empty_the_database() -> None:
    """Delete every row; the constraints are looked at when all is gone."""
    tables = [model._meta.db_table for model in apps.get_app_config("campaigns").get_models()]
    tables += [
        field.m2m_db_table()
        for model in apps.get_app_config("campaigns").get_models()
        for field in model._meta.local_many_to_many
    ]
    rule = "TRIGGER audit_log_is_only_added_to"
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE campaigns_auditevent DISABLE {rule}")
        cursor.execute(";".join(f"DELETE FROM {table}" for table in tables))  # noqa: S608
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(f"ALTER TABLE campaigns_auditevent ENABLE {rule}")
