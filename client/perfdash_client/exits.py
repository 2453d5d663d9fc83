"""Exit codes; the table is in docs/how-to/command-line.md."""

from enum import IntEnum


class Exit(IntEnum):
    """Codes that CI jobs may rest on; a number never changes its meaning."""

    OK = 0
    VERDICT = 1
    USAGE = 2
    REFUSED = 3
    NO_CONNECTION = 4
    NO_ANSWER = 5
    NOT_ENDED = 6
    NOT_APPROVED = 7
    NOT_DECIDED = 8
    SUSPECTED = 9
    CANNOT_TELL = 10
    INTERRUPTED = 130


MEANINGS = {
    Exit.OK: "done",
    Exit.VERDICT: "a verdict is one of those that --fail-on names",
    Exit.USAGE: "a wrong option, or a file that cannot be read",
    Exit.REFUSED: "the server refused, or failed at it",
    Exit.NO_CONNECTION: "no connection, or what answers is no perfdash",
    Exit.NO_ANSWER: "the campaign ended without an answer",
    Exit.NOT_ENDED: "the campaign has not ended: a draft (also one whose launch waits for approval "
    "by a second person), paused, or --timeout has passed",
    Exit.NOT_APPROVED: "not approved by a second person: the launch was refused, withdrawn, or void",
    Exit.NOT_DECIDED: "whether the criterion is kept is not decided, and --fail-on names does_not_pass",
    Exit.SUSPECTED: "a version is suspected to be worse, and its confirmation goes on",
    Exit.CANNOT_TELL: "whether a version is worse cannot be told: too little history, or it never came",
    Exit.INTERRUPTED: "Ctrl-C; the campaign goes on",
}
