"""What is read of the files that a command has written."""

import os

import pytest

from campaigns.kinds.programs import run_here


@pytest.mark.parametrize("make", [os.symlink, os.link])
def test_a_file_that_leads_to_another_one_is_not_read(tmp_path, make):
    """A link stores a file of the worker as an output; of a hard one the system asks: only who may write a file links it."""
    key, output = tmp_path / "key", tmp_path / "output"
    key.write_bytes(b"a key")
    make(key, output)

    read = run_here._read(output, 100)

    assert read == (None if make is os.symlink else b"a key")


def test_a_regular_file_is_read_and_nothing_else(tmp_path):
    (tmp_path / "output").write_bytes(b"x=1")
    os.mkfifo(tmp_path / "pipe")

    assert run_here._read(tmp_path / "output", 100) == b"x=1"
    assert run_here._read(tmp_path / "output", 1) == b"x="  # one more than allowed: it was longer
    for other in ("pipe", ".", "missing"):
        assert run_here._read(tmp_path / other, 100) is None
