"""What a host asks about itself, with the certificate that it was given: the same in Katello and Candlepin.

They differ in words of refusal, and in what they answer to facts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

from aiohttp import web

from sandbox.katello import documents
from sandbox.katello.access_certificates import Access, content
from sandbox.katello.answers import Problem, document
from sandbox.katello.behaviour import KatelloBehaviour
from sandbox.katello.consumers import LEAST_CERTIFICATE_VERSION, Consumer, Consumers


@dataclass(slots=True, eq=False)
class ConsumerRoutes:
    """Routes below /consumers/<uuid>. `refuse` makes a problem of a status and a message."""

    behaviour: Callable[[], KatelloBehaviour]
    now: Callable[[], datetime]
    consumers: Consumers
    refuse: Callable[[int, str], Problem]
    katello: bool

    def check(self, pk: str, identity: str) -> Consumer:
        """Find the consumer whose certificate the client has; `identity` is its CN. Raise Problem."""
        if not identity:
            raise self.refuse(401, "Invalid credentials for request.")
        if identity in self.consumers.gone:
            raise gone(identity)
        if identity != pk:
            raise self.refuse(403, "Access denied")
        return self.find(pk)

    def find(self, pk: str) -> Consumer:
        """Find a consumer. Raise Problem."""
        if pk in self.consumers.gone:
            raise gone(pk)
        if pk not in self.consumers.held:
            raise self.refuse(404, f"Unit with ID '{pk}' could not be found.")
        return self.consumers.held[pk]

    def answer(
        self, request: web.BaseRequest, consumer: Consumer, method: str, what: list[str], body: Any
    ) -> web.Response:
        """Answer a request of a host about itself. Raise Problem."""
        match method, what:
            case "GET", []:
                return document(self.told(consumer))
            case "PUT", []:
                self.consumers.update(consumer, body if isinstance(body, dict) else {})
                if not self.katello:
                    return web.Response(status=204)
                return document({"content": "Facts successfully updated."})
            case "DELETE", []:
                with_host = self.behaviour().unregister_delete_host
                self.consumers.unregister(consumer.uuid, with_host=with_host)
                return web.Response(status=204)
            case "PUT", ["profiles" | "packages"] if self.katello:
                self._take_profile(consumer, body)
                return document(self.told(consumer))
            case "PUT", ["checkin"]:
                consumer.check_in = self.now()
                return document(self.told(consumer))
            case "PUT", ["tracer"] if self.katello:
                return document({"displayMessage": "Tracer profile uploaded successfully"})
            case "GET", ["accessible_content"]:
                return self._accessible(request, consumer)
        if method == "GET" and (output := self._read(consumer, what)) is not None:
            return document(output)
        raise self.refuse(404, f"Could not find resource for full path: {request.path}")

    def take_of_system(self, consumer: Consumer, what: str, body: Any) -> web.Response:
        """Store what tools on a host send below /systems. Raise Problem."""
        held = body.get(what) if isinstance(body, dict) else None
        named = {"deb_package_profile": "deb_packages", "enabled_repos": "repos"}[what]
        answer = held.get(named) if isinstance(held, dict) else None
        if not isinstance(answer, list):
            raise self.refuse(400, "The request did not contain any repository information.")
        if what == "deb_package_profile":
            consumer.packages = len(answer)
            consumer.profiles += 1
        return document(self.told(consumer))

    def told(self, consumer: Consumer) -> dict[str, Any]:
        """Tell of a consumer."""
        organization = self.consumers.organizations[consumer.organization]
        return documents.consumer(consumer, organization, self.consumers.keys)

    def _read(self, consumer: Consumer, what: list[str]) -> Any:
        """Give what is only read; None where there is no such thing."""
        match what:
            case ["certificates", "serials"]:
                consumer.check_in = self.now()
                return documents.serials(self._access(consumer))
            case ["certificates"]:
                return documents.certificates(self._access(consumer))
            case ["content_overrides" | "guestids" | "entitlements"]:
                return []
            case ["release"]:
                return {"releaseVer": None}
            case ["compliance"]:
                return documents.compliance(self.now())
            case ["purpose_compliance"]:
                return documents.purpose_compliance(self.now())
            case ["owner"]:
                return documents.owner(self.consumers.organizations[consumer.organization])
        return None

    def _accessible(self, request: web.BaseRequest, consumer: Consumer) -> web.Response:
        if consumer.certificate_version < LEAST_CERTIFICATE_VERSION:
            raise self.refuse(400, "Cannot retrieve content access certificate")
        updated = consumer.created
        if since := request.headers.get("If-Modified-Since"):
            try:
                if parsedate_to_datetime(since) >= updated.replace(microsecond=0):
                    return web.Response(status=304)
            except (TypeError, ValueError):
                pass  # a date that cannot be read is none
        return document(documents.listing(self._access(consumer), updated))

    def _access(self, consumer: Consumer) -> Access:
        if consumer.access is None:
            consumer.access = self.consumers.authority.entitle(
                consumer.uuid, consumer.organization, consumer.identity.kind
            )
        return Access(consumer.access, content(consumer.organization))

    def _take_profile(self, consumer: Consumer, body: Any) -> None:
        """Take the packages of a host: a list of profiles, or of packages from older clients."""
        if not isinstance(body, list) or not all(isinstance(each, dict) for each in body):
            raise self.refuse(400, "A profile is a list.")
        consumer.profiles += 1
        kinds = [each for each in body if "content_type" in each]
        if not kinds:
            consumer.packages = len(body)
        for each in kinds:
            if each["content_type"] in ("rpm", "deb") and isinstance(each.get("profile"), list):
                consumer.packages = len(each["profile"])


def gone(pk: str) -> Problem:
    """Answer that a consumer was deleted, as Candlepin does."""
    text = f"Unit {pk} has been deleted"
    return Problem(410, {"displayMessage": text, "requestUuid": pk, "deletedId": pk})
