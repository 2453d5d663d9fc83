"""What a test does to the simulator while it runs, below /simulator/; only this machine may."""

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any

from aiohttp import web

from sandbox.commits import Commits
from sandbox.pulp import answers
from sandbox.pulp.access import Access
from sandbox.pulp.behaviour import BadBehaviour, Behaviour
from sandbox.pulp.store import Store
from sandbox.pulp.workers import Tasks

PATH = "/simulator/"
_MOST_FILES = 100_000


@dataclass(slots=True, eq=False)
class Control:
    """The behaviour and the counts, and what can be done to the rest."""

    behaviour: Behaviour
    store: Store
    tasks: Tasks
    access: Access
    counts: Counter[str] = field(default_factory=Counter)  # by method and first part of the path
    commits: Commits = field(default_factory=Commits)
    away_seconds: float = 0.0  # how long to be away from now on
    _first: Behaviour = field(init=False)

    def __post_init__(self) -> None:
        self._first = self.behaviour

    def answer(self, request: web.BaseRequest, body: object) -> web.Response:
        """Apply a request and answer the current state; a bad request gets 400 with the reason."""
        if not request.remote or not ip_address(request.remote).is_loopback:
            return answers.document({"detail": "Only from this machine."}, 403)
        what = request.path.removeprefix(PATH).strip("/")
        try:
            if request.method == "PATCH" and not what:
                self.change(self.behaviour.changed(body))
            elif request.method == "POST":
                self._do(what, body if isinstance(body, dict) else {})
            elif what or request.method != "GET":
                return answers.no_route()
        except BadBehaviour as problem:
            return answers.document({"detail": str(problem)}, 400)
        return answers.document(self.document())

    def document(self) -> dict[str, Any]:
        """Return the behaviour and the counts of requests."""
        return {
            "simulator": True,
            "behaviour": self.behaviour.document(),
            "requests": dict(self.counts),
            "passwords": self.access.passwords,
            "committing": len(self.commits),
        }

    def change(self, behaviour: Behaviour) -> None:
        """Behave so from now on."""
        self.behaviour = behaviour
        self.tasks.match_workers()

    def _do(self, what: str, body: dict[str, Any]) -> None:
        workers = [worker for worker in self.tasks.workers if not worker.killed]
        busy = [worker for worker in workers if worker.task]
        match what:
            case "sessions/expire":
                self.access.expire()
            case "workers/kill" | "workers/stop":
                end = self.tasks.kill if what.endswith("kill") else self.tasks.stop
                for worker in (busy or workers)[:1]:
                    end(worker)
            case "workers/replace":
                self.tasks.clear_away()
            case "commit":
                self.commits.end(commit=True)
            case "restart":
                self.away_seconds = _number(body, "seconds", 1.0)
            case "content":
                self._add_content(body)
            case "counts/reset":
                self._forget_counts()
            case "renew":
                self._renew()
            case _:
                raise BadBehaviour(
                    f"no such thing to do: {what}; there are sessions/expire, workers/kill,"
                    " workers/stop, workers/replace, commit, restart, content, counts/reset, renew"
                )

    def _forget_counts(self) -> None:
        self.counts.clear()
        self.access.passwords = 0

    def _renew(self) -> None:
        """Be as at the start."""
        self.commits.end(commit=False)
        self.tasks.forget()
        self.store.clear()
        self.access.expire()
        self._forget_counts()
        self.change(self._first)

    def _add_content(self, body: dict[str, Any]) -> None:
        """Add what somebody else would have: a repository with files, and files without one."""
        name = str(body.get("name", "theirs"))
        plugin = str(body.get("plugin", "file/file"))
        retained, orphans = (int(_number(body, what, 0)) for what in ("files", "orphans"))
        if retained + orphans > _MOST_FILES:
            raise BadBehaviour(f"files and orphans: {_MOST_FILES} at most")
        units = []
        for number in range(retained + orphans):
            digest = hashlib.sha256(f"{name} {number}".encode()).hexdigest()
            unit, _ = self.store.unit(plugin, f"{name}-{number}.bin", digest)
            unit.artifact = self.store.keep(digest, 1000).digest
            units.append(unit.pk)
        if retained:
            repository = self.store.make("repositories", plugin, {"name": name})
            self.store.add_version(repository, frozenset(units[:retained]))


def _number(body: dict[str, Any], name: str, default: float) -> float:
    value = body.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise BadBehaviour(f"{name}: a number from 0, not {value!r}")
    return float(value)
