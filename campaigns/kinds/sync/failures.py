"""Classify failed syncs by Pulp's error messages. Pure."""

import re
from collections.abc import Iterable

from campaigns.kinds.base import TargetUnavailable

CLASSES = (
    ("checksum", re.compile(r"PLP000[34]|failed validation due to (checksum|size)", re.IGNORECASE)),
    ("timeout", re.compile(r"PLP0005|timed? ?out", re.IGNORECASE)),
    ("worker gone", re.compile(r"worker has gone missing|during worker shutdown", re.IGNORECASE)),
    ("disk full", re.compile(r"no space left|errno 28|disk quota", re.IGNORECASE)),
    ("not a feed", re.compile(r"parsing of the manifest file failed|can't decode byte", re.IGNORECASE)),
    (
        "feed unreachable",
        re.compile(r"cannot connect|name or service not known|server disconnected|connection reset"
                   r"|payload is not completed", re.IGNORECASE),
    ),
    ("feed refuses", re.compile(r"\b40[13], message=")),
    ("feed 4xx", re.compile(r"\b4\d\d, message=")),
    ("feed 5xx", re.compile(r"\b5\d\d, message=")),
    ("permission", re.compile(r"permission denied", re.IGNORECASE)),
)  # fmt: skip
OTHER = "other"
CANCELLED = "cancelled by others"
SERVER_FAULTS = {
    CANCELLED: "Somebody cancelled the task: it is no failure of the level.",
    "worker gone": "Pulp's worker was killed, stopped or cut off from its database: look into its log.",
    "disk full": "Make room where Pulp keeps its artifacts.",
    "permission": "Let Pulp write where it keeps its artifacts.",
}
"""Classes of failure where Pulp itself was not in order, which says nothing about the level; what to do."""


def failure_class(message: str, code: str = "") -> str:
    """Return the class of a task's error, from its message and `error_code`."""
    text = f"{code} {message}"
    return next((name for name, pattern in CLASSES if pattern.search(text)), OTHER)


def refuse_server_faults(classes: Iterable[str], message: str) -> None:
    """Raise TargetUnavailable where one of the classes of failure is a fault of Pulp itself."""
    for name in classes:
        if name in SERVER_FAULTS:
            shown = f": {message.rstrip('. ')}" if message else ""
            raise TargetUnavailable(f"The sync failed ({name}){shown}. {SERVER_FAULTS[name]}")
