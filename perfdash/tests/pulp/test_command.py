import json
import stat

import pytest

from perfdash.local.directory import DataDirectory, DirectoryRefused
from perfdash.local.pulp import programs
from perfdash.local.pulp.__main__ import main
from perfdash.local.pulp.directory import PulpDirectory
from perfdash.local.pulp.state import Choices, State


def test_perfdash_and_pulp_never_take_the_directory_of_the_other(place):
    DataDirectory(place / "perfdash")
    PulpDirectory(place / "pulp")

    with pytest.raises(DirectoryRefused, match="holds other things"):
        PulpDirectory(place / "perfdash")
    with pytest.raises(DirectoryRefused, match="holds other things"):
        DataDirectory(place / "pulp")


def test_where_no_pulp_ever_was_there_is_nothing_to_stop(place, capsys):
    assert main(["stop", "--data", str(place / "none")]) == 0
    assert main(["status", "--data", str(place / "none")]) == 3

    assert "No Pulp was ever started" in capsys.readouterr().out
    assert not (place / "none").exists()


def test_a_pulp_that_does_not_run_says_so_and_can_be_deleted(place, capsys):
    PulpDirectory(place / "pulp")

    assert main(["status", "--data", str(place / "pulp")]) == 3
    assert "it does not run" in capsys.readouterr().out
    assert main(["stop", "--purge", "--data", str(place / "pulp")]) == 0
    assert not (place / "pulp").exists()


@pytest.mark.parametrize("option", [("--workers", "0"), ("--workers", "17"), ("--port", "65536")])
def test_numbers_out_of_range_are_refused(option, capsys):
    with pytest.raises(SystemExit):
        main(["start", *option])

    assert "is not within" in capsys.readouterr().err


def test_the_state_is_read_back_as_it_was_written_and_private(place):
    state = State(data=str(place), choices=Choices(port=1, rpm=True), services={"api": 7})

    state.save(place / "state.json")

    assert State.load(place / "state.json", place) == state
    assert stat.S_IMODE((place / "state.json").stat().st_mode) == 0o600
    assert json.loads((place / "state.json").read_text())["services"] == {"api": 7}


def test_settings_are_private_python_that_tells_nobody_of_this_pulp(place):
    directory = PulpDirectory(place / "pulp")

    programs.write_settings(directory, Choices(content_port=24816))

    path = programs.settings_file(directory)
    results: dict = {}
    exec(compile(path.read_text(), path, "exec"), results)  # noqa: S102  its purpose
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (results["ANALYTICS"], results["CACHE_ENABLED"]) == (False, False)
    assert results["CONTENT_ORIGIN"] == "http://127.0.0.1:24816"
    assert results["DATABASES"]["default"]["PASSWORD"] == directory.secret("database_password")


def test_pulps_processes_get_none_of_perfdashs_settings(place, monkeypatch):
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "perfdash.settings")
    monkeypatch.setenv("PULP_ANALYTICS", "true")

    variables = programs.environment(PulpDirectory(place / "pulp"), "api")

    assert not {"DJANGO_SETTINGS_MODULE", "PULP_ANALYTICS", "PYTHONPATH"} & set(variables)


@pytest.mark.parametrize("version", ["3.105", "latest", "3.105.0; true", "../3.105.0"])
def test_what_is_no_version_of_pulpcore_is_refused(version, capsys):
    with pytest.raises(SystemExit):
        main(["switch", version])

    assert "is no version of pulpcore, such as" in capsys.readouterr().err
