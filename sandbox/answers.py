"""What is answered to one request, and how it shall go wrong. Pure: nothing is sent here."""

from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache
from http import HTTPStatus

from sandbox.bodies import Body, WholeBody

TEXT = "text/plain; charset=utf-8"
SERVER = "Server: perfdash-sandbox"


class Ending(Enum):
    """What happens half way through a body (WHOLE: nothing)."""

    WHOLE = auto()
    STALL = auto()
    RESET = auto()
    TRUNCATED = auto()


@dataclass(slots=True)
class Answer:
    """One response.

    head: status line and headers, each with its line end, without the empty line.
    body: None where only the head is sent (HEAD).
    silent: nothing is ever sent.
    close: the connection ends after it, whatever the client asked.
    delay, stall: seconds before the first byte; seconds half way. bandwidth: bytes a second, or 0.
    """

    status: int
    head: bytes
    body: Body | None = None
    ending: Ending = Ending.WHOLE
    delay: float = 0.0
    bandwidth: float = 0.0
    stall: float = 0.0
    silent: bool = False
    close: bool = False


@lru_cache(maxsize=4096)
def head(status: int, length: int | None, content_type: str, *headers: str) -> bytes:
    """Write status line and headers. Without `length` the body lasts until the connection ends."""
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", f"Content-Type: {content_type}"]
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return "".join(f"{line}\r\n" for line in (*lines, *headers)).encode("ascii")


def text(status: int, sentence: str, *headers: str, content_type: str = TEXT) -> Answer:
    """Answer with a sentence (or a page), and say who does; files come without, to stay small."""
    body = WholeBody(sentence.encode())
    return Answer(status, head(status, body.length, content_type, SERVER, *headers), body)
