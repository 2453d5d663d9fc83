import threading

import pytest

from perfdash.local import ports
from perfdash.local.pulp import choices as module
from perfdash.local.pulp.choices import Wishes, choose
from perfdash.local.pulp.state import Choices
from perfdash.local.supervisor import StartFailed

BEFORE = Choices(port=0, content_port=0, workers=3, rpm=True, fast_auth=True)


@pytest.fixture
def said():
    return []


@pytest.fixture
def taken():
    with ports.hold_first(20000) as held:
        yield ports.number(held)


def test_what_nobody_asks_for_stays_as_it_was(said):
    choices = choose(BEFORE, Wishes(), said.append, running=())

    assert (choices.workers, choices.rpm, choices.fast_auth) == (3, True, True)


def test_what_is_asked_for_wins(said):
    choices = choose(BEFORE, Wishes(workers=1, fast_auth=False), said.append, running=())

    assert (choices.workers, choices.rpm, choices.fast_auth) == (1, True, False)


def test_a_running_process_keeps_its_port_though_it_is_taken(said, taken):
    before = Choices(port=taken, content_port=taken)

    choices = choose(before, Wishes(), said.append, running=("api", "content"))

    assert (choices.port, choices.content_port, said) == (taken, taken, [])


def test_a_port_that_somebody_took_meanwhile_is_left_to_them(said, taken, monkeypatch):
    monkeypatch.setattr(module, "RELEASE_SECONDS", 0.1)
    choices = choose(Choices(port=taken, content_port=taken), Wishes(), said.append, running=())

    assert len({choices.port, choices.content_port, taken}) == 3
    assert said[0] == f"Port {taken} is taken; it is {choices.port} this time."


def test_a_port_that_its_killed_process_lets_go_of_late_is_kept(said):
    dying = ports.hold_first(20000)
    port = ports.number(dying)
    timer = threading.Timer(0.2, dying.close)
    timer.start()

    choices = choose(Choices(port=port), Wishes(), said.append, running=("content",))

    timer.join()
    assert (choices.port, said) == (port, [])


def test_a_port_that_was_asked_for_and_is_taken_stops_the_start(said, taken):
    with pytest.raises(ports.PortTaken, match=f"Port {taken} is taken by"):
        choose(BEFORE, Wishes(port=taken), said.append, running=())


def test_one_port_is_not_given_to_both(said, taken):
    free = taken + 1
    with pytest.raises(ports.PortTaken):
        choose(BEFORE, Wishes(port=free, content_port=free), said.append, running=())


def test_a_directory_keeps_its_version_of_pulpcore(said):
    before = Choices(port=1, content_port=2, core="3.105.0")

    with pytest.raises(StartFailed, match=r"holds 3\.105\.0 of pulpcore.*script/pulp switch"):
        choose(before, Wishes(core="3.123.1"), said.append, running=("api", "content"))
    same = choose(before, Wishes(core="3.105.0"), said.append, running=("api", "content"))
    new = choose(Choices(), Wishes(core="3.105.0"), said.append, running=())

    assert (same.core, new.core) == ("3.105.0", "3.105.0")
