"""Errors of all rooms, which pages and the REST API turn into answers."""

from collections.abc import Iterable, Mapping, Sequence


class NotPossible(ValueError):
    """The state of the campaign or run does not allow it; the message names the state."""


class TooBusy(NotPossible):
    """It is possible in a moment: after `seconds`. own: the sender asks too often; else all do."""

    def __init__(self, message: str, seconds: int, *, own: bool = False) -> None:
        super().__init__(message)
        self.seconds, self.own = seconds, own


class NotConfirmed(NotPossible):
    """The target is a production server, and nobody typed its name."""


class Invalid(ValueError):
    """The input is not valid. `errors`: messages by field path.

    Paths: `question`, `kind`, `target`, `parameters.<name>`, `factors.<name>`, `excluded`,
    `primary_metric`, and the names of DesignForm's fields.
    """

    def __init__(self, errors: Mapping[str, Sequence[str]]) -> None:
        self.errors = {path: list(messages) for path, messages in errors.items()}
        super().__init__("; ".join(f"{p}: {' '.join(m)}" for p, m in self.errors.items()))


SHOWN_PROBLEMS = 20


class BadFile(ValueError):
    """The file cannot be read. `problems`: (where, message); where is a line, a path, or empty."""

    def __init__(self, problems: Iterable[tuple[str, str]]) -> None:
        self.problems = tuple(problems)
        lines = [f"{where}: {text}" if where else text for where, text in self.problems]
        if len(lines) > SHOWN_PROBLEMS:
            lines[SHOWN_PROBLEMS:] = [f"and {len(lines) - SHOWN_PROBLEMS} more problems"]
        super().__init__("\n".join(lines))


class Differs(ValueError):
    """Something is stored under this name with other content; nothing was stored or changed.

    campaign: primary key of the one that holds it.
    """

    def __init__(self, message: str, campaign: int) -> None:
        super().__init__(message)
        self.campaign = campaign
