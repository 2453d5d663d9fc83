"""What aria2c says about each file, read from its lines. Pure.

aria2c tells no times, and names a file by its path or its URI; here both end with the file's number.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from campaigns.kinds.programs.transfers import FULL
from campaigns.kit.http.failures import FileFailed, normalised_message

COMPLETE = re.compile(r"\[NOTICE\] Download complete: .*/(\d+)\Z")
INCOMPLETE = re.compile(r"\[NOTICE\] Download GID#\w+ not complete: .*/(\d+)?\Z")
ABORTED = re.compile(r"Download aborted\. URI=(\S+)")
UNWRITTEN = re.compile(r"Failed to write into the file \S*/(\d+), cause: ")
WRONG_DIGEST = re.compile(r"Checksum error detected\. file=.*/(\d+)\Z")
CODE = re.compile(r"errorCode=(\d+)")
STATUS = re.compile(r"status=(\d{3})\b")
SYSTEM_ERROR = re.compile(r"errNum=(\d+)")
LOST = ("Got EOF", "onnection", "network", "Failed to receive", "Failed to send")
"""What it says of a connection that there is not, or no longer."""
NO_RESOURCES = ("Too many open files", "Cannot assign requested address", "Cannot allocate memory")
NOT_ALLOWED = "Permission denied"
"""What the kernel says where `connections` refuses an address."""

FAILURES = {
    2: "timeout",
    3: "4xx",
    6: "connect",
    7: "connect",
    9: "disk_full",
    **dict.fromkeys((14, 15, 16, 17, 18), "disk"),
    19: "dns",
    22: "protocol",
    23: "protocol",
    24: "4xx",
    29: "5xx",
    32: "digest",
}
"""Classes of failure by aria2's exit codes (aria2c(1), EXIT STATUS)."""
STATUSES = {3: 404, 24: 401, 29: 503}
"""The answers that have a code of their own."""


@dataclass(frozen=True, slots=True)
class Said:
    """What became of a file. status: of the answer, None where that was not told."""

    index: int
    failure: FileFailed | None = None
    status: int | None = None


class Reader:
    """Takes line after line, and tells which file has come, or failed."""

    def __init__(self, index_of: Mapping[str, int]) -> None:
        """`index_of`: the number of the file that each URI asks for."""
        self._index_of = index_of
        self._about: int | None = None
        self._complaints: dict[int, list[str]] = {}

    def read(self, line: str) -> Iterator[Said]:
        """Take a line; give what it decides."""
        if " complete: " not in line and "rror" not in line and "abort" not in line:
            return
        if found := COMPLETE.search(line):
            yield Said(int(found[1]))
        elif (found := INCOMPLETE.search(line)) and found[1]:
            index = int(found[1])
            yield judged(index, self._complaints.pop(index, []))
        elif found := UNWRITTEN.search(line):
            self._complain(int(found[1]), line.strip())
        elif found := WRONG_DIGEST.search(line):
            self._complain(int(found[1]), "errorCode=32 another SHA-256 than the manifest says")
        elif found := ABORTED.search(line):
            self._about = self._index_of.get(found[1])
        elif self._about is not None and ("errorCode=" in line or "Exception" in line):
            self._complain(self._about, line.strip())

    def at_the_end(self) -> Iterator[Said]:
        """Yield the files that it only complained about; of some it does not say that they failed."""
        for index in list(self._complaints):
            yield judged(index, self._complaints.pop(index))

    def _complain(self, index: int, what: str) -> None:
        self._complaints.setdefault(index, []).append(what)


def judged(index: int, complaints: list[str]) -> Said:
    """Return why a file failed. The last complaint is the cause of those before it."""
    text = " ".join(complaints)
    code = int(codes[-1]) if (codes := CODE.findall(text)) else 1
    statuses = STATUS.findall(text)
    status = int(statuses[-1]) if statuses else STATUSES.get(code)
    return Said(index, FileFailed(_failure(code, status, text), _shown(text)), status)


def _failure(code: int, status: int | None, text: str) -> str:
    if NOT_ALLOWED in text and code in (1, 6):
        return "address"
    if any(words in text for words in NO_RESOURCES):
        return "generator"
    if any(int(number) in FULL for number in SYSTEM_ERROR.findall(text)):
        return "disk_full"
    if status and 400 <= status < 600:
        return f"{status // 100}xx"
    if code == 1:
        if "SSL" in text or "TLS" in text:
            return "tls"
        return "connect" if any(words in text for words in LOST) else "protocol"
    return FAILURES.get(code, "protocol")


def _shown(text: str) -> str:
    """Return the last of aria2's sentences, which says most."""
    return normalised_message(text.rpartition("] ")[2]) or "aria2 says nothing"
