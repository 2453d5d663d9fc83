"""A database outside of its data directory, which outlives the directory."""

import os
import shutil
import stat
import subprocess
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from perfdash.local import directory as data_directory
from perfdash.local import ownership, stale
from perfdash.local.directory import DataDirectory, DirectoryRefused
from perfdash.local.process import Account
from perfdash.tests.conftest import wait_until
from perfdash.tests.local import command, environment, served, state


@pytest.fixture
def hidden(place):
    """A place that no other account can walk to."""
    path = place / "hidden"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture
def shared(place, monkeypatch):
    """Where the databases are; PostgreSQL runs as if under another account."""
    path = place / "shared"
    monkeypatch.setattr(data_directory, "SHARED_PLACE", path)
    account = Account(os.getuid(), os.getgid())
    monkeypatch.setattr(DataDirectory, "_account", lambda self: account)
    return path


def begin(path, content=""):
    """Claim the database of a directory, and make one where there is none, as a start does."""
    made = DataDirectory(path)
    output = ownership.claim(made)
    cluster = made.database / "cluster"
    if not cluster.exists():
        made.secret("database_password")
        cluster.mkdir(parents=True)
        (cluster / "content").write_text(content)
    return output, (cluster / "content").read_text()


def contents(shared):
    return sorted(path.read_text() for path in shared.rglob("content"))


def test_every_start_finds_the_database_of_the_one_before(hidden, shared):
    assert begin(hidden / "data", "first") == ([], "first")
    assert begin(hidden / "data", "second") == ([], "first")


def test_the_database_of_a_deleted_directory_is_put_aside_and_told(hidden, shared):
    begin(hidden / "data", "first")
    shutil.rmtree(hidden / "data")

    [line], content = begin(hidden / "data", "second")

    [aside] = shared.glob("*.before-*")
    assert content == "second"
    assert contents(shared) == ["first", "second"]
    assert f"It is in {aside} now and is not used; delete it" in line
    assert stat.S_IMODE(aside.stat().st_mode) == 0o700
    assert begin(hidden / "data") == ([], "second")


def test_a_deleted_directory_that_comes_back_finds_its_database_again(hidden, shared):
    begin(hidden / "data", "first")
    shutil.copytree(hidden / "data", hidden / "saved")
    shutil.rmtree(hidden / "data")
    begin(hidden / "data", "second")
    shutil.rmtree(hidden / "data")
    (hidden / "saved").rename(hidden / "data")

    output, content = begin(hidden / "data", "third")

    assert content == "first"
    assert ["It is in" in output[0], "it is back in its place" in output[1]] == [True, True]
    assert contents(shared) == ["first", "second"]


def test_a_directory_that_was_moved_takes_its_database_along(hidden, shared):
    begin(hidden / "data", "first")
    (hidden / "data").rename(hidden / "elsewhere")

    [line], content = begin(hidden / "elsewhere", "second")

    assert content == "first"
    assert "it is back in its place" in line
    assert begin(hidden / "data", "third") == ([], "third")


def test_a_copy_of_a_directory_never_takes_the_database_of_the_original(hidden, shared):
    begin(hidden / "data", "first")
    shutil.copytree(hidden / "data", hidden / "copy")

    [line], content = begin(hidden / "copy", "second")

    assert content == "second"
    assert f"is a copy of {hidden / 'data'}" in line
    assert begin(hidden / "data", "third") == ([], "first")


def test_a_database_from_before_there_were_ids_is_kept(hidden, shared):
    begin(hidden / "data", "first")
    (hidden / "data" / "id").unlink()
    [owner] = shared.glob("*/owner")
    owner.unlink()

    assert begin(hidden / "data", "second") == ([], "first")


def test_one_from_before_there_were_ids_is_put_aside_where_its_directory_is_gone(hidden, shared):
    begin(hidden / "data", "first")
    [owner] = shared.glob("*/owner")
    owner.unlink()
    shutil.rmtree(hidden / "data")

    [line], content = begin(hidden / "data", "second")

    assert content == "second"
    assert "finds it again" not in line
    assert contents(shared) == ["first", "second"]


@pytest.mark.parametrize("step", range(4))
def test_an_end_in_the_middle_loses_nothing(hidden, shared, monkeypatch, step):
    begin(hidden / "data", "first")
    shutil.copytree(hidden / "data", hidden / "saved")
    shutil.rmtree(hidden / "data")
    begin(hidden / "data", "second")
    shutil.rmtree(hidden / "data")
    (hidden / "saved").rename(hidden / "data")
    done: list[Path] = []
    for name in ("rename", "replace"):
        move = getattr(Path, name)

        def moved(path, target, move=move):
            if len(done) == step:
                raise KeyboardInterrupt
            done.append(path)
            return move(path, target)

        monkeypatch.setattr(Path, name, moved)
    with pytest.raises(KeyboardInterrupt):
        begin(hidden / "data")
    monkeypatch.undo()
    monkeypatch.setattr(data_directory, "SHARED_PLACE", shared)
    account = Account(os.getuid(), os.getgid())
    monkeypatch.setattr(DataDirectory, "_account", lambda self: account)

    assert begin(hidden / "data")[1] == "first"
    assert contents(shared) == ["first", "second"]


@pytest.mark.system
def test_a_database_that_still_works_is_not_moved(hidden, shared, monkeypatch):
    begin(hidden / "data", "first")
    shutil.rmtree(hidden / "data")
    [cluster] = shared.glob("*/database/cluster")
    monkeypatch.setattr(ownership, "ENDING_SECONDS", 0.0)
    program = Path(shutil.copy(shutil.which("cat") or "cat", hidden / "postgres"))
    server = subprocess.Popen([program], cwd=cluster, stdin=subprocess.PIPE)
    try:
        (cluster / "postmaster.pid").write_text(f"{server.pid}\n")
        wait_until(lambda: stale.server_of(cluster))

        with pytest.raises(DirectoryRefused, match=f"Stop it first: kill {os.getpid()}"):
            ownership.claim(DataDirectory(hidden / "data"))
    finally:
        server.communicate()

    assert contents(shared) == ["first"]


def test_a_reachable_directory_has_its_database_in_itself(place, shared):
    assert begin(place / "data", "first") == ([], "first")
    assert not shared.exists()


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="PostgreSQL runs as who starts it")


@pytest.fixture
def cleared(hidden):
    """Leave nothing of the test in the place of all databases."""
    before = set(_places())
    yield
    for place in set(_places()) - before:
        owner = place / "owner"
        if not owner.exists() or str(hidden) in owner.read_text():
            shutil.rmtree(place)


def _places():
    return data_directory.SHARED_PLACE.glob("*") if data_directory.SHARED_PLACE.exists() else []


@contextmanager
def database(data, *options):
    """Start a perfdash, and give a connection to its database."""
    with (
        served(data, *options),
        psycopg.connect(state(data)["environment"]["DATABASE_URL"]) as connection,
    ):
        yield connection


def name_of(connection):
    return connection.execute("SELECT DISTINCT first_name FROM auth_user").fetchone()


def told(data):
    return (data / "log" / "supervisor.log").read_text()


def asides(data):
    place = DataDirectory(data).database.parent
    return list(place.parent.glob(f"{place.name}.before-*"))


@needs_root
@pytest.mark.e2e
@pytest.mark.timeout(900)
def test_a_start_after_the_directory_was_deleted_works_and_the_old_data_is_kept(hidden, cleared):
    data = hidden / "data"
    with database(data) as connection:
        connection.execute("UPDATE auth_user SET first_name = 'Ada'")
    shutil.copytree(data, hidden / "saved", ignore=shutil.ignore_patterns("run"))
    shutil.rmtree(data)

    with database(data) as connection:
        assert name_of(connection) == ("",)
    [aside] = asides(data)
    assert f"It is in {aside} now and is not used" in told(data)
    assert (aside / "database" / "cluster" / "PG_VERSION").exists()

    shutil.rmtree(data)
    (hidden / "saved").rename(data)
    with database(data) as connection:
        assert name_of(connection) == ("Ada",)


@needs_root
@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_restoring_and_resetting_leave_a_deleted_directorys_database_alone(hidden, cleared):
    data, file = hidden / "data", hidden / "saved"
    with database(data) as connection:
        connection.execute("UPDATE auth_user SET first_name = 'Ada'")
    assert call(data, "--backup", str(file)).returncode == 0
    shutil.rmtree(data)

    restored = call(data, "--restore", str(file))  # there is nothing to confirm

    assert restored.returncode == 0, restored.stderr
    [aside] = asides(data)
    assert f"It is in {aside} now and is not used" in restored.stdout
    again = call(data, "--restore", str(file), "--yes")
    assert "What was there before is in" in again.stdout
    with database(data) as connection:
        assert name_of(connection) == ("Ada",)
    with database(data, "--reset", "--yes") as connection:
        assert name_of(connection) == ("",)
    assert asides(data) == [aside]


def call(data, *options):
    return subprocess.run(
        command(data, *options),
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
