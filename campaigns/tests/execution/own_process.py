"""An attempt that is executed in a process of its own, which may be killed."""

import os
from datetime import timedelta

from django.db import connection, connections
from django.db.models.functions import Now

from campaigns.execution.running import execute
from campaigns.models import TargetLease
from campaigns.tests.kinds.programs.processes import until

SESSIONS = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"


def begin(attempt):
    """Execute an attempt in a process of its own; give the number of the process."""
    connections.close_all()
    child = os.fork()
    if not child:
        try:
            execute(attempt, "measure@here", "here")
        finally:
            os._exit(0)
    return child


def ended_by(child):
    """Wait for the end of the process; give the signal that ended it."""
    _, status = os.waitpid(child, 0)
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else None


def forget_lease():
    """Let the lease of a worker that is dead have run out.

    The database may still be about to do what the dead worker asked for last, such as to renew its lease.
    """
    connections.close_all()
    assert until(lambda: not _other_sessions())
    TargetLease.objects.update(expires_at=Now() - timedelta(minutes=5))


def _other_sessions():
    with connection.cursor() as cursor:
        cursor.execute(SESSIONS)
        return cursor.fetchone()[0]
