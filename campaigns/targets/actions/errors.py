"""Errors of actions, with messages that a person can act on."""

from collections.abc import Mapping


class BadAction(ValueError):
    """What was sent is no action; `errors`: a message by field."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__("; ".join(errors.values()))
        self.errors = dict(errors)


class ActionFailed(Exception):
    """The action failed, or the server refused it. `output`: the end of its output."""

    def __init__(self, message: str, output: str = "") -> None:
        super().__init__(message)
        self.output = output


class HostKeyRefused(ActionFailed):
    """The machine showed a key that nobody has accepted. `key`: as a line of OpenSSH."""

    def __init__(self, message: str, key: str) -> None:
        super().__init__(message)
        self.key = key
