"""Errors of requests to a server; their messages say what a person can do."""

from collections.abc import Mapping, Sequence


class ClientError(Exception):
    """A server gave no answer, or not the one that was expected."""


class NoAnswer(ClientError):
    """No answer came. `failure` is a class of `campaigns.kit.http.failures.FAILURES`."""

    def __init__(self, failure: str, message: str) -> None:
        super().__init__(message)
        self.failure = failure


class Strange(ClientError):
    """The answer is not what this server's API gives: HTML, broken JSON, fields that are missing."""


class Answered(ClientError):
    """The server answered with an error status.

    server_message: the server's own message, shortened; fields: its messages by field (400).
    """

    def __init__(
        self,
        status: int,
        server_message: str,
        message: str,
        fields: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.server_message = server_message
        self.fields = fields or {}


class LoginRefused(Answered):
    """User name, password or certificate are not accepted."""


class NotPermitted(Answered):
    """The user may not do this."""


class Unavailable(Answered):
    """The server, or something that it needs, is not available (500 and above)."""
