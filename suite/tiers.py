"""The tier of a test: what it needs, and so when it is run."""

import pytest

TIERS = ("unit", "db", "system", "e2e", "nightly")
QUICK = ("unit", "db")
"""The tiers that start no program."""
PROGRAMS = {
    *("sandbox", "process", "process_with_pulp", "registering", "running_simulator"),
    *("feed", "machine", "provider"),
}
"""Fixtures that start a program: a test that asks for one is of the tier `system`."""


def tier_of(item: pytest.Item) -> str:
    """Return what the test needs: nothing, a database, programs of its own, a whole perfdash, or a night."""
    names = {marker.name for marker in item.iter_markers()}
    fixtures = set(getattr(item, "fixturenames", ()))
    if "nightly" in names:
        return "nightly"
    if "e2e" in names:
        return "e2e"
    if "system" in names or fixtures & PROGRAMS:
        return "system"
    return "db" if "django_db" in names or fixtures & {"db", "django_db_setup"} else "unit"
