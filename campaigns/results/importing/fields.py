"""Reads single fields of a submission: each notes what is wrong with it by its path."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from campaigns.kit.redaction import storable
from campaigns.results.importing.submitted import Scalar

MOST_BLOCK = 1_000_000
MOST_UNITS = 2**31 - 1
MOST_FACTS = 50
MOST_INFO_BYTES = 10_000
LEVEL_LETTERS = 500
FACT_LETTERS = 2000
SHOWN = 60
EARLIEST, LATEST = datetime(1990, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)


class Problems(dict[str, list[str]]):
    """Messages by path; told when everything was looked at."""

    def note(self, path: str, message: str) -> None:
        """Add a message to those of a path."""
        self.setdefault(path, []).append(message)


def no_others(given: Mapping[str, Any], known: Any, path: str, problems: Problems) -> None:
    """Note names that are not known."""
    for name in given:
        if name not in known:
            problems.note(
                f"{path}.{str(name)[:SHOWN]}".strip("."),
                f"There is no field “{str(name)[:SHOWN]}” here; there are {', '.join(known)}.",
            )


def mapping_at(
    data: Mapping[str, Any], name: str, problems: Problems, at: str = ""
) -> dict[str, Any]:
    """Give the object under a name; an empty one where there is none, or something else."""
    given = data.get(name)
    if given is None:
        return {}
    if not isinstance(given, dict):
        problems.note(f"{at}.{name}".strip("."), "Send an object: names with their values.")
        return {}
    return given


def text_of(given: Any, path: str, most: int, problems: Problems) -> str:
    """Give a text without its outer spaces; empty where it is none, too long, or cannot be shown."""
    if not isinstance(given, str):
        problems.note(path, "Send a text.")
        return ""
    if len(given) > most:
        problems.note(path, f"It has {len(given):,} letters; at most {most} are stored.")
        return ""
    if not given.isprintable():
        problems.note(path, "It holds control characters; take them out.")
        return ""
    return given.strip()


def level_of(given: Any, path: str, problems: Problems) -> Scalar:
    """A text, a number, yes or no; 5.0 is 5, as it is to the database."""
    if isinstance(given, bool):
        return given
    if isinstance(given, int | float):
        return int(given) if float(given).is_integer() else given
    return text_of(given, path, LEVEL_LETTERS, problems)


def context_of(data: Mapping[str, Any], at: str, problems: Problems) -> dict[str, str]:
    """Give facts of the environment as text, without secrets."""
    found = {}
    given = mapping_at(data, "context", problems, at)
    if len(given) > MOST_FACTS:
        problems.note(f"{at}.context".strip("."), f"More than {MOST_FACTS} facts; leave some out.")
        return {}
    for name, value in given.items():
        path = f"{at}.context.{name[:SHOWN]}".strip(".")
        if isinstance(value, dict | list) or value is None:
            problems.note(path, "Send a text, a number, true or false.")
            continue
        if not text_of(name, path, 100, problems):
            problems.note(path, "Give the fact a name.")
        words = value if isinstance(value, str) else json.dumps(value)
        found[name] = storable(text_of(words, path, FACT_LETTERS, problems))
    return found


def info_of(data: Mapping[str, Any], at: str, problems: Problems) -> dict[str, Any]:
    """Give what else was told, as it is."""
    given = mapping_at(data, "info", problems, at)
    if given and len(json.dumps(given)) > MOST_INFO_BYTES:
        problems.note(
            f"{at}.info".strip("."), f"It is larger than {MOST_INFO_BYTES:,} bytes; send less."
        )
    return given


def instant_of(given: Any, path: str, problems: Problems) -> datetime | None:
    """Give an instant of ISO 8601 with its offset; None where there is none, or it is wrong."""
    if given is None:
        return None
    try:
        moment = datetime.fromisoformat(given)
    except (TypeError, ValueError):
        problems.note(path, "Send an instant such as 2026-11-22T09:30:00Z.")
        return None
    if moment.tzinfo is None:
        problems.note(path, "Say its offset, such as Z or +01:00 at its end.")
        return None
    try:
        within = EARLIEST <= moment < LATEST
    except OverflowError:
        within = False
    if not within:
        problems.note(path, "Send an instant of the years 1990 to 2099.")
        return None
    return moment


def whole_of(entry: Mapping[str, Any], name: str, path: str, problems: Problems) -> int:
    """Give a number of things; 0 where there is none, or it is wrong."""
    given = entry.get(name)
    most = MOST_BLOCK if name == "block" else MOST_UNITS
    if given is None:
        return 0
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= most:
        problems.note(f"{path}.{name}", f"Send a whole number, 0 to {most:,}.")
        return 0
    if name == "block" and given == 0:
        problems.note(f"{path}.{name}", "Blocks are counted from 1.")
    return given
