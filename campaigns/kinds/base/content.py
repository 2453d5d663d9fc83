"""Prove which content a run worked on, whatever its address: number, bytes, and a digest of the digests. Pure."""

from collections.abc import Iterable
from hashlib import sha256

from campaigns.kinds.base.values import Proof

UNITS, BYTES, DIGEST = "content, units", "content, bytes", "content, digest"
PROOFS = (UNITS, BYTES, DIGEST)
"""Names of the proofs; `findings.compute.sameness` compares them."""


def content_proofs(files: Iterable[tuple[str, int]], unit: str) -> list[Proof]:
    """Return the proofs for files, each with its digest and its size in bytes."""
    return proofs_in_order(sorted(files, key=lambda file: (file[0], str(file[1]))), unit)


def proofs_in_order(files: Iterable[tuple[str, int]], unit: str) -> list[Proof]:
    """Return the proofs for files that come in the order of their digests; they are not kept, since there may be many.

    The digest is SHA-256 over the sorted lines “digest size”, each with a newline. It covers files and packages, not
    metadata, whose times differ between two copies of one repository.
    """
    count = size = 0
    summed = sha256()
    for digest, bytes_ in files:
        count += 1
        size += bytes_
        summed.update(f"{digest} {bytes_}\n".encode())
    return [
        Proof(UNITS, "any", count, unit, ok=True),
        Proof(BYTES, "any", size, "B", ok=True),
        Proof(DIGEST, "any", summed.hexdigest(), "", ok=True),
    ]
