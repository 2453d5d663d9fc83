"""One dispatch looks at a time."""

from time import sleep

from django.db import connection

ONE_DISPATCHER = 7_363_001  # key of the advisory lock
WAIT_SECONDS = 2.0
STUCK_SECONDS = 15


def alone() -> bool:
    """Become the only dispatcher until the transaction ends. False: another one does not end.

    One whose process is stopped in the middle is cut off by the database after STUCK_SECONDS.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('idle_in_transaction_session_timeout', %s, true)",
            [f"{STUCK_SECONDS}s"],
        )
        for _ in range(20):
            cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [ONE_DISPATCHER])
            if cursor.fetchone() == (True,):
                return True
            sleep(WAIT_SECONDS / 20)
    return False
