"""The files of a request, in the order of a host, and what an answer for one has to be. Pure."""

import random
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from campaigns.kinds.load.chance import chance
from campaigns.kinds.load.failures import LoadFailed, of_status
from campaigns.kinds.load.framing import ANY_SIZE
from campaigns.kinds.load.wire import Answer

SAME, SHUFFLED, DNF = "same", "shuffled", "dnf"
SAMPLED_SHARE = 0.05
MOST_UNKNOWN_BYTES = 64 * 1024 * 1024
"""Of a document whose size nobody tells: the first one."""
REDIRECTS = frozenset({301, 302, 303, 307, 308})
MOST_REDIRECTS = 6
OWN_FAILURES = {
    "404": "the server has no such file",
    "size": "the file has another size than the metadata say",
    "digest": "the file has other bytes than the metadata say",
}
"""Further classes of failure, besides `load.failures.FAILURES`."""


@dataclass(frozen=True, slots=True)
class File:
    """A file to fetch. path: below the directory of the repository. size: in bytes, None where it is not known. sha256: may be empty.

    data: the bytes of its request. place: among its equals.
    """

    path: str
    size: int | None
    sha256: str
    data: bytes
    place: int

    def check(self, answer: Answer) -> None:
        """Raise LoadFailed where an answer is another one than the metadata say, the size first; a redirection is for the caller."""
        status = answer.status
        if status in REDIRECTS:
            return
        kind = of_status(status) or ("protocol" if status == 304 else "")
        if kind:
            text = answer.body.decode(errors="replace").strip()
            raise LoadFailed(
                "404" if status == 404 else kind,
                f"{self.path}: the server answered {status}" + (f": {text}" if text else ""),
                status=status,
            )
        if self.size is not None and answer.size != self.size:
            raise LoadFailed(
                "size",
                f"{self.path} has {answer.size:,} bytes, and the metadata say {self.size:,}",
                status=status,
            )
        if answer.sha256 and answer.sha256 != self.sha256:
            raise LoadFailed(
                "digest",
                f"{self.path} has the SHA-256 {answer.sha256}, and the metadata say {self.sha256}",
                status=status,
            )


def most_bytes(is_package: bool) -> int:
    """Return how many bytes a file of unknown size may have."""
    return ANY_SIZE if is_package else MOST_UNKNOWN_BYTES


def order_of(paths: Sequence[str], order: str, seed: int, host: int) -> Sequence[int]:
    """Return the places of packages in the order of a host."""
    places: Any = range(len(paths))
    if order == DNF:
        return sorted(places, key=lambda place: paths[place].rpartition("/")[2])
    if order == SHUFFLED:
        places = array("H" if len(paths) < 1 << 16 else "I", places)
        random.Random(f"{seed} {host}").shuffle(places)
    return places  # type: ignore[no-any-return]


def is_sampled(seed: int, host: int, place: int) -> bool:
    """Return whether a host hashes a package where only a sample is hashed."""
    return chance(seed, host, place) < SAMPLED_SHARE


def written(path: str) -> str:
    """Return a path as it stands in a request: what no client could send is quoted, and nothing else."""
    return quote(path, safe="/%:@!$&'()*+,;=~-._?")
