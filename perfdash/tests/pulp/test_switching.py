"""Which version gives its ports and password to the next one, and what is put back; nothing is started."""

import pytest

from perfdash.local.pulp import installation, running, switching
from perfdash.local.pulp.choices import Wishes
from perfdash.local.pulp.directory import PulpDirectory
from perfdash.local.pulp.state import Choices, State
from perfdash.local.supervisor import StartFailed

OLD, NEW = "3.105.0", "3.123.1"
CHOICES = Choices(port=25917, content_port=25916, workers=2, fast_auth=True, core=OLD)


@pytest.fixture
def acts(monkeypatch):
    """Installations, starts and stops, in order; one of what stands in `broken` fails."""

    class Acts(list[tuple[str, str]]):
        broken: dict[tuple[str, str], Exception] = {}
        wishes: Wishes

    acts = Acts()

    def act(what, directory):
        acts.append((what, directory.path.name))
        if error := acts.broken.get(acts[-1]):
            raise error

    def start(directory, wishes, say):
        act("start", directory)
        acts.wishes = wishes

    monkeypatch.setattr(installation, "install", lambda directory, *_: act("install", directory))
    monkeypatch.setattr(running, "start", start)
    monkeypatch.setattr(running, "stop", lambda directory, _: act("stop", directory))
    return acts


def stored(home, version, **services):
    directory = PulpDirectory(home / version)
    (directory.path / "secrets" / "admin_password").write_text("word")
    State(data=str(directory.path), choices=CHOICES, services=services).save(directory.state)


def switch(home, version):
    return switching.switch(home, version, Wishes(), lambda _: None)


def test_the_next_version_has_the_ports_and_the_password_of_the_one_that_runs(place, acts):
    stored(place, OLD, api=7)

    switch(place, NEW)

    assert acts == [("install", NEW), ("stop", OLD), ("start", NEW)]
    wishes = acts.wishes
    assert (wishes.core, wishes.port, wishes.content_port) == (NEW, 25917, 25916)
    assert (wishes.workers, wishes.fast_auth) == (2, True)
    assert wishes.password_file == place / OLD / "secrets" / "admin_password"


def test_so_it_has_where_a_switch_was_killed_between_stop_and_start(place, acts):
    stored(place, OLD)

    switch(place, NEW)

    assert (acts.wishes.port, acts.wishes.workers) == (25917, 2)


@pytest.mark.parametrize("error", [StartFailed("no port"), OSError("the disk is full")])
def test_what_cannot_be_started_is_taken_away_and_the_one_of_before_started_again(
    place, acts, error
):
    stored(place, OLD, api=7)
    acts.broken = {("start", NEW): error}

    with pytest.raises(StartFailed, match=rf"{error}\npulpcore {OLD} was started again\."):
        switch(place, NEW)

    assert acts[1:] == [("stop", OLD), ("start", NEW), ("stop", NEW), ("start", OLD)]
    assert not (place / NEW).exists()


def test_it_says_that_no_version_runs_where_neither_can_be_started(place, acts):
    stored(place, OLD, api=7)
    acts.broken = {("start", NEW): StartFailed("no port"), ("start", OLD): StartFailed("no disk")}

    with pytest.raises(StartFailed, match=rf"no port\npulpcore {OLD} could not .*no disk"):
        switch(place, NEW)


def test_what_was_stopped_stays_stopped_where_the_next_one_cannot_be_started(place, acts):
    stored(place, OLD)
    acts.broken = {("start", NEW): StartFailed("no port")}

    with pytest.raises(StartFailed, match=r"^no port$"):
        switch(place, NEW)

    assert ("start", OLD) not in acts


def test_what_cannot_be_installed_disturbs_nothing(place, acts):
    stored(place, OLD, api=7)
    acts.broken = {("install", "3.105.999"): StartFailed("no such version")}

    with pytest.raises(StartFailed, match=rf"^no such version\npulpcore {OLD} goes on\.$"):
        switch(place, "3.105.999")

    assert acts == [("install", "3.105.999")]
    assert not (place / "3.105.999").exists()
