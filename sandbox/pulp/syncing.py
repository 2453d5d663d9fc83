"""The task that syncs: the manifest first and alone, then the files, as many at once as it may."""

import asyncio
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sandbox.pulp.downloading import Downloader, Received
from sandbox.pulp.machine import Machine
from sandbox.pulp.manifests import Entry, entries
from sandbox.pulp.names import key
from sandbox.pulp.repodata import others, packages, parts
from sandbox.pulp.store import Resource, Store, Unit
from sandbox.pulp.tasks import UNAVAILABLE, Report, State, Task, TaskFailed, closing

_BATCH = 500  # as many files are stored at a time
_RPM_METADATA = ("repomd", "primary", "filelists", "other")  # of a publication
_OTHERS = ("group", "modules", "updateinfo")  # metadata that hold units which are no packages
_MAY_DIFFER = ("mirror", "download_policy")  # and a sync is skipped all the same, one way


@dataclass(slots=True)
class Sync:
    """A requested sync."""

    store: Store
    repository: Resource
    remote: Resource
    mirror: bool
    publish: bool
    optimize: bool
    retry_seconds: float
    storage_total: int
    machine: Machine
    others: list[tuple[str, str]] = field(default_factory=list)

    async def run(self, task: Task) -> dict[str, Any] | None:
        """Sync; give the new version, or None where there is none. Raise TaskFailed."""
        for resource in (self.repository, self.remote):
            if self.store.at(resource.href) is None:  # it was deleted while the task waited
                raise TaskFailed(f"{resource.model} matching query does not exist.")
        async with Downloader(
            self.remote.values, self.retry_seconds, self.machine.download
        ) as downloader:
            first = await self._first(downloader)
            details = self._details(first)
            if self.optimize and self._may_be_skipped(details):
                with task.reporting(
                    "Skipping Sync (no change from previous sync)", "sync.was_skipped", 1
                ) as report:
                    report.done = 1
                return None
            latest = self.repository.versions[-1].number
            task.made.append((UNAVAILABLE, f"prn:core.repositoryversion:{key(self.store.now())}"))
            downloads = task.report("Downloading Artifacts", "sync.downloading.artifacts")
            leaving = self.mirror and task.report("Un-Associating Content", "unassociating.content")
            associating = task.report("Associating Content", "associating.content")
            result = await self._entries(task, downloader, first)
            with closing(downloads):
                units = await self._units(downloader, result, downloads)
        keys = frozenset(unit.pk for unit in units)
        before = self.repository.versions[-1].units
        paths = {unit.path for unit in units}
        remaining = {
            pk for pk in before if not self.mirror and self.store.units[pk].path not in paths
        }
        self.store.add_version(self.repository, keys | remaining)
        version = self.repository.versions[-1]
        associating.done, associating.state = len(keys - before), State.COMPLETED
        if leaving:
            leaving.done, leaving.state = len(before - keys), State.COMPLETED
        self.repository.last_sync = details | {"most_recent_version": version.number}
        self.repository.updated = self.store.now()
        task.made.clear()
        written = self.store.version_document(self.repository, version)
        is_new = version.number != latest
        if is_new:
            task.made.append((written["pulp_href"], written["prn"]))
        elif not self._is_rpm:
            return None
        if self.publish and (is_new or self._is_rpm):
            publication = publish(self.store, self.repository)
            task.made.append((publication.href, publication.prn))
        return written

    @property
    def _is_rpm(self) -> bool:
        return self.repository.plugin.startswith("rpm/")

    @property
    def _base(self) -> str:
        return str(self.remote.values["url"]).rstrip("/") + "/"

    async def _first(self, downloader: Downloader) -> Received:
        if not self._is_rpm:
            return await downloader.get(str(self.remote.values["url"]), keep=True)
        try:
            return await downloader.get(f"{self._base}repodata/repomd.xml", keep=True)
        except TaskFailed as failure:
            if re.match(r"\d{3}, message=", failure.description):  # it may be a list of mirrors
                await downloader.get(self._base.rstrip("/"))
            raise

    def _details(self, first: Received) -> dict[str, Any]:
        name = "repomd_checksum" if self._is_rpm else "manifest_checksum"
        which = {} if self._is_rpm else {"remote_pk": self.remote.pk}
        return {
            **which,
            "url": self.remote.values["url"],
            "mirror": self.mirror,
            "download_policy": self._policy,
            name: first.digest,
            "most_recent_version": self.repository.versions[-1].number,
        }

    @property
    def _policy(self) -> str:
        return str(self.remote.values.get("policy", "immediate"))

    def _may_be_skipped(self, details: dict[str, Any]) -> bool:
        last = self.repository.last_sync
        now_wanted = self._policy == "immediate" and last.get("download_policy") != "immediate"
        same = all(last.get(n) == v for n, v in details.items() if n not in _MAY_DIFFER)
        if not last or not same or now_wanted or (self.mirror and not last["mirror"]):
            return False
        units = (self.store.units[pk] for pk in self.repository.versions[-1].units)
        files = (unit for unit in units if unit.plugin == self.repository.plugin)
        return self._policy != "immediate" or all(unit.artifact for unit in files)

    async def _entries(
        self, task: Task, downloader: Downloader, first: Received
    ) -> Sequence[Entry]:
        if self._is_rpm:
            return await self._packages(task, downloader, first)
        with task.reporting("Downloading Metadata", "sync.downloading.metadata") as report:
            report.done = 1
        with task.reporting("Parsing Metadata Lines", "sync.parsing.metadata") as report:
            results = list(entries(str(self.remote.values["url"]), first.body))
            report.total = report.done = len(results)
        return results

    async def _packages(
        self, task: Task, downloader: Downloader, first: Received
    ) -> Sequence[Entry]:
        with task.reporting("Downloading Metadata Files", "sync.downloading.metadata") as report:
            report.done = 1
            named = parts(self._base, first.body)
            primary = None
            for part in named:
                wanted = part.kind in ("primary", *_OTHERS)
                received = await downloader.get(part.url, part.digest, keep=wanted)
                if part.kind == "primary":
                    primary = received
                elif wanted:
                    self.others += others(part, received.body)
                report.done += 1
        if primary is None:
            raise TaskFailed("The repository's repomd.xml names no primary metadata.")
        with task.reporting("Skipping Packages", "sync.skipped.packages", 0):
            pass
        with task.reporting("Parsed Packages", "sync.parsing.packages") as report:
            results = list(packages(self._base, primary.url, primary.body))
            report.total = report.done = len(results)
        return results

    async def _units(
        self, downloader: Downloader, found: Sequence[Entry], report: Report
    ) -> list[Unit]:
        """Download what is not there, and note it in batches: what fails leaves no more than them."""
        missing: dict[str, Entry] = {}
        if self._policy == "immediate":
            missing = {e.digest: e for e in found if e.digest not in self.store.artifacts}
        received: list[Received] = []
        room = self.storage_total - self.store.used_bytes()

        async def fetch(entry: Entry) -> None:
            nonlocal room
            received.append(await downloader.get(entry.url, entry.digest, entry.size))
            room -= received[-1].size
            if room < 0:
                raise TaskFailed("[Errno 28] No space left on device")
            report.done += 1
            if len(received) >= _BATCH:
                self._store(received)

        try:
            async with asyncio.TaskGroup() as downloads:
                for entry in missing.values():
                    downloads.create_task(fetch(entry))
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None
        self._store(received)
        units = []
        for entry in found:
            unit, _ = self.store.unit(self.repository.plugin, entry.path, entry.digest)
            unit.source = entry.url
            if entry.digest in self.store.artifacts:
                unit.artifact = entry.digest
                self.store.artifacts[entry.digest].touched = unit.touched
            units.append(unit)
        for plugin, text in self.others:
            digest = hashlib.sha256(text.encode()).hexdigest()
            units.append(self.store.unit(plugin, f"{plugin} {digest}", digest)[0])
        return units

    def _store(self, received: list[Received]) -> None:
        for file in received:
            self.store.keep(file.digest, file.size)
        received.clear()


def publish(store: Store, repository: Resource, checkpoint: bool = False) -> Resource:
    """Make a publication of the latest version, with the artifact of its manifest."""
    version = repository.versions[-1]
    publication = store.make(
        "publications",
        repository.plugin,
        {
            "repository": repository.href,
            "repository_version": repository.version_href(version.number),
            "checkpoint": checkpoint,
        },
    )
    lines = sorted(f"{store.units[pk].path},{store.units[pk].digest}" for pk in version.units)
    manifest = "\n".join(lines).encode()
    kinds = _RPM_METADATA if repository.plugin.startswith("rpm/") else ("",)
    digests = (hashlib.sha256(kind.encode() + manifest).hexdigest() for kind in kinds)
    publication.artifacts = tuple(store.keep(each, len(manifest)).digest for each in digests)
    return publication
