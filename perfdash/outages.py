"""Tells a database that is away from a mistake of perfdash."""

from django.db import InterfaceError, OperationalError


def is_database_away(error: BaseException | None) -> bool:
    """Say whether this comes from a database that does not answer, or not in time."""
    while error is not None:
        if isinstance(error, OperationalError | InterfaceError):
            return True
        error = error.__cause__ or error.__context__
    return False
