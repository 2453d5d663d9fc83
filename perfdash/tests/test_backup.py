"""Backup and restore with the real database, whether perfdash runs or not."""

import json
import stat
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from perfdash.local import archive
from perfdash.tests.conftest import open_place
from perfdash.tests.local import command, environment, served, state

pytestmark = [pytest.mark.slow, pytest.mark.system]
ROOT = Path(__file__).resolve().parent.parent.parent
TABLES = (
    "campaigns_campaign",
    "campaigns_run",
    "campaigns_measurement",
    "auth_user",
    "perfdash_views.measurements",
    "perfdash_views.cell_summaries",
)
KEEP_WORD = """
from campaigns.kit import encryption
from campaigns.models import Target
target = Target.objects.filter(name="sandbox")
print(target.update(username="perf", password=encryption.encrypt("open sesame")))
"""
SHOW_WORD = """
from campaigns.kit import encryption
from campaigns.models import Target
print([encryption.decrypt(target.password) for target in Target.objects.filter(name="sandbox")])
"""
OLDER = """
import os, sys
from pathlib import Path
import django
django.setup()
from django.core.management import call_command
from django.db import connection
from perfdash.local import archive, backup, postgres
from perfdash.local.directory import DataDirectory

call_command("migrate", "campaigns", "0001", verbosity=0)
with connection.cursor() as cursor:
    cursor.execute(
        "INSERT INTO campaigns_team (name, is_default, approvals_needed, second_for_production)"
        " VALUES ('old friends', false, 1, false)"
    )
directory, place = DataDirectory(Path(os.environ["PERFDASH_DATA"])), Path(sys.argv[1])
backup._dump(directory, place / "dump")
with connection.cursor() as cursor:
    cursor.execute("SELECT app || '.' || name FROM django_migrations")
    done = [name for name, in cursor.fetchall()]
secrets = {name: directory.secret(name) for name in archive.SECRETS}
archive.write(place / "older", place / "dump", secrets, made_at="then", postgresql=18, migrations=done)
"""


def call(data, *options):
    return subprocess.run(
        command(data, *options),
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


def shell(data, code):
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "--verbosity", "0", "-c", code],
        cwd=ROOT,
        env=state(data)["environment"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def connect(data):
    return psycopg.connect(state(data)["environment"]["DATABASE_URL"])


def digests(data):
    """A digest of every row of the tables, and views, that matter."""
    with connect(data) as connection:
        return [
            connection.execute(
                f"SELECT count(*), md5(string_agg(t::text, '|' ORDER BY t::text)) FROM {table} t"  # noqa: S608
            ).fetchone()
            for table in TABLES
        ]


def tree(directory):
    """Everything in a directory, with size and time of its last change."""
    results = ((path, path.lstat()) for path in sorted(directory.rglob("*")))
    return [(str(path), stat.st_size, stat.st_mtime_ns) for path, stat in results]


@pytest.fixture(scope="module")
def saved():
    """A data directory, its backup that was made while it ran, and the digests of its tables."""
    with open_place() as place:
        data, file = place / "data", place / "saved"
        with served(data):
            shell(data, KEEP_WORD)
            before = digests(data)
            done = call(data, "--backup", str(file))
            assert done.returncode == 0, done.stderr
            assert "It holds the keys of stored passwords" in done.stdout
        yield data, file, before


def test_a_backup_is_for_its_owner_only_and_leaves_nothing_else_behind(saved):
    _, file, _ = saved

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert {path.name for path in file.parent.iterdir()} == {"data", "saved"}


@pytest.mark.e2e
def test_a_damaged_perfdash_comes_back_with_everything_and_its_passwords_open(saved, place):
    _, file, before = saved
    data = place / "data"
    with served(data) as process:
        with connect(data) as connection:
            connection.execute("TRUNCATE campaigns_campaign CASCADE")
            connection.execute("TRUNCATE campaigns_target CASCADE")
        restored = call(data, "--restore", str(file), "--yes")

        assert restored.returncode == 0, restored.stderr
        assert process.wait(timeout=120) == 0
    assert "Stopping perfdash" in restored.stdout
    assert f"Restored {before[0][0]} campaigns with {before[1][0]} runs" in restored.stdout
    assert "What was there before is in" in restored.stdout

    with served(data):
        assert digests(data) == before
        assert shell(data, SHOW_WORD) == "['open sesame']"
        assert list((data / "database").glob("cluster.before-*"))


def test_a_backup_of_a_stopped_perfdash_restores_elsewhere(saved, place):
    data, _, before = saved
    made = call(data, "--backup", str(place / "later"))
    restored = call(place / "elsewhere", "--restore", str(place / "later"))  # nothing to confirm

    assert made.returncode == restored.returncode == 0, restored.stderr
    assert f"Restored {before[0][0]} campaigns" in restored.stdout
    assert "What was there before" not in restored.stdout


def test_replacing_data_needs_a_yes(saved):
    data, file, _ = saved
    before = tree(data / "database")

    done = call(data, "--restore", str(file))

    assert done.returncode == 1
    assert "Nothing was changed. --yes confirms" in done.stdout
    assert tree(data / "database") == before


def newer(file, place):
    result = archive.read(file)
    result.extract_dump(place / "dump")
    migrations = [*result.about.migrations, "campaigns.9999_future"]
    archive.write(
        place / "bad",
        place / "dump",
        result.secrets,
        made_at="then",
        postgresql=18,
        migrations=migrations,
    )


def truncated(file, place):
    (place / "bad").write_bytes(file.read_bytes()[:-60_000])


def unrelated(file, place):
    (place / "bad").write_text("years of work")


def spoilt(file, place):
    """A whole archive, whose dump PostgreSQL does not take."""
    result = archive.read(file)
    (place / "dump").write_bytes(b"PGDMP and no more")
    archive.write(
        place / "bad", place / "dump", result.secrets, made_at="then", postgresql=18,
        migrations=result.about.migrations,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (newer, "made by a newer perfdash: this one does not know campaigns.9999_future"),
        (truncated, "is not whole"),
        (unrelated, "is not a backup of perfdash"),
        (spoilt, "could not be restored"),
    ],
)
def test_what_cannot_be_restored_touches_nothing(saved, place, spoil, told):
    data, file, _ = saved
    spoil(file, place)
    before = [tree(data / name) for name in ("database", "secrets", "broker")]

    done = call(data, "--restore", str(place / "bad"), "--yes")

    assert done.returncode == 1
    assert told in done.stderr
    assert [tree(data / name) for name in ("database", "secrets", "broker")] == before
    assert "Traceback" not in done.stderr


@pytest.mark.nightly
def test_an_older_backup_is_brought_up_to_date(place):
    made = subprocess.run(
        [sys.executable, "-m", "perfdash.local", "run", sys.executable, "-c", OLDER, str(place)],
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr
    assert "campaigns.0002" not in json.dumps(archive.read(place / "older").about.migrations)

    restored = call(place / "data", "--restore", str(place / "older"))

    assert restored.returncode == 0, restored.stderr
    with served(place / "data"), connect(place / "data") as connection:
        teams = connection.execute("SELECT name FROM campaigns_team ORDER BY id").fetchall()
        names = connection.execute("SELECT name FROM django_migrations").fetchall()
    assert ("old friends",) in teams
    assert ("0003_planning",) in names


def test_a_file_that_is_no_backup_is_never_written_over(saved, place):
    data, _, _ = saved
    (place / "thesis").write_text("years of work")

    done = call(data, "--backup", str(place / "thesis"))

    assert done.returncode == 1
    assert "is there and is no backup" in done.stderr
    assert (place / "thesis").read_text() == "years of work"


def test_there_is_nothing_to_save_where_perfdash_never_ran(place):
    done = call(place / "nothing", "--backup", str(place / "saved"))

    assert done.returncode == 1
    assert "is no data directory of perfdash" in done.stderr
    assert not list(place.iterdir())
