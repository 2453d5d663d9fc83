"""The data directory's disk is full, with everything that perfdash consists of."""

import os
import signal
import subprocess

import psycopg
import pytest

from perfdash.answers import answers
from perfdash.tests.conftest import disk, fill, wait_until
from perfdash.tests.local import ask, command, environment, served, state

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
DISPATCHED = "SELECT seen_at > now() - interval '20 seconds' FROM campaigns_worker"


def said(data, text):
    """How often a line stands in the supervisor's log or in the terminal's copy."""
    return (data.parent.parent / "terminal").read_text().count(text)


def works(data):
    """Say whether pages answer, and all workers tell the database that they are present."""
    try:
        with psycopg.connect(
            state(data)["environment"]["DATABASE_URL"], connect_timeout=2
        ) as connection:
            present = connection.execute(DISPATCHED).fetchall()
    except psycopg.Error:
        return False
    return present == [(True,)] * 4 and answers(f"{state(data)['base_url']}/health/")


def test_everything_comes_back_by_itself_when_there_is_room_again(place):
    with disk(place / "small", "450m") as small, (place / "terminal").open("w") as terminal:
        data = small / "data"
        with served(data, output=terminal) as process:
            wait_until(lambda: works(data))
            with psycopg.connect(state(data)["environment"]["DATABASE_URL"]) as connection:
                connection.execute("UPDATE auth_user SET first_name = 'Ada'")

            filler = fill(small)
            wait_until(lambda: said(data, "The disk is full. Only 0 MB are free in"))
            before = state(data)["services"]
            for name in ("database", "broker"):
                os.kill(before[name], signal.SIGKILL)
            wait_until(lambda: said(data, "make room there, and it comes back by itself."))
            wait_until(lambda: said(data, "No space left on device"))
            lines = ask("status", data)
            assert lines.returncode == 0
            assert "make room there" in lines.stdout
            assert process.poll() is None

            filler.unlink()

            wait_until(lambda: said(data, "There is room on the disk again"))
            wait_until(lambda: works(data), seconds=120)
            with psycopg.connect(state(data)["environment"]["DATABASE_URL"]) as connection:
                names = connection.execute("SELECT DISTINCT first_name FROM auth_user").fetchall()
            assert names == [("Ada",)]
            assert process.poll() is None


def test_a_disk_that_is_full_before_the_start_is_told_and_nothing_is_begun(place):
    with disk(place / "small", "30m") as small:
        done = subprocess.run(
            command(small / "data"), env=environment(), capture_output=True, text=True
        )

        assert done.returncode == 1
        assert "MB are free in" in done.stderr
        assert "make room there, or name a directory elsewhere with --data" in done.stderr
        assert not (small / "data" / "database" / "cluster").exists()
