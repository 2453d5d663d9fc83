"""What the simulator holds: resources, content and artifacts, by digest; no bytes."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sandbox.pulp.names import PREFIX, Clock, instant, key, model, prn

KINDS = ("remotes", "repositories", "publications", "distributions")
UNITS = {"file": "files", "rpm": "packages"}  # the REST name of a plug-in's content


@dataclass(slots=True)
class Artifact:
    """The record of a file that was downloaded."""

    digest: str
    size: int
    pk: str
    created: datetime
    touched: datetime


@dataclass(slots=True)
class Unit:
    """A unit of content; its artifact is there or, with on_demand and streamed, not."""

    plugin: str
    path: str
    digest: str
    pk: str
    created: datetime
    touched: datetime
    artifact: str | None = None
    source: str = ""  # the URL at which a feed has it

    @property
    def identity(self) -> tuple[str, str, str]:
        """What no two units share."""
        return self.plugin, self.path, self.digest

    @property
    def type(self) -> str:
        """Its type, as versions count it."""
        return "rpm.package" if self.plugin == "rpm/rpm" else self.plugin.replace("/", ".")

    @property
    def href(self) -> str:
        """Where the unit is."""
        return f"{PREFIX}content/{units_path(self.plugin)}{self.pk}/"


@dataclass(slots=True)
class Version:
    """A version of a repository: the keys of its units."""

    number: int
    pk: str
    created: datetime
    units: frozenset[str]
    added: frozenset[str]
    removed: frozenset[str]


@dataclass(slots=True)
class Resource:
    """A remote, repository, publication or distribution. `values`: what is set, by field."""

    kind: str
    plugin: str
    pk: str
    created: datetime
    updated: datetime
    values: dict[str, Any]
    versions: list[Version] = field(default_factory=list)
    last_sync: dict[str, Any] = field(default_factory=dict)
    artifacts: tuple[str, ...] = ()  # of a publication: its metadata

    @property
    def path(self) -> str:
        """Its REST path, such as remotes/file/file/."""
        return f"{self.kind}/{self.plugin}/"

    @property
    def href(self) -> str:
        """Where it is."""
        return f"{PREFIX}{self.path}{self.pk}/"

    @property
    def prn(self) -> str:
        """Its PRN."""
        return prn(self.kind, self.plugin, self.pk)

    @property
    def model(self) -> str:
        """The name of Pulp's model."""
        return model(self.kind, self.plugin)

    def version_href(self, number: int) -> str:
        """Where a version of this repository is."""
        return f"{self.href}versions/{number}/"


def units_path(plugin: str) -> str:
    """Give the path of a plug-in's units below content/."""
    name = plugin.split("/")[0]
    return f"{name}/{UNITS.get(name, 'units')}/"


class Store:
    """Everything but tasks and sessions."""

    def __init__(self, now: Clock) -> None:
        self.now = now
        self.resources: dict[str, Resource] = {}
        self.artifacts: dict[str, Artifact] = {}
        self.units: dict[str, Unit] = {}
        self._by_identity: dict[tuple[str, str, str], str] = {}

    def of(self, kind: str, plugin: str | None = None) -> Iterator[Resource]:
        """Give the resources of a kind, the newest first."""
        for resource in reversed(self.resources.values()):
            if resource.kind == kind and plugin in (None, resource.plugin):
                yield resource

    def at(self, href: object) -> Resource | None:
        """Give the resource at an href."""
        if not isinstance(href, str):
            return None
        resource = self.resources.get(href.rstrip("/").rsplit("/", 1)[-1])
        return resource if resource and resource.href == href else None

    def make(self, kind: str, plugin: str, values: dict[str, Any]) -> Resource:
        """Add a resource; a repository begins with its version 0."""
        at = self.now()
        resource = Resource(kind, plugin, key(at), at, at, values)
        if kind == "repositories":
            resource.versions.append(Version(0, key(at), at, frozenset(), frozenset(), frozenset()))
        self.resources[resource.pk] = resource
        return resource

    def remove(self, resource: Resource) -> None:
        """Take a resource away, with what cannot be without it."""
        self.resources.pop(resource.pk, None)
        for other in list(self.resources.values()):
            for name, value in other.values.items():
                belongs = isinstance(value, str) and value.startswith(resource.href)
                if belongs and other.kind == "publications":
                    self.remove(other)
                    break
                if belongs:
                    other.values[name] = None

    def keep(self, digest: str, size: int) -> Artifact:
        """Note an artifact, or that it was met again."""
        at = self.now()
        artifact = self.artifacts.setdefault(digest, Artifact(digest, size, key(at), at, at))
        artifact.touched = at
        return artifact

    def unit(self, plugin: str, path: str, digest: str) -> tuple[Unit, bool]:
        """Give the unit, made where it is new, and whether it is."""
        at = self.now()
        pk = self._by_identity.get((plugin, path, digest))
        new = pk is None
        unit = Unit(plugin, path, digest, key(at), at, at) if pk is None else self.units[pk]
        unit.touched = at
        self.units[unit.pk] = unit
        self._by_identity[unit.identity] = unit.pk
        return unit, new

    def add_version(self, repository: Resource, units: frozenset[str]) -> Version | None:
        """Make the repository's next version; None where it would be like the latest."""
        latest = repository.versions[-1]
        if units == latest.units:
            return None
        at = repository.updated = self.now()
        added, removed = units - latest.units, latest.units - units
        version = Version(latest.number + 1, key(at), at, units, added, removed)
        repository.versions.append(version)
        return version

    def orphaned_units(self, minutes: int) -> list[Unit]:
        """Give units of no version that were not met for so many minutes."""
        before = self.now() - timedelta(minutes=minutes)
        used: set[str] = set()
        for repository in self.of("repositories"):
            used.update(*(version.units for version in repository.versions))
        return [u for u in self.units.values() if u.pk not in used and u.touched <= before]

    def orphaned_artifacts(self, minutes: int) -> list[Artifact]:
        """Give artifacts of no unit and no publication, like `orphaned_units`."""
        before = self.now() - timedelta(minutes=minutes)
        used = {unit.artifact for unit in self.units.values()}
        for publication in self.of("publications"):
            used.update(publication.artifacts)
        return [a for a in self.artifacts.values() if a.digest not in used and a.touched <= before]

    def forget(self, units: Iterable[Unit] = (), artifacts: Iterable[Artifact] = ()) -> None:
        """Take units and artifacts away."""
        for unit in units:
            self.units.pop(unit.pk, None)
            self._by_identity.pop(unit.identity, None)
        for artifact in artifacts:
            self.artifacts.pop(artifact.digest, None)

    def units_of(self, repository: Resource) -> Iterator[Unit]:
        """Give the units of all versions of a repository."""
        keys = frozenset[str]().union(*(version.units for version in repository.versions))
        return (self.units[pk] for pk in keys if pk in self.units)

    def reclaim(self, digests: Collection[str]) -> int:
        """Delete artifacts, also those that other repositories hold; give how many there were."""
        gone = [self.artifacts[digest] for digest in digests if digest in self.artifacts]
        self.forget(artifacts=gone)
        for unit in self.units.values():
            if unit.artifact in digests:
                unit.artifact = None
        return len(gone)

    def clear(self) -> None:
        """Take everything away."""
        for held in (self.resources, self.artifacts, self.units, self._by_identity):
            held.clear()

    def used_bytes(self) -> int:
        """Sum up what the artifacts would take."""
        return sum(artifact.size for artifact in self.artifacts.values())

    def version_document(self, repository: Resource, version: Version) -> dict[str, Any]:
        """Write a version as Pulp does."""
        href = repository.version_href(version.number)
        content = f"{PREFIX}content/{units_path(repository.plugin)}?repository_version"

        def summary(units: frozenset[str], suffix: str) -> dict[str, Any]:
            counts = Counter(self.units[pk].type for pk in units if pk in self.units)
            return {
                kind: {"count": count, "href": f"{content}{suffix}={href}"}
                for kind, count in sorted(counts.items())
            }

        version_prn = f"prn:core.repositoryversion:{version.pk}"
        return {
            "pulp_href": href,
            "prn": version_prn,
            "pulp_created": instant(version.created),
            "pulp_last_updated": instant(version.created),
            "number": version.number,
            "repository": repository.href,
            "base_version": None,
            "content_summary": {
                "added": summary(version.added, "_added"),
                "removed": summary(version.removed, "_removed"),
                "present": summary(version.units, ""),
            },
            "vuln_report": f"{PREFIX}vuln_report/?repo_versions={version_prn}",
        }
