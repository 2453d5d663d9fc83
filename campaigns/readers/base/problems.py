"""Why a file cannot be read."""

from collections.abc import Iterable
from typing import NoReturn

SHOWN_PROBLEMS = 20


class BadFile(ValueError):
    """The file cannot be read. `problems`: (where, message); where is a line, a path, or empty."""

    def __init__(self, problems: Iterable[tuple[str, str]]) -> None:
        self.problems = tuple(problems)
        lines = [f"{where}: {text}" if where else text for where, text in self.problems]
        if len(lines) > SHOWN_PROBLEMS:
            lines[SHOWN_PROBLEMS:] = [f"and {len(lines) - SHOWN_PROBLEMS} more problems"]
        super().__init__("\n".join(lines))


def refuse(where: str, message: str) -> NoReturn:
    """Raise BadFile with one problem."""
    raise BadFile([(where, message)])
