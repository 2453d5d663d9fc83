"""What became of a sync that failed: Pulp's words, by class. Pure."""

import re

CLASSES = (
    ("checksum", re.compile(r"PLP000[34]|failed validation due to (checksum|size)", re.IGNORECASE)),
    ("timeout", re.compile(r"PLP0005|timed? ?out", re.IGNORECASE)),
    ("worker gone", re.compile(r"worker has gone missing|during worker shutdown", re.IGNORECASE)),
    ("disk full", re.compile(r"no space left|errno 28|disk quota", re.IGNORECASE)),
    ("feed refuses", re.compile(r"\b40[13], message=")),
    ("feed 4xx", re.compile(r"\b4\d\d, message=")),
    ("feed 5xx", re.compile(r"\b5\d\d, message=")),
    (
        "feed unreachable",
        re.compile(r"cannot connect|name or service not known|server disconnected|connection reset",
                   re.IGNORECASE),
    ),
    ("permission", re.compile(r"permission denied", re.IGNORECASE)),
)  # fmt: skip
OTHER = "other"
NOT_THE_FEEDS = frozenset({"worker gone", "disk full", "permission"})
"""What says nothing about the level that is measured: Pulp itself was not in order."""


def failure_class(words: str, code: str = "") -> str:
    """Give the class of a task's error, from its `error_code` and its words."""
    said = f"{code} {words}"
    return next((name for name, pattern in CLASSES if pattern.search(said)), OTHER)
