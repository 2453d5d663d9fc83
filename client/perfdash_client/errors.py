"""What goes wrong, as people read it.

ClientError
├── BadUse         an option or a file
├── Refused        the server refused it
├── NoConnection   nobody answers, or somebody else does
├── NoAnswer       the campaign ended without an answer
├── NotEnded       the campaign goes on, and we do not
├── NotLaunched    the launch needs approval by a second person
│   ├── WaitsForYes    nobody has decided yet
│   └── LaunchRefused  the launch was rejected, or the request is void
├── StillSuspected a version is measured again
├── CannotTell     whether a version is worse
├── LineRefused    a line may not launch
└── VerdictFailed  the verdict is one that shall fail
"""

from collections.abc import Mapping
from typing import Any

from perfdash_client.exits import Exit


class ClientError(Exception):
    """An error that is printed without a traceback, and ends the program with its code."""

    code = Exit.USAGE

    def as_data(self) -> dict[str, Any]:
        """For `--json`."""
        return {"exit_code": int(self.code), "message": str(self)}


class BadUse(ClientError):
    """An option, or a file, is not what it should be."""


class Refused(ClientError):
    """The server refused; `problem` is what it sent."""

    code = Exit.REFUSED

    def __init__(self, message: str, status: int, problem: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.status, self.problem = status, problem

    def as_data(self) -> dict[str, Any]:
        """`problem`: the answer of the server."""
        return {**super().as_data(), "problem": dict(self.problem)}


class NoConnection(ClientError):
    """Nobody answers, or what answers is no perfdash."""

    code = Exit.NO_CONNECTION


class NoAnswer(ClientError):
    """The campaign ended without an answer."""

    code = Exit.NO_ANSWER


class NotEnded(ClientError):
    """The campaign has not ended."""

    code = Exit.NOT_ENDED


class NotLaunched(ClientError):
    """The launch needs approval by a second person; `request`: the launch request."""

    def __init__(self, message: str, request: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.request = request

    def as_data(self) -> dict[str, Any]:
        """`request`: the answer of the server."""
        return {**super().as_data(), "launch_request": dict(self.request)}


class WaitsForYes(NotLaunched):
    """Nobody has decided yet."""

    code = Exit.NOT_ENDED


class LaunchRefused(NotLaunched):
    """The launch was rejected, or the request is void."""

    code = Exit.NOT_APPROVED


class NotDecided(ClientError):
    """The runs do not show whether the criterion is kept."""

    code = Exit.NOT_DECIDED


class StillSuspected(ClientError):
    """A version is suspected to be worse, and is measured again."""

    code = Exit.SUSPECTED


class CannotTell(ClientError):
    """Whether a version is worse cannot be told."""

    code = Exit.CANNOT_TELL


class LineRefused(ClientError):
    """A line was asked to measure a version, and a launch is refused."""

    code = Exit.REFUSED


class VerdictFailed(ClientError):
    """A verdict is one of those that `--fail-on` names."""

    code = Exit.VERDICT
