"""script/throttle without its programs; campaigns/tests/execution/test_throttling.py measures what it starts."""

import pytest

from perfdash.local import throttle
from perfdash.local.directory import DataDirectory, DirectoryRefused


def test_what_is_missing_is_named_with_its_packages(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(throttle, "PLACES", str(tmp_path))

    assert throttle.main(["--data", str(tmp_path / "data")]) == 1

    told = "Install what is missing: apt-get install haproxy socat openssh-server openssh-client"
    assert told in capsys.readouterr().err
    assert not (tmp_path / "data").exists()


def test_it_never_takes_the_directory_of_a_perfdash(tmp_path):
    DataDirectory(tmp_path / "perfdash")

    with pytest.raises(DirectoryRefused, match="holds other things"):
        throttle.ThrottleDirectory(tmp_path / "perfdash")
