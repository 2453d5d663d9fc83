"""The views that others read, as they stand after a migration: in a file of SQL for each state of them.

Whoever changes a column under a view drops them before and makes them after, in one migration:
CONTRIBUTING.md, "A change under a view".
"""

from pathlib import Path

from django.db.migrations.operations.special import RunSQL

VIEWS = (
    "alerts",
    "trend_changes",
    "trend_points",
    "bindings",
    "resources",
    "verdicts",
    "cell_summaries",
    "environment",
    "attempts",
    "measurements",
    "runs",
    "cells",
    "campaigns",
)
"""Each before those that it reads."""
DROP = "".join(f"DROP VIEW IF EXISTS perfdash_views.{name};\n" for name in VIEWS)


def make_views(state: int) -> RunSQL:
    """Make the schema, where it is missing, and the views in it; undone, they are gone."""
    return RunSQL(_text(state), DROP)


def drop_views(state: int) -> RunSQL:
    """Take the views of a state away; the schema stays, with what its readers may do."""
    return RunSQL(DROP, _text(state))


def _text(state: int) -> str:
    return Path(__file__).with_name(f"views_{state}.sql").read_text()
