"""Read what pgbench prints: its summary, its lines of progress, and its errors. Pure.

Tested with the outputs of versions 15 and 18; versions before 15 print less, and are refused (`pgbench.OLDEST`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

PROCESSED = re.compile(r"^number of transactions actually processed: (\d+)", re.MULTILINE)
COUNTS = {
    "failed": re.compile(r"^number of failed transactions: (\d+)", re.MULTILINE),
    "serialization": re.compile(r"^number of serialization failures: (\d+)", re.MULTILINE),
    "deadlock": re.compile(r"^number of deadlock failures: (\d+)", re.MULTILINE),
    "retried": re.compile(r"^number of transactions retried: (\d+)", re.MULTILINE),
    "skipped": re.compile(r"^number of transactions skipped: (\d+)", re.MULTILINE),
}
CONNECTING = re.compile(r"^(?:initial|average) connection time = ([\d.]+) ms", re.MULTILINE)
LATENCY = re.compile(r"^latency average = ([\d.]+) ms", re.MULTILINE)
TPS_LINE = re.compile(
    r"^tps = ([\d.]+) \((?:without initial connection time|including reconnection times)\)",
    re.MULTILINE,
)
PROGRESS = re.compile(
    r"progress: (?P<at>[\d.]+) s, (?P<tps>[\d.]+) tps, lat .*?, (?P<failed>\d+) failed"
)
GIVEN_UP = re.compile(r"client \d+ .*aborted")
"""A line of each client that pgbench gives up: the server refused its statement, or its connection has ended."""
NOISE = ("pgbench (", "pgbench: warning: scale option ignored", "starting vacuum")

STATES = (
    (("too many clients", "remaining connection slots", "too many connections"), "53300"),
    (("no more connections allowed",), "53300"),
    (("password authentication failed",), "28P01"),
    (("no pg_hba.conf entry", "no password supplied", "authentication failed"), "28000"),
    (("could not serialize access",), "40001"),
    (("deadlock detected",), "40P01"),
    (("due to statement timeout", "due to lock timeout", "due to user request"), "57014"),
    (("query_wait_timeout", "query_timeout"), "57014"),
    (("terminating connection",), "57P01"),
    (("shutting down", "starting up", "not yet accepting"), "57P03"),
    (("duplicate key value",), "23505"),
    (("violates",), "23000"),
    (("division by zero",), "22012"),
    (("out of range",), "22003"),
    (("invalid input syntax", "malformed"), "22P02"),
    (("permission denied",), "42501"),
    (("syntax error",), "42601"),
    (("undefined", "does not exist"), "42P01"),
    (("No space left", "could not extend file"), "53100"),
    (("out of memory", "out of shared memory"), "53200"),
    (("read-only transaction",), "25006"),
)
"""SQLSTATE by parts of the server's English message: pgbench prints the message alone."""
NOT_CONNECTED = (
    "could not connect",
    "could not create connection",
    "connection refused",
    "server closed the connection unexpectedly",
    "could not translate host name",
    "timeout expired",
    "connection reset by peer",
    "could not receive data from server",
    "could not send data to server",
    "connection to server",
)
CLASSES = {"28": "auth", "40001": "serialization", "40P01": "deadlock", "53300": "connect", "57014": "timeout"}  # fmt: skip
CONNECT, SERVER, SCRIPT = "connect", "server", "script"
OF_SCRIPT = ("syntax error", "undefined variable", "invalid command", "unrecognized", "expected ")


@dataclass(frozen=True, slots=True)
class Summary:
    """The end of the output. connect_ms: the time to connect all clients; with a connection a transaction, of one.

    processed: without those that failed or were skipped.
    """

    processed: int
    counts: dict[str, int]
    tps: float
    latency_ms: float | None
    connect_ms: float | None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why pgbench ended. failure: its class (`connect`, `server`, ...); state: SQLSTATE, where it is known."""

    failure: str
    message: str
    state: str = ""


def summary_of(text: str) -> Summary | None:
    """Return the summary; None where it is not whole, as after an error. It ends early where no transaction was done."""
    processed, tps = PROCESSED.search(text), TPS_LINE.search(text)
    if processed is None or (tps is None and int(processed[1])):
        return None
    latency, connecting = LATENCY.search(text), CONNECTING.search(text)
    counts = {
        name: int(found[1]) for name, pattern in COUNTS.items() if (found := pattern.search(text))
    }
    return Summary(
        int(processed[1]),
        counts,
        float(tps[1]) if tps else 0.0,
        float(latency[1]) if latency else None,
        float(connecting[1]) if connecting else None,
    )


def progress_of(line: str) -> tuple[float, float, int] | None:
    """Return the seconds, the transactions a second and the failed ones of a line of progress; None of another."""
    found = PROGRESS.search(line)
    return (float(found["at"]), float(found["tps"]), int(found["failed"])) if found else None


def failure_of(lines: Sequence[str]) -> Failure:
    """Return why pgbench ended early, by its lines on stderr."""
    errors = [line for line in lines if line.strip() and not line.startswith(NOISE)]
    told = next((line for line in errors if "error:" in line or "fatal:" in line), None)
    told = told or (errors[0] if errors else "pgbench ended without a message")
    where = errors.index(told) if told in errors else 0
    message = " ".join(line.strip() for line in errors[where : where + 4])[:500] or told
    state = next((state for parts, state in STATES if any(part in message for part in parts)), "")
    lower = message.lower()
    if "client " in lower and "aborted in command" in lower:
        failure = CLASSES.get(state, CLASSES.get(state[:2], SERVER))
        return Failure(CONNECT if "connection" in lower and not state else failure, message, state)
    if known := CLASSES.get(state) or CLASSES.get(state[:2]):
        return Failure(known, message, state)
    if any(part in lower for part in NOT_CONNECTED):
        return Failure(CONNECT, message, state or "08006")
    if any(part in lower for part in OF_SCRIPT):
        return Failure(SCRIPT, message, state)
    return Failure(SERVER, message, state)
