"""What the status of an answer means that is no success. Pure."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from campaigns.kit.http.connection import Answer
from campaigns.kit.http.errors import Answered, LoginRefused, NotPermitted, Unavailable


def refusal(
    answer: Answer,
    words: str,
    server: str,
    *,
    door: str = "",
    fields: Mapping[str, Sequence[str]] | None = None,
) -> Answered:
    """Say what a status means, in the server's words where it has any.

    server, door: what answers, and what looks after logins where that is something else.
    fields: what is wrong, by the field of what was sent.
    """
    asked = f"{answer.method} {urlsplit(answer.url).path}"
    hint = f": {words}" if words else ""
    reason = words or "no reason given"
    said = f"{server} answered {answer.status} to {asked}{hint}."
    match answer.status:
        case 401:
            return LoginRefused(401, words, f"{door or server} refuses the login ({reason}).")
        case 403:
            return NotPermitted(403, words, f"The user may not {asked} ({reason}).")
        case status if status >= 500:
            return Unavailable(status, words, said)
        case status:
            return Answered(status, words, said, fields or {})
