"""A setting as the target's own tool takes it: where it comes from stands beside it. Pure."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Snippet:
    """What somebody pastes. names: of the settings that it sets; source: whose documentation says so.

    What stands in capitals is filled in by whoever pastes it.
    """

    tool: str
    text: str
    names: tuple[str, ...]
    source: str


INSTALLER = "the options of foreman-installer, module foreman (foreman-installer --full-help)"
OF_THE_INSTALLER: Mapping[str, Sequence[str]] = {
    "puma_workers": ("--foreman-foreman-service-puma-workers",),
    "puma_threads": (
        "--foreman-foreman-service-puma-threads-min",
        "--foreman-foreman-service-puma-threads-max",
    ),
    "db_pool": ("--foreman-db-pool",),
}
"""Settings of a Foreman as perfdash calls them, and the options that set them."""


def command(words: Sequence[str], options: Sequence[tuple[str, Any]]) -> str:
    """Write a command, an option a line where there are several; values are quoted for a shell."""
    parts = [f"{name} {shlex.quote(_plain(value))}" for name, value in options]
    return (
        " \\\n  ".join([" ".join(words), *parts]) if len(parts) > 1 else " ".join([*words, *parts])
    )


def foreman_snippets(settings: Mapping[str, Any]) -> list[Snippet]:
    """Write what the installer of a Foreman takes; a setting that it does not know is left out."""
    known = {name: value for name, value in settings.items() if name in OF_THE_INSTALLER}
    options = [(option, known[name]) for name in known for option in OF_THE_INSTALLER[name]]
    if not options:
        return []
    text = command(("foreman-installer",), options)
    return [Snippet("foreman-installer", text, tuple(known), INSTALLER)]


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
