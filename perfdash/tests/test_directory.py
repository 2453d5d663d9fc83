import os
import stat

import pytest
from cryptography.fernet import Fernet

from perfdash.local import directory
from perfdash.local.directory import AlreadyRunning, DataDirectory, DirectoryRefused


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_secrets_are_made_once_and_for_their_owner_only(place):
    first = DataDirectory(place / "data").secret("secret_key")

    again = DataDirectory(place / "data").secret("secret_key")

    assert first == again
    assert mode(place / "data/secrets") == 0o700
    assert mode(place / "data/secrets/secret_key") == 0o600


def test_a_secret_can_be_an_encryption_key(place):
    key = Fernet(DataDirectory(place / "data").secret("encryption_keys"))

    assert key.decrypt(key.encrypt(b"password")) == b"password"


def test_nobody_else_can_list_the_directory(place):
    DataDirectory(place / "data")

    assert mode(place / "data") & 0o066 == 0


def test_a_directory_with_other_things_is_left_alone(place):
    (place / "thesis.txt").write_text("years of work")

    with pytest.raises(DirectoryRefused, match="holds other things"):
        DataDirectory(place)

    assert [path.name for path in place.iterdir()] == ["thesis.txt"]


def test_an_empty_directory_may_be_given(place):
    assert DataDirectory(place).path == place


def test_a_directory_is_held_by_one_process_only(place):
    held = DataDirectory(place / "data")
    held.lock()

    with pytest.raises(AlreadyRunning):
        DataDirectory(place / "data").lock()
    assert DataDirectory(place / "data").held()

    held.unlock()
    assert not DataDirectory(place / "data").held()
    DataDirectory(place / "data").lock()


def test_deleting_takes_everything_and_nothing_else(place):
    (place / "thesis.txt").write_text("years of work")
    mine = DataDirectory(place / "data")
    mine.secret("secret_key")

    mine.delete()

    assert [path.name for path in place.iterdir()] == ["thesis.txt"]


def test_sockets_of_a_deep_directory_are_where_their_path_is_short(place):
    deep = place / ("d" * 60) / ("e" * 60)

    data = DataDirectory(deep)

    assert len(os.fsencode(data.run)) <= directory.LONGEST_SOCKET_DIRECTORY
    assert data.run == DataDirectory(deep).run
    data.delete()
    assert not data.run.exists()


def test_sockets_are_not_put_where_somebody_else_waits_for_them(place):
    deep = place / ("d" * 60) / ("e" * 60)
    data = DataDirectory(deep)
    data.run.rmdir()
    data.run.symlink_to(place)

    with pytest.raises(DirectoryRefused, match="belongs to somebody else"):
        DataDirectory(deep)

    data.run.unlink()
