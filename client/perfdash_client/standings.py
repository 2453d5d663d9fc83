"""What a line says of a version: waits for it, and judges it by the words of `--fail-on`."""

from collections.abc import Collection, Iterable, Mapping
from time import monotonic, sleep
from typing import Any

from perfdash_client.connection import Server
from perfdash_client.errors import (
    BadUse,
    CannotTell,
    ClientError,
    LineRefused,
    NotEnded,
    StillSuspected,
    VerdictFailed,
)

Standing = Mapping[str, Any]
EVIDENCE = ("confirmed", "repeated", "suspected", "machine", "not_reproduced", "unverified")
"""The words of `--fail-on`."""
DEFAULT = ("confirmed", "repeated")
PASSING = ("quiet", "machine", "not_reproduced", "confirmed", "repeated")
"""What passes unless `--fail-on` names it."""
EVERY_SECONDS = 5.0


def read_evidence(given: Iterable[str] | None) -> frozenset[str]:
    """Read `--fail-on`, which may be repeated and hold commas. Raise BadUse."""
    texts = [word.strip() for text in given or () for word in text.split(",")]
    words = frozenset(text.lower().replace("-", "_").replace(" ", "_") for text in texts if text)
    if unknown := sorted(words - set(EVIDENCE)):
        raise BadUse(f"--fail-on: “{unknown[0]}” is no evidence. There are {', '.join(EVIDENCE)}.")
    if texts and not words:
        raise BadUse("--fail-on names no evidence.")
    return words or frozenset(DEFAULT)


def line_named(server: Server, name: str) -> dict[str, Any]:
    """Return the line that goes on with a name or a number. Raise BadUse."""
    if name.isascii() and name.isdecimal():
        line: dict[str, Any] = server.get(f"lines/{int(name)}")
        return line
    found = [
        each for each in server.pages("lines") if each["name"] == name and each["state"] != "ended"
    ]
    if len(found) > 1:
        numbers = ", ".join(str(each["id"]) for each in found)
        raise BadUse(f"--line: several lines have the name “{name}”: {numbers}. Give a number.")
    if not found:
        raise BadUse(f"--line: no line that goes on has the name “{name}”.")
    return found[0]


def wait_for(
    server: Server,
    line: Mapping[str, Any],
    version: str,
    key: str,
    words: Collection[str],
    timeout: float,
) -> Standing:
    """Return what a line says of a version once that is final, or `timeout` seconds have passed."""
    end = monotonic() + timeout
    while True:
        standing: Standing = server.get(f"lines/{line['id']}/standing", version=version, key=key)
        left = end - monotonic()
        if _is_final(line, standing, words) or left <= 0:
            return standing
        sleep(min(EVERY_SECONDS, left))


def _is_final(line: Mapping[str, Any], standing: Standing, words: Collection[str]) -> bool:
    evidence = standing["evidence"]
    if evidence in words:
        return True
    comes_from_outside = line["template"] is None and evidence == "not_measured"
    return evidence not in ("waits", "suspected") and not comes_from_outside


def failure_of(standing: Standing, words: Collection[str]) -> ClientError | None:
    """Return how a job ends that waited for a version; None where it passes."""
    evidence, text = standing["evidence"], standing["text"]
    if evidence in words:
        return VerdictFailed(f"{text} (--fail-on {','.join(sorted(words))})")
    match evidence:
        case "waits":
            return NotEnded(f"{text} --timeout has passed; the line goes on.")
        case "suspected":
            return StillSuspected(f"{text} Its confirmation goes on.")
        case "refused":
            return LineRefused(text)
    return None if evidence in PASSING else CannotTell(text)
