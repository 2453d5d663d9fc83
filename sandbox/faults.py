"""Which file has which fault, and how long an answer waits. Pure: the same for the same settings."""

import hashlib
from collections.abc import Mapping
from enum import StrEnum
from itertools import accumulate
from math import gcd


class Fault(StrEnum):
    """What can be wrong with a file; each is a setting that takes a share of the files."""

    MISSING = "missing"
    ERROR = "errors"
    FLAKY = "flaky"
    REDIRECT = "redirects"
    STALL = "stalls"
    RESET = "resets"
    TRUNCATED = "truncated"
    CORRUPT = "corrupt"
    LONGER = "longer"
    PAGE = "pages"


def counts(shares: Mapping[Fault, float], files: int) -> dict[Fault, int]:
    """Give the number of files with each fault: the share rounded, but one at least."""
    return {
        fault: min(files, max(1, round(share * files)))
        for fault, share in shares.items()
        if share > 0
    }


class Draw:
    """Deals faults to files: an exact number of each, at most one a file, spread evenly.

    A file's rank is (index x step + start) modulo the number of files, with a step near the
    golden section of it, so that neighbours in rank are far apart in the manifest.
    """

    __slots__ = ("_files", "_limits", "_start", "_step")

    def __init__(self, shares: Mapping[Fault, float], files: int, seed: int) -> None:
        dealt = counts(shares, files)
        self._limits = list(zip(accumulate(dealt.values()), dealt, strict=True))
        self._files = files
        self._start = int.from_bytes(hashlib.sha256(b"faults:%d" % seed).digest()[:8])
        self._step = round(files * 0.618034)
        while files and gcd(self._step, files) != 1:
            self._step += 1

    def fault(self, index: int) -> Fault | None:
        """Give the fault of a file, None where it is a good one."""
        if self._limits:
            rank = (index * self._step + self._start) % self._files
            for limit, fault in self._limits:
                if rank < limit:
                    return fault
        return None


def jitter_share(seed: int, index: int, attempt: int) -> float:
    """Give the share of the jitter, 0 to 1, that this attempt at a file has to wait."""
    digest = hashlib.sha256(b"jitter:%d:%d:%d" % (seed, index, attempt)).digest()
    return int.from_bytes(digest[:4]) / 2**32
