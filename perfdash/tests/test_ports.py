"""Which ports a start takes."""

import json

import pytest

from perfdash.local import ports


def held_at(port):
    held = ports.hold(port)
    assert held is not None
    return held


def taken_by(file, first):
    held = ports.hold_again(file, first)
    numbers = [ports.number(each) for each in held]
    for each in held:
        each.close()
    return numbers


@pytest.fixture
def first():
    """Two ports that were free just now."""
    held = [held_at(0), held_at(0)]
    numbers = [ports.number(each) for each in held]
    for each in held:
        each.close()
    return numbers


def test_the_next_start_has_the_ports_of_the_last_one(tmp_path, first):
    file = tmp_path / "ports.json"
    other = held_at(first[0])
    before = taken_by(file, first)
    assert before[0] != first[0]
    other.close()

    assert taken_by(file, first) == before


def test_a_port_that_is_taken_by_then_is_another_one(tmp_path, first):
    file = tmp_path / "ports.json"
    before = taken_by(file, first)
    other = held_at(before[0])

    after = taken_by(file, first)

    assert after[0] != before[0]
    assert after[1] == before[1]
    other.close()


@pytest.mark.parametrize(
    "text", ["", "{", "3", "[1]", "[0, 1]", "[70000, 80]", '["x", 1]', "[null, 1]"]
)
def test_a_file_of_anything_else_is_no_hindrance(tmp_path, first, text):
    file = tmp_path / "ports.json"
    file.write_text(text)

    assert taken_by(file, first) == json.loads(file.read_text())


def test_a_port_whose_server_has_not_begun_to_listen_is_taken_by_no_other_perfdash(monkeypatch):
    held = ports.hold_first(18_000)
    port = ports.number(held)
    held.close()

    with monkeypatch.context() as other:
        other.setattr(ports, "_reserved", {})
        assert ports.hold(port) is None
        with ports.hold_first(port) as another:
            assert ports.number(another) != port

    with held_at(port) as again:
        assert ports.number(again) == port
