"""Which worker gets which tests."""

import json
from types import SimpleNamespace
from typing import cast

import pytest

from suite import sharing
from suite.tiers import tier_of


class Node:
    """A worker that notes the tests it is told to run, by their number."""

    shutting_down = False

    def __init__(self, name):
        self.gateway = SimpleNamespace(id=name)
        self.numbers = []

    def send_runtest_some(self, numbers):
        self.numbers += numbers

    def shutdown(self):
        self.shutting_down = True


TESTS = ["a.py::1", "a.py::2", "b.py::1", "b.py::2", "c.py::1", "c.py::2", "c.py::3", "d.py::1"]


def shared_out(monkeypatch, seconds, tests):
    """The tests that each of two workers gets first."""
    monkeypatch.setattr(sharing, "known_seconds", lambda config: seconds)
    option = SimpleNamespace(
        loadscopereorder=False, tx=["popen", "popen"], dist="loadfile", numprocesses=2
    )
    config = SimpleNamespace(option=option, getvalue=lambda name: getattr(option, name))
    scheduler = sharing.ByFile(cast(pytest.Config, config), None)
    nodes = [Node("one"), Node("two")]
    for node in nodes:
        scheduler.add_node(node)
    for node in nodes:
        scheduler.add_node_collection(node, tests)
    scheduler.schedule()
    return [[tests[number] for number in node.numbers] for node in nodes]


def test_the_longest_file_comes_first_and_files_stay_whole(monkeypatch):
    seconds = {"a.py": 1.0, "b.py": 5.0, "c.py": 3.0, "d.py": 9.0}
    first, second = shared_out(monkeypatch, seconds, TESTS)
    assert first[0] == "d.py::1"
    assert second[:2] == ["b.py::1", "b.py::2"]
    assert first[1:4] == ["c.py::1", "c.py::2", "c.py::3"]


def test_files_that_share_a_database_are_one_workers(monkeypatch):
    folder = "campaigns/tests/upgrade"
    files = [f"{folder}/a.py", "b.py", f"{folder}/c.py", "d.py"]
    first, second = shared_out(
        monkeypatch,
        dict(zip(files, (3.0, 4.0, 2.0, 1.0), strict=True)),
        [f"{file}::1" for file in files],
    )
    assert first[:2] == [f"{folder}/a.py::1", f"{folder}/c.py::1"]
    assert second[0] == "b.py::1"


def test_seconds_are_of_setup_call_and_teardown():
    reports = [
        SimpleNamespace(nodeid=f"a.py::{n}", duration=d) for n, d in ((1, 0.5), (1, 2.0), (2, 1.0))
    ]
    assert sharing.seconds_by_file([*reports, SimpleNamespace(text="a warning")]) == {"a.py": 3.5}


def test_the_repository_keeps_the_longer_files_that_are_there(monkeypatch, tmp_path):
    (tmp_path / "suite").mkdir()
    for name in ("long.py", "short.py"):
        (tmp_path / name).touch()
    monkeypatch.setattr(sharing, "KEPT", tmp_path / "suite/seconds.json")
    sharing.keep({"long.py": 12.345, "short.py": 0.5, "gone.py": 9.0})
    assert json.loads(sharing.KEPT.read_text()) == {"long.py": 12.3}


def test_the_kept_seconds_are_of_files_that_are_there():
    assert [
        file for file in sharing.kept_seconds() if not (sharing.KEPT.parent.parent / file).exists()
    ] == []


@pytest.mark.parametrize(
    ("markers", "fixtures", "tier"),
    [
        ((), (), "unit"),
        (("django_db",), (), "db"),
        ((), ("db",), "db"),
        (("django_db",), ("sandbox",), "system"),
        (("system", "django_db"), (), "system"),
        (("e2e",), ("db",), "e2e"),
        (("e2e", "nightly"), (), "nightly"),
        (("nightly",), ("db",), "nightly"),
    ],
)
def test_the_tier_is_what_a_test_needs(markers, fixtures, tier):
    marks = [SimpleNamespace(name=name) for name in markers]
    item = SimpleNamespace(iter_markers=lambda: marks, fixturenames=fixtures)
    assert tier_of(cast(pytest.Item, item)) == tier
