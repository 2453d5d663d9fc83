"""Databases of earlier versions, and what their tests have to know of them. README.md tells more."""

from pathlib import Path

HERE = Path(__file__).parent
ENCRYPTION_KEY = "b25seSBmb3IgdGVzdHMgb2YgdGhlIHVwZ3JhZGUhISE="
PASSWORD = "correct 'horse' & <battery>"  # noqa: S105  of a server that does not exist
TOKEN = "of-no-installation-but-the-stored-ones"  # noqa: S105


def stored_versions() -> list[str]:
    """The versions whose database is kept here, oldest first."""
    names = (path.name.removesuffix(".sql.gz") for path in HERE.glob("*.sql.gz"))
    return sorted(names, key=lambda name: [int(part) for part in name.split(".")])
