"""Read files of other tools in a process of its own: what somebody sent costs no more than that process may take."""

from typing import IO, Any

import msgspec

from campaigns.kit import apart
from campaigns.kit.errors import BadFile
from campaigns.kit.mappings import Json
from campaigns.results import readers
from campaigns.results.readers import Read

AT_ONCE = apart.Limits(memory_mb=500, seconds=15)
"""Of a file that a request waits for: at most 2 MB."""
OUTPUT = apart.Limits(memory_mb=1_000, seconds=60)
"""Of the output of a program, which a run waits for: at most 20 MB."""
LATER = apart.Limits(memory_mb=2_000, seconds=300)
"""Of a file that nobody waits for: at most 200 MB."""


class _Answer(msgspec.Struct):
    """What the child says: what it read, or why it cannot be read."""

    read: Read | None
    problems: list[tuple[str, str]]


def read(
    content: bytes | IO[bytes],
    filename: str = "",
    format: str = "",
    mapping: Json | None = None,
    limits: apart.Limits = AT_ONCE,
) -> Read:
    """Return what `readers.read` returns for the same, read in a process of its own. Raise BadFile."""
    arguments = {"filename": filename, "format": format, "mapping": mapping}
    try:
        answer = msgspec.json.decode(apart.work(answered, content, arguments, limits), type=_Answer)
    except apart.TookTooMuch as reason:
        raise BadFile([("", str(reason))]) from None
    if answer.read is None:
        raise BadFile(answer.problems)
    return answer.read


def answered(file: IO[bytes], arguments: dict[str, Any]) -> bytes:
    """Read a file, in the child."""
    try:
        answer = _Answer(readers.read(file, **arguments), [])
    except BadFile as refused:
        answer = _Answer(None, list(refused.problems))
    return msgspec.json.encode(answer)
