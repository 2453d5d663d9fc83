"""Health and readiness for monitoring. Open to everybody; shows nothing internal."""

from functools import cache

from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from campaigns.kit import broker

DATABASE = "The database does not answer. Look whether PostgreSQL runs and DATABASE_URL is right."
MIGRATIONS = "Migrations are not applied ({}). Run `manage.py migrate`."
BROKER = "The broker does not answer. Look whether Redis runs and BROKER_URL is right."
OK = "ok"


@login_not_required
@never_cache
@require_safe
def health(request: HttpRequest) -> JsonResponse:
    """Return 200 while this process answers. It does not query the database: a restart would not repair that."""
    return JsonResponse({"status": OK})


@login_not_required
@never_cache
@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    """Return whether all is there that a page needs; 503 where something is missing."""
    result = checks()
    is_ready = all(word == OK for word in result.values())
    status = OK if is_ready else "not ready"
    return JsonResponse({"status": status, **result}, status=200 if is_ready else 503)


def checks() -> dict[str, str]:
    """Return the requested checks, with `ok` or a text on what is missing."""
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
    """Return the migrations of this version."""
    return frozenset(MigrationLoader(None).disk_migrations)
