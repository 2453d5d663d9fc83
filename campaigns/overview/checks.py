"""System checks of database and documentation: by `check --database default`, `migrate`, and `prepare`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import connections
from django.db.migrations.loader import MigrationLoader

from campaigns.targets.saving import unreadable_targets

APP = "campaigns"
GLOSSARY = "docs/reference/glossary.md"
MOST_NAMES = 5


@register(Tags.database)
def database_is_not_newer(
    databases: Sequence[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Refuse a database that a newer version of perfdash has migrated."""
    return [
        Error(
            "The database belongs to a newer version of perfdash: this one does not know its "
            f"migration {', '.join(unknown)}.",
            hint="Start the newer version, or restore the backup that was made before the upgrade.",
            id="perfdash.E001",
        )
        for alias in databases or ()
        if (unknown := _unknown_migrations(alias))
    ]


@register(Tags.database)
def passwords_can_be_read(
    databases: Sequence[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Warn of stored passwords that no key opens; their targets cannot be measured.

    Return nothing where migrations are missing: the queries need the newest tables.
    """
    return [
        Warning(
            f"No key of PERFDASH_ENCRYPTION_KEYS opens the password of {named(lost)}.",
            hint="Put the key that they were saved with back into the list, or enter the "
            "passwords again on the pages of these targets.",
            id="perfdash.W001",
        )
        for alias in databases or ()
        if _is_up_to_date(alias) and (lost := unreadable_targets(alias))
    ]


@register(Tags.files)
def documentation_is_there(**kwargs: Any) -> list[CheckMessage]:
    """Refuse an installation without docs/, which Help shows and every result links to."""
    path = Path(settings.BASE_DIR, GLOSSARY)
    if path.is_file():
        return []
    return [
        Error(
            f"The documentation is missing: there is no {path}.",
            hint="Copy docs/ and CHANGELOG.md into the directory of manage.py, as the Dockerfile does.",
            id="perfdash.E002",
        )
    ]


def named(names: Sequence[str]) -> str:
    """Return the names of some targets, and how many there are."""
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    word = "target" if len(names) == 1 else f"{len(names)} targets:"
    return f"{word} {', '.join(names[:MOST_NAMES])}{more}"


def _is_up_to_date(alias: str) -> bool:
    loader = MigrationLoader(connections[alias])
    applied = loader.applied_migrations or {}
    return all(key in applied for key in loader.disk_migrations or {} if key[0] == APP)


def _unknown_migrations(alias: str) -> list[str]:
    loader = MigrationLoader(connections[alias])
    on_disk = loader.disk_migrations or {}
    known = {*on_disk, *(key for migration in on_disk.values() for key in migration.replaces)}
    applied = loader.applied_migrations or {}
    return sorted(name for app, name in applied if app == APP and (app, name) not in known)
