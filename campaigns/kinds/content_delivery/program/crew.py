"""What all hosts of a process share: the files, the counts, and the samples. No Django."""

import asyncio
import ssl
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from time import perf_counter_ns
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from campaigns.kinds.content_delivery.profiles import PROFILES
from campaigns.kinds.content_delivery.program.delivery import Delivery, tls_failure
from campaigns.kinds.content_delivery.program.files import File, order_of, written
from campaigns.kinds.load import tls
from campaigns.kinds.load.counting import Traffic
from campaigns.kinds.load.failures import LoadFailed
from campaigns.kinds.load.host import Host, Limits
from campaigns.kinds.load.part import NS, Part
from campaigns.kinds.load.reservoir import Reservoir
from campaigns.kinds.load.sequences import Sequences
from campaigns.kinds.load.wire import Answer
from campaigns.kit.mappings import ProgramProgress, ProgramRequest, ProgramResult

MOST_PACKAGES, MOST_FAILURES = 20_000, 10_000
"""Rows of single packages that are kept, of those that came and of those that failed."""
COLUMNS = (
    *("host", "round", "intended_us", "duration_us", "status"),
    *("bytes", "cold", "retries", "failure", "words"),
)
"""Of these rows. intended_us: when its lane was free, after the start of the load. cold: the answer told no length."""
USUAL_PORTS = {"http": 80, "https": 443}
COUNTS = (
    *("packages", "packages_failed", "first_try", "retried", "cold", "told_size"),
    *("bytes", "requests", "connections", "resends"),
)


class Crew(Sequences):
    """The hosts of a process: see `load.part.Work`."""

    def __init__(self, part: Part, request: ProgramRequest) -> None:
        """Prepare the requests of all files. Raise BadUrl, Refused or OSError where there is no address."""
        limits = Limits(part, request, part.job.pinned())
        super().__init__(part, limits, self._deliver)
        place = limits.place
        self.profile = PROFILES[request["profile"]]
        self.parallel = int(request["parallel"])
        self.rounds = int(request["rounds"])
        self.verify, self.seed = str(request["verify"]), int(request["seed"])
        self.retries: int | None = None if request["retries"] == "dnf" else int(request["retries"])
        self.url = part.job.url
        self.usual_port = USUAL_PORTS[place.scheme]
        self.origin = (place.scheme, urlsplit(self.url).hostname, place.port)
        self._host_header = place.host_header
        self._sender = str(request.get("sender", "perfdash"))
        self._headers = [(str(name), str(value)) for name, value in request.get("headers", ())]
        self.documents = self._files(request["documents"], are_documents=True)
        self.first = self.documents[0] if self.documents else None
        self.packages = self._files(request.pop("packages"))
        self._paths = [file.path for file in self.packages]
        self._order = str(request["order"])
        self._orders: dict[int, Sequence[int]] = {}
        self._identities = request.pop("identities", [])
        self._identity_parts = int(request.get("identity_parts", 1))
        self._contexts: dict[int, ssl.SSLContext | LoadFailed] = {}
        self.traffic = Traffic(part.recorder)
        self.counts: Counter[str] = Counter()
        self.package_failures: Counter[str] = Counter()
        self.resends = 0
        self._done: dict[str, array[int]] = {"packages": array("q"), "packages_failed": array("q")}
        self._per_second: dict[str, list[int]] = {name: [] for name in self._done}
        self._times = part.recorder.named("package"), part.recorder.named("package_round2")
        self._fetched = Reservoir(MOST_PACKAGES, self.seed)
        self._failed = Reservoir(MOST_FAILURES, self.seed)

    async def prepare(self) -> None:
        """Order the packages of each host, and read its certificate, before the clock runs."""
        for number in self.part.job.schedule.numbers:
            if self._order != "same":
                self._orders[number] = order_of(self._paths, self._order, self.seed, number)
            if self._identities:
                self._contexts[number] = self._read_identity(number)
        self._identities = []

    async def load(self) -> None:
        """Let all hosts fetch."""
        watching = asyncio.create_task(self.traffic.watch(self.part.job.timeout_seconds))
        try:
            await super().load()
        finally:
            watching.cancel()

    def order_of(self, number: int) -> Sequence[int]:
        """Return the places of the packages in the order of a host."""
        return self._orders.get(number) or range(len(self.packages))

    def context_of(self, host: Host) -> ssl.SSLContext | None:
        """Return the TLS context of a host with a certificate of its own. Raise LoadFailed where that cannot be used."""
        context = self._contexts.get(host.number)
        if isinstance(context, LoadFailed):
            self.part.failed(context)
            raise context.saying(str(context))
        return context

    def request_of(self, path: str, *, first: bool) -> bytes:
        """Return the bytes of a request for a path of the server."""
        return self.profile.request(
            self._host_header,
            written(path),
            sender=self._sender,
            headers=self._headers,
            first=first,
        )

    def looked_at(self, answer: Answer) -> bool:
        """Note whether the server tells the sizes that a Pulp tells; return whether it answered without a length.

        What Pulp has to fetch first it sends in chunks, also if it knows the size (seen at 3.123.1).
        """
        has_length = told = False
        for name, _ in answer.headers:
            told |= name == b"x-pulp-artifact-size"
            has_length |= name == b"content-length"
        self.counts["told_size"] += told
        return not has_length

    def fetched(
        self, delivery: Delivery, answer: Answer, began_ns: int, tries: int, round_: int
    ) -> None:
        """Count a package that came."""
        counts, number = self.counts, delivery.host.number
        is_cold = self.looked_at(answer)
        counts["packages"] += 1
        counts["cold"] += is_cold
        counts["first_try"] += tries == 1
        self._done["packages"].append(answer.done_ns)
        took = answer.done_ns - began_ns
        self._times[round_ > 0].values.append(took)
        place = self._fetched.place()
        if place >= 0:
            intended = (began_ns - self.part.origin_ns) // 1000
            row = (number, round_, intended, took // 1000, answer.status, answer.size, is_cold)
            self._fetched.put(place, (*row, tries - 1, "", ""))

    def failed(
        self, delivery: Delivery, failure: LoadFailed, began_ns: int, tries: int, round_: int
    ) -> None:
        """Count a package that failed for good."""
        now = perf_counter_ns()
        self.counts["packages_failed"] += 1
        self.package_failures[failure.kind] += 1
        self._done["packages_failed"].append(now)
        place = self._failed.place()
        if place >= 0:
            intended = (began_ns - self.part.origin_ns) // 1000
            row = (delivery.host.number, round_, intended, (now - began_ns) // 1000, failure.status)
            self._failed.put(place, (*row, 0, False, tries - 1, failure.kind, str(failure)[:300]))

    def progress(self) -> ProgramProgress:
        """Return the numbers of hosts and of packages, and the packages of each second."""
        self._fold_seconds()
        return super().progress() | {
            "per_second": self._per_second["packages"],
            "packages_done": self.counts["packages"],
            "packages_failed": self.counts["packages_failed"],
        }

    def rows(self) -> Mapping[str, list[Any]]:
        """Return the rows of hosts that have ended."""
        self._fold_seconds()
        return super().rows()

    def result(self) -> ProgramResult:
        """Return what was counted of packages."""
        self._fold_seconds()
        counts = {
            **self.counts,
            "requests": self.traffic.requests,
            "connections": self.traffic.connections,
            "bytes": self.part.recorder.bytes,
            "resends": self.resends,
        }
        return super().result() | {
            "counts": dict.fromkeys(COUNTS, 0) | counts,
            "package_failures": dict(self.package_failures),
            "per_second": self.part.recorder.result()["per_second"] | self._per_second,
            "sampled": {"packages": self._fetched.stored(), "failures": self._failed.stored()},
        }

    async def _deliver(self, host: Host) -> None:
        await Delivery(self, host).run()
        self._contexts.pop(host.number, None)

    def _files(self, listed: Sequence[Sequence[Any]], *, are_documents: bool = False) -> list[File]:
        root = urlsplit(self.url).path
        return [
            File(
                path,
                size,
                sha256,
                self.request_of(root + path, first=are_documents and not place),
                place,
            )
            for place, (path, size, sha256) in enumerate(listed)
        ]

    def _read_identity(self, number: int) -> ssl.SSLContext | LoadFailed:
        job = self.part.job
        try:
            certificate, key = self._identities[number // self._identity_parts]
            return tls.identity_context(certificate, key, job.ca, insecure=job.insecure)
        except (ssl.SSLError, ValueError, IndexError) as error:
            return tls_failure(f"host {number}", error)

    def _fold_seconds(self) -> None:
        """Count by the second what has been done since the last call."""
        for name, instants in self._done.items():
            seconds = (np.array(instants, dtype=np.int64) - self.part.origin_ns) // NS
            counted = np.bincount(np.maximum(seconds, 0))
            steps = self._per_second[name]
            steps.extend([0] * (len(counted) - len(steps)))
            for second in np.flatnonzero(counted):
                steps[second] += int(counted[second])
            del instants[:]
