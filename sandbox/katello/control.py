"""What a test does to the stand-in while it runs, below /stand-in/; only this machine may."""

from collections import Counter
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any

from aiohttp import web

from sandbox.katello.access import Access
from sandbox.katello.answers import Problem, document
from sandbox.katello.behaviour import BadKatello, KatelloBehaviour
from sandbox.katello.inventory import repositories
from sandbox.katello.syncs import Syncs

PATH = "/stand-in/"


@dataclass(slots=True, eq=False)
class Control:
    """The behaviour and the counts, and what can be done to the rest."""

    behaviour: KatelloBehaviour
    syncs: Syncs
    access: Access
    counts: Counter[str]  # of requests, by method and first part of the path
    _first: KatelloBehaviour = field(init=False)

    def __post_init__(self) -> None:
        self._first = self.behaviour

    def answer(self, request: web.BaseRequest, body: object) -> web.Response:
        """Do what the request wants, and tell how things are. A bad one gets a 400 that says why."""
        if not request.remote or not ip_address(request.remote).is_loopback:
            return document({"message": "Only from this machine."}, 403)
        what = request.path.removeprefix(PATH).strip("/")
        try:
            if request.method == "PATCH" and not what:
                self.behaviour = self.behaviour.changed(body)
            elif request.method == "POST":
                self._do(what, body if isinstance(body, dict) else {})
            elif what or request.method != "GET":
                return document({"message": "There is only GET, PATCH and POST."}, 404)
        except BadKatello as problem:
            return document({"message": str(problem)}, 400)
        except Problem as problem:
            return problem.answer()
        return document(self._document())

    def _document(self) -> dict[str, Any]:
        now = self.syncs.now()
        states = Counter(task.state(now) for task in self.syncs.tasks.all.values())
        return {
            "stand_in": True,
            "behaviour": self.behaviour.document(),
            "requests": dict(self.counts),
            "passwords": self.access.passwords,
            "tasks": dict(states),
            "forced": [task.forced for task in self.syncs.tasks.all.values()],
        }

    def _do(self, what: str, body: dict[str, Any]) -> None:
        tasks = self.syncs.tasks
        match what:
            case "sessions/expire":
                self.access.expire()
            case "tasks/cancel":
                for task in tasks.all.values():
                    tasks.cancel(task)
            case "syncs":
                self._begin(body)
            case "renew":
                tasks.all.clear()
                self.syncs.held = repositories()
                self.access.expire()
                self.access.passwords = 0
                self.counts.clear()
                self.behaviour = self._first
            case _:
                raise BadKatello(
                    f"no such thing to do: {what}; there are sessions/expire, tasks/cancel, syncs, renew"
                )

    def _begin(self, body: dict[str, Any]) -> None:
        """Begin the sync of somebody else."""
        user, request_id = str(body.get("user", "somebody")), str(body.get("request_id", ""))
        if "proxy" in body:
            task = self.syncs.of_proxy(str(body["proxy"]), body, request_id, user)
        else:
            task = self.syncs.of_repository(str(body.get("repository", 3)), body, request_id, user)
        task.label = str(body.get("label", task.label))
