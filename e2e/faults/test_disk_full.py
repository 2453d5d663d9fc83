"""A disk that is full in the middle of `measure`: it is said, and all goes on when there is room."""

from contextlib import contextmanager
from time import monotonic, sleep

import pytest

from e2e.conftest import copied, place, wait_for
from e2e.faults import processes
from e2e.faults.disk import Filler, small_disk
from e2e.faults.load import PLAYED, again_and_again, loading
from e2e.faults.plant import LEASE_SECONDS, Plant, started

pytestmark = [pytest.mark.e2e, pytest.mark.nightly, pytest.mark.timeout(1800)]

ENDED_FULL = """
    SELECT attempt.id, attempt.state, attempt.reason, attempt.failures FROM campaigns_attempt attempt
    JOIN campaigns_run run ON run.id = run_id WHERE run.campaign_id = %s AND attempt.id >= %s AND
    (attempt.reason LIKE '%%free disk of the generator%%' OR attempt.reason LIKE
    '%%WORK_DIRECTORY%%')
"""


@contextmanager
def full(filler):
    """Keep a disk full inside the block."""
    filler.fill()
    try:
        yield
    finally:
        filler.remove()


def keep_full(filler, seconds):
    """What is given back meanwhile is taken, too."""
    end = monotonic() + seconds
    while monotonic() < end:
        filler.fill()
        sleep(0.01)


def test_the_download_directory_is_full(first_start, target, rounds, book):
    with place() as path, small_disk(path / "work", 300) as work:
        filler = Filler(work)
        with (
            started(Plant(copied(first_start, path / "data"), WORK_DIRECTORY=str(work))) as plant,
            loading(plant, target, rounds, content="files=24,size=40kB/latency=150") as load,
            book(load),
        ):

            def fault(attempt):
                with full(filler):
                    wait_for(
                        lambda: plant.rows(ENDED_FULL, load.campaign, attempt),
                        "an attempt that says that the disk is full",
                    )

            again_and_again(load, rounds, fault)
            load.assert_nothing_is_said_of_the_target()


@pytest.mark.parametrize("definition", [None, PLAYED], ids=["downloader", "http"])
def test_the_data_directory_is_full(first_start, target, rounds, book, definition):
    with place() as path, small_disk(path / "data", 400) as data:
        filler = Filler(data)
        with (
            started(Plant(copied(first_start, data))) as plant,
            loading(plant, target, rounds, definition=definition) as load,
            book(load),
        ):

            def fault(attempt):
                said = plant.log.stat().st_size
                with full(filler):
                    plant.rows("SELECT pg_switch_wal()")
                    keep_full(filler, LEASE_SECONDS)
                    plant.rows("SELECT pg_switch_wal()")
                    keep_full(filler, LEASE_SECONDS)
                plant.forget_connection()
                assert "no space left on device" in plant.log.read_text()[said:].lower()

            again_and_again(load, rounds, fault)


def test_the_log_directory_is_full(first_start, target, rounds, book):
    with place() as path:
        data = copied(first_start, path / "data")
        with small_disk(data / "log", 2) as logs:
            filler = Filler(logs)
            with (
                started(Plant(data)) as plant,
                loading(plant, target, rounds) as load,
                book(load),
            ):

                def fault(attempt):
                    said = plant.log.stat().st_size
                    with full(filler):
                        begin_new_files(logs)
                        filler.fill()
                        end_beat(plant)
                        until_told(plant, said, "cannot be written (No space left on device)")
                        keep_full(filler, LEASE_SECONDS)
                        assert not (logs / "supervisor.log").read_text()
                    end_beat(plant)
                    until_told(plant, said, "The log is written again; ")
                    lines = (logs / "supervisor.log").read_text().splitlines()
                    assert any("beat" in line and "starts again" in line for line in lines), lines

                again_and_again(load, rounds, fault)


def begin_new_files(logs):
    """The last block of a log may have room yet; a new file needs a new block."""
    for file in logs.glob("*.log"):
        file.rename(file.with_suffix(".old"))


def end_beat(plant):
    """The supervisor has something to write: of the end, and of the next start."""
    found = wait_for(lambda: processes.beat(plant.pid), "beat")
    processes.kill(found)
    wait_for(lambda: not any(map(processes.alive, found)), "the end of beat")


def until_told(plant, since, words):
    """Wait until the terminal has the words, `since` so many bytes."""

    def told():
        with plant.log.open("rb") as terminal:
            terminal.seek(since)
            return words.encode() in terminal.read()

    wait_for(told, words)
