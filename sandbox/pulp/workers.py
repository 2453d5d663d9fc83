"""Queue and workers: one task each, and no two tasks at once that want the same resource alone."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sandbox.pulp.behaviour import CORES, Behaviour
from sandbox.pulp.names import Clock, key
from sandbox.pulp.tasks import State, Task, TaskFailed

_GONE = {"reason": "Worker has gone missing."}
_STOPPED = {"reason": "Aborted during worker shutdown."}


@dataclass(slots=True, eq=False)
class Worker:
    """A worker and what it runs. `killed` is when it was."""

    name: str
    pk: str
    task: Task | None = None
    running: asyncio.Task[None] | None = None
    killed: datetime | None = None


@dataclass(slots=True, eq=False)
class Tasks:
    """All tasks, and the workers that run them."""

    behaviour: Callable[[], Behaviour]
    now: Clock
    all: dict[str, Task] = field(default_factory=dict)
    workers: list[Worker] = field(default_factory=list)
    _started: int = 0
    _background: set[asyncio.Task[None]] = field(default_factory=set)

    def dispatch(
        self,
        name: str,
        work: Callable[[Task], Awaitable[Any]],
        exclusive: Iterable[str] = (),
        shared: Iterable[str] = (),
        *,
        immediate: bool = False,
    ) -> Task:
        """Queue a task; an immediate one runs in the API where nothing is in its way."""
        at = self.now()
        task = Task(key(at), name, at, work, frozenset(exclusive), frozenset(shared), immediate)
        self.all[task.pk] = task
        self.look()
        return task

    def match_workers(self) -> None:
        """Start or stop workers to match the behaviour; those without a task end first."""
        wanted = self.behaviour().workers
        alive = [worker for worker in self.workers if not worker.killed]
        for worker in sorted(alive, key=lambda worker: worker.task is not None)[wanted:][::-1]:
            self.stop(worker)
        for _ in range(wanted - len(alive)):
            self._started += 1
            name = f"worker{self._started}@simulator"
            self.workers.append(Worker(name, key(self.now())))
        self.look()

    def look(self) -> None:
        """Start what can run, in the order of creation."""
        alone: set[str] = set()
        together: set[str] = set()
        for task in list(self.all.values()):
            if task.is_over:
                continue
            free = not (task.exclusive & (alone | together) or task.shared & alone)
            alone |= task.exclusive
            together |= task.shared
            if task.started:
                continue
            if task.state == State.CANCELING:
                if self._idle():
                    task.end(State.CANCELED, self.now())
            elif free:
                task.unblocked = task.unblocked or self.now()
                self._start(task)

    def _idle(self) -> Worker | None:
        return next((w for w in self.workers if not w.task and not w.killed), None)

    def _start(self, task: Task) -> None:
        worker = None if task.immediate else self._idle()
        if not worker and not task.immediate:
            return
        task.started = self.now()
        task.state = State.RUNNING
        running = asyncio.get_running_loop().create_task(self._run(task, worker))
        self._background.add(running)
        running.add_done_callback(self._background.discard)
        if worker:
            worker.task, worker.running = task, running

    async def _run(self, task: Task, worker: Worker | None) -> None:
        behaviour = self.behaviour()
        try:
            if worker:
                await asyncio.sleep(behaviour.start_seconds)
                task.started = self.now()
                await asyncio.sleep(behaviour.task_seconds + CORES[behaviour.core])
            task.result = await task.work(task)
        except TaskFailed as failure:
            task.end(State.FAILED, self.now(), failure.document())
        except asyncio.CancelledError:
            if worker and worker.killed:
                return  # the task stays as it is: nobody is left to say more
            if not task.is_over:
                task.end(State.CANCELED, self.now())
        else:
            task.end(State.COMPLETED, self.now())
        if worker:
            worker.task = worker.running = None
        self.look()

    def cancel(self, task: Task) -> None:
        """Ask for the end of a task; a worker that lives sees to it."""
        if task.is_over:
            return
        task.state = State.CANCELING
        worker = next((worker for worker in self.workers if worker.task is task), None)
        if worker and worker.running and not worker.killed:
            seconds = self.behaviour().cancel_seconds
            asyncio.get_running_loop().call_later(seconds, worker.running.cancel)
        self.look()

    def kill(self, worker: Worker) -> None:
        """End a worker as SIGKILL does: its task stays running, its repository locked."""
        worker.killed = self.now()
        if worker.running:
            worker.running.cancel()

    def stop(self, worker: Worker) -> None:
        """End a worker in order: its task fails."""
        self.workers.remove(worker)
        if worker.task and not worker.task.is_over:
            worker.task.end(State.FAILED, self.now(), dict(_STOPPED))
        if worker.running:
            worker.running.cancel()
        self.look()

    def clear_away(self) -> None:
        """Find the killed workers missing, fail their tasks, and start workers in their place."""
        for worker in [worker for worker in self.workers if worker.killed]:
            self.workers.remove(worker)
            if worker.task and not worker.task.is_over:
                if worker.task.state == State.CANCELING:
                    worker.task.end(State.CANCELED, self.now())
                else:
                    worker.task.end(State.FAILED, self.now(), dict(_GONE))
        self.match_workers()

    def online(self) -> list[Worker]:
        """Give the workers whose heartbeat is not too long ago, killed ones among them."""
        oldest = self.now() - timedelta(seconds=self.behaviour().heartbeat_seconds)
        return [w for w in self.workers if not w.killed or w.killed > oldest]

    def forget(self) -> None:
        """Have neither tasks nor workers; what runs is broken off."""
        self.all.clear()
        self.workers.clear()
        for running in self._background:
            running.cancel()

    async def close(self) -> None:
        """Break off what runs."""
        for running in list(self._background):
            running.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
