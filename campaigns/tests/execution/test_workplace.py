"""Whatever shares WORK_DIRECTORY: nobody's download is taken from under it, and nothing is left."""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass

import pytest

from campaigns.execution.workplace import NoWorkplace, remove_stale_files, workplace

HOLD = """
import sys, time
from pathlib import Path
import django
django.setup()
from campaigns.execution.workplace import workplace
with workplace(Path(sys.argv[1]), 7) as directory:
    directory.mkdir()
    (directory / "file").write_text("half")
    print(directory, flush=True)
    time.sleep(60)
"""


@dataclass
class Other:
    process: subprocess.Popen[str]
    directory: str


@pytest.fixture
def other(tmp_path):
    """Another installation's keeper, with an attempt of the same number; its directory."""
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        directory = process.stdout.readline().strip()
        assert directory
        yield Other(process, directory)
        process.kill()


@pytest.mark.system
def test_installations_with_attempts_of_one_number_do_not_touch_one_another(tmp_path, other):
    with workplace(tmp_path, 7) as directory:
        directory.mkdir()
        (directory / "file").write_text("mine")
        remove_stale_files(tmp_path)

        assert str(directory) != other.directory
        assert (directory / "file").read_text() == "mine"
        with open(f"{other.directory}/file") as file:
            assert file.read() == "half"

    assert os.path.exists(other.directory)


@pytest.mark.system
def test_what_a_killed_worker_left_is_removed(tmp_path, other):
    other.process.send_signal(signal.SIGKILL)
    other.process.wait()

    with workplace(tmp_path, 8):
        assert not os.path.exists(other.directory)

    assert list(tmp_path.iterdir()) == []


def test_a_removal_that_was_cut_off_is_gone_on_with(tmp_path):
    (tmp_path / "attempt-1-abc").mkdir()
    (tmp_path / "attempt-2-abc").mkdir()
    (tmp_path / "attempt-2-abc" / "lock").touch()

    remove_stale_files(tmp_path)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["attempt-1", "attempt-x", "attempt-1-a b", "mine"])
def test_what_is_none_of_ours_is_left_alone(tmp_path, name):
    (tmp_path / name / "work").mkdir(parents=True)

    remove_stale_files(tmp_path)

    assert (tmp_path / name / "work").exists()


def test_a_directory_that_cannot_be_made_says_what_to_do(tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(NoWorkplace, match="WORK_DIRECTORY"), workplace(tmp_path / "file", 1):
        pass
