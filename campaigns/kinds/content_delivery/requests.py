"""The request to the program that fetches content: what one host or many fetch, and how."""

import os
from collections.abc import Sequence
from typing import NamedTuple

from campaigns.kinds.base import Context, DriverError, HostIdentity, parts_of
from campaigns.kinds.content_delivery.profiles import DNF_4
from campaigns.kit.mappings import ProgramRequest

PROGRAM = "campaigns.kinds.content_delivery.program"
HOSTS_A_PROCESS = 50
"""How many hosts one process takes, as long as there are cores for more processes."""
LONGEST_CONNECT_SECONDS = 30.0
"""As curl has it under dnf."""
METADATA = ("fetch", "repomd", "none")
VERIFY = ("size", "sample", "all")
ORDERS = ("same", "shuffled", "dnf")


class Document(NamedTuple):
    """A file of the metadata. path: below the directory of the repository. size: in bytes, None where it is not known."""

    path: str
    size: int | None = None
    sha256: str = ""


class Package(NamedTuple):
    """A file to fetch. path: below the directory of the repository. size: in bytes, None where it is not known."""

    path: str
    size: int | None = None
    sha256: str = ""


def delivering(
    context: Context,
    url: str,
    *,
    documents: Sequence[Document] = (),
    packages: Sequence[Package],
    hosts: int,
    parallel: int = 3,
    order: str = "shuffled",
    seed: int = 1,
    metadata: str = "fetch",
    profile: str = DNF_4.name,
    rounds: int = 1,
    verify: str = "size",
    no_data_seconds: float = 30.0,
    retries: str | int = "dnf",
    start: str = "barrier",
    ramp_seconds: float = 10.0,
    identities: Sequence[HostIdentity] = (),
    certificate: str = "",
    key: str = "",
    headers: Sequence[tuple[str, str]] = (),
    ca: str = "",
    insecure: bool = False,
    limit_seconds: float | None = None,
    processes: int | None = None,
) -> ProgramRequest:
    """Return the request of a load: each of `hosts` hosts fetches the documents, then the packages, `parallel` at a time.

    url: of the directory. documents: the first is asked for by itself, the others at once; `metadata` says how many of them are
    fetched (METADATA). packages: in the order in which hosts fetch them with `order` "same"; "shuffled" gives each host another
    order, by `seed`; "dnf" is the order of their names. verify: whether bodies are hashed: none, one in twenty, or all; sizes are
    always compared. no_data_seconds: how long a transfer may be slow (`load.counting`). retries: after a failure, or "dnf".
    start: "barrier", or "ramp": the hosts begin within `ramp_seconds`. identities: a certificate for each host. certificate, key:
    one for all. headers: further ones of each request. limit_seconds: of the load; without, as long as `measure` may take.
    processes: of each generator.

    Raise DriverError where there are fewer identities than hosts, or a level is unknown.
    """
    _check(hosts=hosts, identities=len(identities), parallel=parallel)
    _check_level("metadata", metadata, METADATA)
    _check_level("verify", verify, VERIFY)
    _check_level("order", order, ORDERS)
    fetched = {"fetch": documents, "repomd": documents[:1], "none": ()}[metadata]
    return {
        "url": url,
        "rules": context.rules.to_json(),
        "ca": ca,
        "insecure": insecure,
        "certificate": certificate,
        "key": key,
        "schedule": {
            "hosts": hosts,
            "iterations": 1,
            "ramp_seconds": ramp_seconds if start == "ramp" else 0.0,
        },
        "processes": processes or processes_for(hosts),
        "connect_timeout_seconds": LONGEST_CONNECT_SECONDS,
        "tls_timeout_seconds": LONGEST_CONNECT_SECONDS,
        "timeout_seconds": no_data_seconds,
        "time_limit_seconds": float(limit_seconds or context.deadline_seconds),
        "most_concurrent": context.most_concurrent,
        "most_per_second": context.most_per_second,
        "sender": context.sender,
        "documents": [list(document) for document in fetched],
        "packages": [list(package) for package in packages],
        "identities": [[each.certificate, each.key] for each in identities[:hosts]],
        "parallel": parallel,
        "order": order,
        "seed": seed,
        "profile": profile,
        "rounds": rounds,
        "verify": verify,
        "retries": retries,
        "headers": [list(header) for header in headers],
    }


def parts(request: ProgramRequest, generators: int) -> list[ProgramRequest]:
    """Split a request into one for each generator, each with the certificates of its own hosts."""
    return [
        {
            **part,
            "identities": request["identities"][number::generators],
            "identity_parts": generators,
        }
        for number, part in enumerate(parts_of(request, generators))
    ]


def processes_for(hosts: int) -> int:
    """Return how many processes of a generator share the hosts."""
    return max(1, min(len(os.sched_getaffinity(0)), -(-hosts // HOSTS_A_PROCESS)))


def _check(*, hosts: int, identities: int, parallel: int) -> None:
    if identities and identities < hosts:
        raise DriverError(
            f"{hosts:,} hosts need a certificate each, and there are {identities:,}. Take fewer hosts, or a larger population."
        )
    if parallel < 1:
        raise DriverError("A host has to fetch at least one file at a time.")


def _check_level(name: str, value: str, values: Sequence[str]) -> None:
    if value not in values:
        raise DriverError(f"{name} is one of {', '.join(values)}, not {value!r}.")
