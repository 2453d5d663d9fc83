"""What holds for all tests with a database."""

from typing import Any

import pytest
from django.db import connection


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """Tests that commit empty all tables afterwards, which the database refuses of records elsewhere."""
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "ALTER TABLE campaigns_auditevent DISABLE TRIGGER audit_log_is_never_emptied"
        )
        cursor.execute("ALTER TABLE campaigns_decision DISABLE TRIGGER decisions_are_never_emptied")
