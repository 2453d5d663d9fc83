"""The paths of subscription-manager below /rhsm, as Katello answers them in front of a Candlepin."""

from dataclasses import dataclass
from typing import Any

from aiohttp import web

from sandbox.katello import documents, inventory
from sandbox.katello.access import Access
from sandbox.katello.answers import Problem, document
from sandbox.katello.consumer_routes import ConsumerRoutes
from sandbox.katello.consumers import ActivationKey, Refused

PREFIX = "/rhsm"
VERSION_HEADER = "X-CANDLEPIN-VERSION"


@dataclass(slots=True, eq=False)
class Rhsm:
    """The routes. The identity of a request is the CN of the certificate that it came with, if any."""

    own: ConsumerRoutes
    access: Access

    def answer(self, request: web.BaseRequest, identity: str, body: Any) -> web.Response:
        """Answer a request below the prefix. Raise Problem."""
        try:
            answer = self._answered(request, identity, body)
        except Refused as refused:
            raise said(refused.status, refused.words) from None
        answer.headers[VERSION_HEADER] = f"katello/{inventory.KATELLO.split()[0]}"
        return answer

    def _answered(self, request: web.BaseRequest, identity: str, body: Any) -> web.Response:
        parts = request.path.removeprefix(PREFIX).strip("/").split("/")
        own = self.own
        match request.method, parts:
            case "GET", [""]:
                return document(documents.root(PREFIX, katello=True))
            case "GET", ["status"]:
                mode = own.behaviour().candlepin_mode
                return document(documents.status(own.now(), mode, "combined_reporting"))
            case "POST", ["consumers"]:
                return self._register(request, body)
            case "GET", ["users", _, "owners"]:
                self.access.check(request)
                owners = own.consumers.organizations.values()
                return document([documents.owner(each) for each in owners])
            case "GET", ["owners", label, "environments"]:
                self.access.check(request)
                return document(documents.environments(self._organization(label)))
            case method, ["consumers", pk, *what]:
                return own.answer(request, own.check(pk, identity), method, what, body)
            case "PUT", ["systems", pk, ("deb_package_profile" | "enabled_repos") as what]:
                return own.take_of_system(own.check(pk, identity), what, body)
        raise said(404, f"Route not found: {request.method} {request.path}")

    def _register(self, request: web.BaseRequest, body: Any) -> web.Response:
        behaviour, consumers = self.own.behaviour(), self.own.consumers
        named = request.query.get("activation_keys")
        if named is None:  # then it is a person who registers the host
            self.access.check(request)
        if behaviour.candlepin_mode != "NORMAL":
            raise Refused(500, "Unable to register system, not all services available")
        label = self._organization(request.query.get("owner", "")).label
        names = tuple(key.name for key in self._keys(label, named)) if named is not None else ()
        facts = body.get("facts") if isinstance(body, dict) else None
        if not isinstance(facts, dict):
            raise Refused(500, "undefined method `[]' for nil:NilClass")
        host = consumers.host(
            facts, label, assume=behaviour.host_profile_assume,
            duplicates=behaviour.host_dmi_uuid_duplicates,
        )  # fmt: skip
        consumer = consumers.register(body, label, names, behaviour.identity_key, host)
        return document(self.own.told(consumer))

    def _organization(self, label: str) -> Any:
        if label not in self.own.consumers.organizations:
            raise Refused(404, f"Couldn't find Organization '{label}'.")
        return self.own.consumers.organizations[label]

    def _keys(self, label: str, named: str) -> list[ActivationKey]:
        keys = []
        for name in dict.fromkeys(filter(None, named.split(","))):
            key = self.own.consumers.keys.get(name)
            if key is None or key.organization != label:
                raise Refused(404, f"Couldn't find activation key '{name}'")
            keys.append(key)
        if not keys:
            raise Refused(400, "At least one activation key must be provided")
        self.own.consumers.make_room(keys, self.own.behaviour().host_limit)
        return keys


def said(status: int, words: str) -> Problem:
    """Refuse as Katello does to subscription-manager, which prints displayMessage."""
    return Problem(status, {"displayMessage": words, "errors": [words]})
