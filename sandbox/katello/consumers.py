"""Hosts, and the consumers that they have while they are registered: who may register, and who may not."""

import json
import uuid
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sandbox.katello.authority import Authority, Certificate

LEAST_CERTIFICATE_VERSION = 3.0


class Refused(Exception):
    """A registration that is refused, with the status and the message of Katello."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status
        self.words = words


@dataclass(frozen=True, slots=True)
class Organization:
    """An organization, as Foreman and Candlepin number and name it."""

    pk: int
    label: str

    @property
    def key(self) -> str:
        """How Candlepin numbers it."""
        return uuid.uuid5(uuid.NAMESPACE_OID, f"owner {self.label}").hex


@dataclass(frozen=True, slots=True)
class ActivationKey:
    """A key with which hosts register; where it is limited, so many at once."""

    pk: int
    name: str
    organization: str  # its label
    limited: bool = False


@dataclass(slots=True, eq=False)
class Host:
    """A host of Foreman; `consumer` is the uuid of its registration, empty while it has none."""

    pk: int
    name: str
    organization: str
    dmi_uuid: str
    created: datetime
    consumer: str = ""
    built: bool = False
    token: str = ""  # of its script, for /unattended/built
    collections: set[int] = field(default_factory=set)
    ip: str = ""
    ip6: str = ""
    parameters: dict[str, dict[str, Any]] = field(default_factory=dict)  # by name

    def value(self, name: str) -> Any:
        """Tell the value of a parameter; None without one."""
        return self.parameters.get(name, {}).get("value")


@dataclass(slots=True, eq=False)
class Consumer:
    """A host as in Candlepin. Its facts are stored as JSON, since they are large."""

    uuid: str
    name: str
    organization: str
    activation_keys: tuple[str, ...]
    facts: bytes
    installed_products: list[Any]
    certificate_version: float
    created: datetime
    updated: datetime
    identity: Certificate
    host: Host | None = None  # none where there is a Candlepin alone
    access: Certificate | None = None  # of content, made when it is first asked for
    told: dict[str, Any] = field(default_factory=dict)  # role, usage and the like
    packages: int = 0
    profiles: int = 0
    check_in: datetime | None = None


@dataclass(slots=True, eq=False)
class Consumers:
    """All hosts and consumers, and whose identity is gone."""

    authority: Authority
    now: Callable[[], datetime]
    organizations: dict[str, Organization]
    keys: dict[str, ActivationKey]
    hosts: dict[int, Host] = field(default_factory=dict)
    held: dict[str, Consumer] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    _names: dict[str, Host] = field(default_factory=dict)
    _dmi: dict[str, set[int]] = field(default_factory=dict)
    _used: dict[str, int] = field(default_factory=dict)
    _pk: int = 0

    def has(self, pk: str) -> bool:
        """Whether a consumer is registered."""
        return pk in self.held

    def used(self, key: ActivationKey) -> int:
        """Count the hosts that are registered with it."""
        return self._used.get(key.name, 0)

    def make_room(self, keys: Collection[ActivationKey], limit: int) -> None:
        """Raise Refused where a limited key has as many hosts as it may have."""
        for key in keys:
            if key.limited and self.used(key) >= limit:
                raise Refused(409, f"Max Hosts ({limit}) reached for activation key '{key.name}'")

    def host(
        self, facts: dict[str, Any], organization: str, *, assume: bool, duplicates: str
    ) -> Host:
        """Find the host that registers, or make it. Raise Refused.

        `assume`: a host of the same name may come with another DMI UUID; `duplicates`: the DMI UUIDs
        that several hosts may have, with spaces or commas between.
        """
        name, dmi_uuid = _host_name(facts), str(facts.get("dmi.system.uuid") or "")
        if dmi_uuid in duplicates.replace(",", " ").split():
            dmi_uuid = str(uuid.uuid4())
        known = self._names.get(name)
        if known and known.organization != organization:
            raise Refused(
                422,
                f"Host with name {name} is currently registered to a different org, "
                f"please migrate host to {organization}.",
            )
        others = [self.hosts[pk].name for pk in self._dmi.get(dmi_uuid, ())]
        if others := sorted(each for each in others if each != name):
            raise Refused(
                422,
                f"The DMI UUID of this host ({dmi_uuid}) matches other registered hosts: "
                f"{', '.join(others)}",
            )
        if known is None:
            known = self.add(name, organization)
        elif known.consumer and known.dmi_uuid != dmi_uuid and not assume:
            raise Refused(
                422,
                "This host is reporting a DMI UUID that differs from the existing registration.",
            )
        self._forget_dmi(known)
        known.dmi_uuid, known.ip = dmi_uuid, str(facts.get("network.ipv4_address") or "")
        if dmi_uuid:
            self._dmi.setdefault(dmi_uuid, set()).add(known.pk)
        return known

    def add(self, name: str, organization: str) -> Host:
        """Make a host that is not registered."""
        self._pk += 1
        host = Host(self._pk, name, organization, "", self.now())
        self.hosts[host.pk] = self._names[name] = host
        return host

    def provide(self, count: int, organization: str) -> None:
        """Have so many hosts that nobody has registered."""
        names = [f"container-{number:05}.example" for number in range(1, count + 1)]
        for name in [each for each in self._names if each.startswith("container-")]:
            if name > (names or [""])[-1]:
                self.delete(self._names[name])
        for name in names:
            if name not in self._names:
                self.add(name, organization)

    def register(
        self,
        body: dict[str, Any],
        organization: str,
        keys: tuple[str, ...],
        kind: str,
        host: Host | None = None,
    ) -> Consumer:
        """Make a consumer; `kind` is that of the key of its identity. A former one of the host goes."""
        if host and host.consumer:
            self.unregister(host.consumer, with_host=False)
        pk = str(uuid.uuid4())
        facts, now = body.get("facts") or {}, self.now()
        name = str(body.get("name") or facts.get("network.hostname") or pk)
        consumer = Consumer(
            pk,
            name,
            organization,
            keys,
            json.dumps(facts).encode(),
            body.get("installedProducts") or [],
            _certificate_version(facts),
            now,
            now,
            self.authority.identify(pk, organization, name, kind),
            host,
            told={
                name: body.get(name) or ([] if name in ("addOns", "contentTags") else "")
                for name in ("role", "addOns", "usage", "serviceLevel", "contentTags")
            },
        )
        self.held[pk] = consumer
        if host:
            host.consumer = pk
        for key in keys:
            self._used[key] = self._used.get(key, 0) + 1
        return consumer

    def update(self, consumer: Consumer, body: dict[str, Any]) -> None:
        """Store new facts and other fields that a client sends."""
        consumer.updated = self.now()
        if isinstance(body.get("facts"), dict):
            consumer.facts = json.dumps(body["facts"]).encode()
            consumer.certificate_version = _certificate_version(body["facts"])
        if isinstance(body.get("installedProducts"), list):
            consumer.installed_products = body["installedProducts"]
        consumer.told |= {name: body[name] for name in consumer.told if body.get(name) is not None}

    def unregister(self, pk: str, *, with_host: bool) -> bool:
        """Delete a consumer, and its host too; False where there is none."""
        consumer = self.held.pop(pk, None)
        if consumer is None:
            return False
        self.gone.add(pk)
        for key in consumer.activation_keys:
            self._used[key] -= 1
        if host := consumer.host:
            host.consumer = ""
            if with_host:
                self.delete(host)
        return True

    def delete(self, host: Host) -> None:
        """Delete a host, with its registration."""
        if host.consumer:
            self.unregister(host.consumer, with_host=False)
        self._forget_dmi(host)
        self._names.pop(host.name, None)
        self.hosts.pop(host.pk, None)

    def named(self, name: str) -> Host | None:
        """Find a host by its name."""
        return self._names.get(name)

    def listed(self) -> Iterator[Host]:
        """Go through the hosts, in the order in which they were made."""
        return iter(self.hosts.values())

    def renew(self) -> None:
        """Forget everything."""
        for each in (self.hosts, self.held, self.gone, self._names, self._dmi, self._used):
            each.clear()

    def _forget_dmi(self, host: Host) -> None:
        known = self._dmi.get(host.dmi_uuid)
        if known:
            known.discard(host.pk)
            if not known:
                del self._dmi[host.dmi_uuid]


def _host_name(facts: dict[str, Any]) -> str:
    """Find the name of the host. Raise Refused without any: Katello fails there."""
    named = ("network.fqdn", "network.hostname-override", "network.hostname")
    result = next((facts[name] for name in named if facts.get(name)), None)
    if result is None:
        raise Refused(500, "undefined method `downcase' for nil:NilClass")
    return str(result).lower()


def _certificate_version(facts: dict[str, Any]) -> float:
    try:
        return float(facts.get("system.certificate_version") or 0)
    except (TypeError, ValueError):
        return 0.0
