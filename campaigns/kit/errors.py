"""Errors of all rooms, which pages and the REST API turn into answers."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence


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
    `primary_metric`, and the names of the fields of a definition.
    """

    def __init__(self, errors: Mapping[str, Sequence[str]]) -> None:
        self.errors: dict[str, list[str]] = {}
        sent = ((path, text) for path, texts in errors.items() for text in texts)
        for path, text in told_once(sent):
            self.errors.setdefault(path, []).append(text)
        super().__init__("; ".join(f"{p}: {' '.join(m)}" for p, m in self.errors.items()))


SHOWN_PROBLEMS = 20
SHOWN_PLACES = 3
RUN = re.compile(r"(?<=^runs\.)\d+(?=\.|$)")
LINE = re.compile(r"(?<=^line )\d+")


def told_once(problems: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield each problem with its first place; what is the same in several runs, or lines of a file, is told once.

    A place is a path, such as `runs.3.values.duration`, or `line 3`.
    """
    places: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for where, text in problems:
        found = RUN.search(where) or LINE.search(where)
        number = found[0] if found else ""
        general = f"{where[: found.start()]}#{where[found.end() :]}" if found else where
        places.setdefault((general, text), []).append((where, number))
    for (general, text), (first, *others) in places.items():
        numbers = [number for _, number in others if number]
        if numbers:
            what = "run" if general.startswith("runs") else "line"
            text = text if text.endswith((".", "!", "?")) else f"{text}."
            text += f" The same in {len(numbers):,} more {what}{'s' * (len(numbers) > 1)}: "
            text += ", ".join(numbers[:SHOWN_PLACES]) + " …" * (len(numbers) > SHOWN_PLACES)
        yield first[0], text


class BadFile(ValueError):
    """The file cannot be read. `problems`: (where, message); where is a line, a path, or empty."""

    def __init__(self, problems: Iterable[tuple[str, str]]) -> None:
        self.problems = tuple(told_once(problems))
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
