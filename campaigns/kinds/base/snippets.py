"""Commands that set a setting with the target's own tools, each with its source. Pure."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from campaigns.kit.mappings import Settings


@dataclass(frozen=True, slots=True)
class Snippet:
    """A command to paste. names: the settings that it sets; source: the documentation that has the option.

    Words in capitals are placeholders.
    """

    tool: str
    text: str
    names: tuple[str, ...]
    source: str


INSTALLER = "the options of foreman-installer, module foreman (foreman-installer --full-help)"
INSTALLER_OPTIONS: Mapping[str, Sequence[str]] = {
    "puma_workers": ("--foreman-foreman-service-puma-workers",),
    "puma_threads": (
        "--foreman-foreman-service-puma-threads-min",
        "--foreman-foreman-service-puma-threads-max",
    ),
    "puma_threads_min": ("--foreman-foreman-service-puma-threads-min",),
    "db_pool": ("--foreman-db-pool",),
}
"""Options of foreman-installer, by perfdash's name of the setting; a later one replaces the option of an earlier one."""


def command(start: str, options: Sequence[tuple[str, Any]]) -> str:
    """Return a command, with one option a line where there are several; values are quoted for a shell."""
    parts = [f"{name} {shlex.quote(_plain(value))}" for name, value in options]
    return (" \\\n  " if len(parts) > 1 else " ").join([start, *parts])


def foreman_snippets(settings: Settings) -> list[Snippet]:
    """Return the command of foreman-installer; a setting that it does not have is left out."""
    names = tuple(name for name in settings if name in INSTALLER_OPTIONS)
    options = {
        option: settings[name]
        for name, each in INSTALLER_OPTIONS.items()
        if name in names
        for option in each
    }
    if not options:
        return []
    text = command("foreman-installer", list(options.items()))
    return [Snippet("foreman-installer", text, names, INSTALLER)]


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
