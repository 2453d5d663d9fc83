"""Errors of actions, with messages that say what to do."""

from collections.abc import Mapping


class BadAction(ValueError):
    """The input is no valid action; `errors`: a message by field."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__("; ".join(errors.values()))
        self.errors = dict(errors)


class ActionFailed(Exception):
    """The action failed, or the server refused it. `output`: the end of its output."""

    def __init__(self, message: str, output: str = "") -> None:
        super().__init__(message)
        self.output = output


class HostKeyRefused(ActionFailed):
    """The machine showed a host key that is not accepted. `key`: as a line of OpenSSH."""

    def __init__(self, message: str, key: str) -> None:
        super().__init__(message)
        self.key = key
