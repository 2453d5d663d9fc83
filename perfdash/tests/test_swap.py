from pathlib import Path

import pytest

from perfdash.local import swap
from perfdash.local.directory import DataDirectory


@pytest.fixture
def directory(place):
    """A data directory with old data, and with new data staged."""
    made = DataDirectory(place / "data")
    for path, text in (
        (made.database / "cluster", "old"),
        (made.path / "secrets", "old"),
        (made.broker / "appendonlydir", "messages about the old"),
        (swap.staged_cluster(made), "new"),
        (swap.staged_secrets(made), "new"),
    ):
        path.mkdir(parents=True, exist_ok=True)
        (path / "content").write_text(text)
    return made


def content(directory, *, suffix=""):
    places = (directory.database / f"cluster{suffix}", directory.path / f"secrets{suffix}")
    return [(place / "content").read_text() for place in places if place.exists()]


def test_the_new_takes_the_place_of_the_old_which_is_kept(directory):
    retained = swap.commit(directory, "now")

    assert content(directory) == ["new", "new"]
    assert content(directory, suffix=".before-now") == ["old", "old"]
    assert [(path / "content").read_text() for path in retained] == ["old", "old"]
    assert not list(directory.broker.iterdir())


def test_without_a_decision_what_is_staged_is_cleared_away(directory):
    swap.finish(directory)

    assert content(directory) == ["old", "old"]
    assert not swap.staged_cluster(directory).exists()
    assert not swap.staged_secrets(directory).exists()
    assert list(directory.broker.iterdir())


@pytest.mark.parametrize("step", range(4))
def test_an_end_in_the_middle_is_finished_by_the_next_start(directory, monkeypatch, step):
    done: list[Path] = []
    rename = Path.rename

    def die_at(path, target):
        if len(done) == step:
            raise KeyboardInterrupt
        done.append(path)
        return rename(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", die_at)
        with pytest.raises(KeyboardInterrupt):
            swap.commit(directory, "now")

    swap.finish(directory)
    swap.finish(directory)

    assert content(directory) == ["new", "new"]
    assert content(directory, suffix=".before-now") == ["old", "old"]


@pytest.mark.parametrize("name", ["database_password", "encryption_keys"])
def test_without_old_data_only_keys_are_worth_keeping(place, name):
    directory = DataDirectory(place / "data")
    directory.secret(name)
    for path in (swap.staged_cluster(directory), swap.staged_secrets(directory)):
        path.mkdir(parents=True)
        (path / "content").write_text("new")

    retained = swap.commit(directory, "now")

    assert content(directory) == ["new", "new"]
    aside = directory.path / "secrets.before-now"
    assert retained == ([aside] if name == "encryption_keys" else [])
    assert aside.exists() == bool(retained)
