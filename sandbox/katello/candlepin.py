"""A Candlepin alone, below /candlepin: hosts register as in Katello, and an admin sees the consumers."""

import uuid
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from sandbox.katello import documents
from sandbox.katello.access import Access
from sandbox.katello.answers import Problem, document
from sandbox.katello.consumer_routes import ConsumerRoutes
from sandbox.katello.consumers import ActivationKey, Consumer, Organization

PREFIX = "/candlepin"


@dataclass(slots=True, eq=False)
class Candlepin:
    """Its routes. `check` lets an admin pass, by password."""

    own: ConsumerRoutes
    access: Access

    def answer(self, request: web.BaseRequest, identity: str, body: Any) -> web.Response:
        """Answer a request below the prefix. Raise Problem."""
        parts = request.path.removeprefix(PREFIX).strip("/").split("/")
        match request.method, parts:
            case "GET", [""]:
                return document(documents.root("", katello=False))
            case "GET", ["status"]:
                return document(
                    documents.status(self.own.now(), self.own.behaviour().candlepin_mode)
                )
            case "POST", ["consumers"]:
                return self._register(request, body)
            case "GET", ["owners" | "consumers", *_] if not identity:
                return self._listed(request, parts)
            case "DELETE", ["consumers", pk] if not identity:
                self._check(request)
                self.own.find(pk)
                self.own.consumers.unregister(pk, with_host=True)
                return web.Response(status=204)
            case method, ["consumers", pk, *what]:
                consumer = self.own.check(pk, identity)
                return self.own.answer(request, consumer, method, what, body)
        raise said(404, f"Could not find resource for full path: {request.path}")

    def _register(self, request: web.BaseRequest, body: Any) -> web.Response:
        own = self.own
        if own.behaviour().candlepin_mode != "NORMAL":
            raise said(
                503, "Candlepin is in suspend mode. Please check /status resource for details."
            )
        label = request.query.get("owner", "")
        if label not in own.consumers.organizations:
            raise said(401, f"Organization {label} does not exist.")
        named = request.query.get("activation_keys", "")
        if not named:
            raise said(401, "Invalid Credentials")
        keys = [
            key.name
            for key in own.consumers.keys.values()
            if key.name in named.split(",") and key.organization == label
        ]
        if not keys:
            raise said(401, "None of the activation keys specified exist for this org.")
        if not isinstance(body, dict) or not isinstance(body.get("facts", {}), dict):
            raise said(400, "The consumer could not be read.")
        if not body.get("name"):
            raise said(400, "System name cannot be null.")
        kind = own.behaviour().identity_key
        return document(own.told(own.consumers.register(body, label, tuple(keys), kind)))

    def _check(self, request: web.BaseRequest) -> None:
        try:
            self.access.check(request)
        except Problem:
            raise said(401, "Invalid Credentials") from None

    def _listed(self, request: web.BaseRequest, parts: list[str]) -> web.Response:
        """List what an admin may see."""
        self._check(request)
        consumers = self.own.consumers
        match parts:
            case ["owners"]:
                return document(
                    [documents.owner(each) for each in consumers.organizations.values()]
                )
            case ["owners", label, *what] if label in consumers.organizations:
                return self._of_owner(request, consumers.organizations[label], what)
            case ["owners", label, *_]:
                raise said(404, f"owner with key: {label} was not found.")
            case ["consumers"]:
                return self._paged(request, request.query.get("owner"))
            case ["consumers", pk]:
                return document(self.own.told(self.own.find(pk)))
        raise said(404, f"Could not find resource for full path: {request.path}")

    def _of_owner(
        self, request: web.BaseRequest, owner: Organization, what: list[str]
    ) -> web.Response:
        match what:
            case []:
                return document(documents.owner(owner))
            case ["consumers"]:
                return self._paged(request, owner.label)
            case ["activation_keys"]:
                keys = self.own.consumers.keys.values()
                return document([_key(key) for key in keys if key.organization == owner.label])
        raise said(404, f"Could not find resource for full path: {request.path}")

    def _paged(self, request: web.BaseRequest, owner: str | None) -> web.Response:
        held = [
            each for each in self.own.consumers.held.values() if owner in (None, each.organization)
        ]
        page, size = (_number(request, name) for name in ("page", "per_page"))
        if page or size:
            page, size = page or 1, size or 10
            held = held[(page - 1) * size : page * size]
        return document([_short(each) for each in held])


def said(status: int, words: str) -> Problem:
    """Refuse as Candlepin does."""
    return Problem(status, {"displayMessage": words, "requestUuid": str(uuid.uuid4())})


def _number(request: web.BaseRequest, name: str) -> int:
    text = request.query.get(name, "0")
    if not text.isdecimal():
        raise said(400, f"offset/limit parameters must be positive integers: {name}={text[:40]}")
    return int(text)


def _short(consumer: Consumer) -> dict[str, Any]:
    return {
        "id": consumer.uuid.replace("-", ""),
        "uuid": consumer.uuid,
        "name": consumer.name,
        "owner": {"key": consumer.organization},
        "type": {"id": "1000", "label": "system", "manifest": False},
        "created": documents.written(consumer.created),
        "href": f"/consumers/{consumer.uuid}",
    }


def _key(key: ActivationKey) -> dict[str, Any]:
    return {"id": f"{key.pk:032x}", "name": key.name, "owner": {"key": key.organization}}
