"""Read the outcome of each file from the output of aria2c. Pure.

aria2c reports no times, and names a file by its path or its URI; here both end with the file's number.
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
"""Phrases in its messages about a missing or lost connection."""
NO_RESOURCES = ("Too many open files", "Cannot assign requested address", "Cannot allocate memory")
NOT_ALLOWED = "Permission denied"
"""The kernel's message where `connections` refuses an address."""

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
"""The HTTP statuses that have an exit code of their own."""


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """The outcome of a file. status: of the answer; None where it is unknown."""

    index: int
    failure: FileFailed | None = None
    status: int | None = None


class Reader:
    """Reads the output line by line, and returns the outcomes of files."""

    def __init__(self, index_of: Mapping[str, int]) -> None:
        """index_of: the number of the file by its URI."""
        self._index_of = index_of
        self._about: int | None = None
        self._complaints: dict[int, list[str]] = {}

    def read(self, line: str) -> Iterator[FileOutcome]:
        """Yield the outcomes that a line decides."""
        if " complete: " not in line and "rror" not in line and "abort" not in line:
            return
        if match := COMPLETE.search(line):
            yield FileOutcome(int(match[1]))
        elif (match := INCOMPLETE.search(line)) and match[1]:
            index = int(match[1])
            yield outcome_of(index, self._complaints.pop(index, []))
        elif match := UNWRITTEN.search(line):
            self._complain(int(match[1]), line.strip())
        elif match := WRONG_DIGEST.search(line):
            self._complain(int(match[1]), "errorCode=32 another SHA-256 than the manifest says")
        elif match := ABORTED.search(line):
            self._about = self._index_of.get(match[1])
        elif self._about is not None and ("errorCode=" in line or "Exception" in line):
            self._complain(self._about, line.strip())

    def remaining(self) -> Iterator[FileOutcome]:
        """Yield the outcomes of files with errors but without a line that they failed."""
        for index in list(self._complaints):
            yield outcome_of(index, self._complaints.pop(index))

    def _complain(self, index: int, what: str) -> None:
        self._complaints.setdefault(index, []).append(what)


def outcome_of(index: int, complaints: list[str]) -> FileOutcome:
    """Return the outcome of a failed file. The last message is the cause of those before it."""
    text = " ".join(complaints)
    code = int(codes[-1]) if (codes := CODE.findall(text)) else 1
    statuses = STATUS.findall(text)
    status = int(statuses[-1]) if statuses else STATUSES.get(code)
    return FileOutcome(index, FileFailed(_failure(code, status, text), _shown(text)), status)


def _failure(code: int, status: int | None, text: str) -> str:
    if NOT_ALLOWED in text and code in (1, 6):
        return "address"
    if any(phrase in text for phrase in NO_RESOURCES):
        return "generator"
    if any(int(number) in FULL for number in SYSTEM_ERROR.findall(text)):
        return "disk_full"
    if status and 400 <= status < 600:
        return f"{status // 100}xx"
    if code == 1:
        if "SSL" in text or "TLS" in text:
            return "tls"
        return "connect" if any(phrase in text for phrase in LOST) else "protocol"
    return FAILURES.get(code, "protocol")


def _shown(text: str) -> str:
    """Return the last of aria2's messages, which is the most specific."""
    return normalised_message(text.rpartition("] ")[2]) or "aria2 says nothing"
