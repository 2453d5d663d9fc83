"""The error of an invalid action; `kit.ssh.access` has those of an action that is done."""

from collections.abc import Mapping


class BadAction(ValueError):
    """The input is no valid action; `errors`: a message by field."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__("; ".join(errors.values()))
        self.errors = dict(errors)
