"""What may go wrong when a server is asked, in words that a person can act on."""

from collections.abc import Mapping, Sequence


class ClientError(Exception):
    """A server could not be asked, or its answer was another one than expected."""


class NoAnswer(ClientError):
    """No answer came. `failure` is a class of `campaigns.kit.http.failures.FAILURES`."""

    def __init__(self, failure: str, message: str) -> None:
        super().__init__(message)
        self.failure = failure


class Strange(ClientError):
    """The answer is not what this server's API gives: HTML, broken JSON, fields that are missing."""


class Answered(ClientError):
    """The server answered with a status that means no.

    fields: its messages by field, where it named fields (400); words: all that it said, shortened.
    """

    def __init__(
        self, status: int, words: str, said: str, fields: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        super().__init__(said)
        self.status = status
        self.words = words
        self.fields = fields or {}


class LoginRefused(Answered):
    """User name, password or certificate are not accepted."""


class NotPermitted(Answered):
    """The user may not do this."""


class Unavailable(Answered):
    """The server, or something that it needs, is away: 500 and above."""
