"""What perfdash needs before it can serve: database, schema, broker. Reads only."""

from functools import cache

from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from campaigns.kit import broker

DATABASE = "The database does not answer. Look whether PostgreSQL runs and DATABASE_URL is right."
MIGRATIONS = "Migrations are not applied ({}). Run `manage.py migrate`."
BROKER = "The broker does not answer. Look whether Redis runs and BROKER_URL is right."
OK = "ok"


def checks() -> dict[str, str]:
    """What is asked for, with `ok` or what is missing, in words."""
    result = {"broker": OK if broker.answers() else BROKER}
    try:
        missing = _known_migrations() - set(MigrationRecorder(connection).applied_migrations())
    except DatabaseError:
        connection.close()
        return {"database": DATABASE, "migrations": "Unknown without the database.", **result}
    names = ", ".join(f"{app} {name}" for app, name in sorted(missing)[:3])
    more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
    return {
        "database": OK,
        "migrations": MIGRATIONS.format(names + more) if missing else OK,
        **result,
    }


@cache
def _known_migrations() -> frozenset[tuple[str, str]]:
    """Those that this code comes with."""
    return frozenset(MigrationLoader(None).disk_migrations)
