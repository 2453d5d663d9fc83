"""What runs at night, what it guards, and when it is due."""

import json
import subprocess
from dataclasses import replace
from types import SimpleNamespace

import pytest

from suite import nightly
from suite.nightly import Result, guarded_paths

PASSED = Result("2026-01-02T03:04Z", passed=3, failed=0, skipped=0, seconds=90.0, digest="same")


@pytest.fixture
def table(monkeypatch, tmp_path):
    """Three entries, whose files have the digest `same`, and an empty record."""
    entries = {"e2e/pulp": ["sandbox"], "e2e/far": ["docs"], "campaigns/tests/test_long.py": ["x"]}
    monkeypatch.setattr(nightly, "guarded_paths", lambda: entries)
    monkeypatch.setattr(nightly, "digest_of", lambda entry, paths: "same")
    monkeypatch.setattr(nightly, "RECORD", tmp_path / "nightly.json")
    return entries


def test_every_entry_has_tests_and_guards_what_is_there():
    for entry, paths in guarded_paths().items():
        place = nightly.ROOT / entry
        files = [place] if place.is_file() else list(place.rglob("*.py"))
        assert any("nightly" in file.read_text() for file in files), entry
        assert paths, entry
        assert [path for path in paths if not (nightly.ROOT / path).exists()] == [], entry


def test_a_nightly_test_that_guards_nothing_fails_the_run(table):
    def item(nodeid, *markers):
        return SimpleNamespace(nodeid=nodeid, get_closest_marker=lambda name: name in markers)

    nightly.require_guards(
        [item("e2e/pulp/test_a.py::test", "nightly"), item("e2e/test_b.py::test")]
    )
    with pytest.raises(pytest.UsageError, match=r"e2e/test_b.py\. Say in suite/nightly.toml"):
        nightly.require_guards([item("e2e/test_b.py::test", "nightly")])


def test_an_entry_is_due_until_it_has_passed_as_it_is(table):
    assert nightly.due_entries() == list(table)
    nightly.record({"e2e/pulp": PASSED, "e2e/far": replace(PASSED, failed=1)})
    assert nightly.due_entries() == ["e2e/far", "campaigns/tests/test_long.py"]
    nightly.record({"e2e/far": replace(PASSED, digest="another")})
    assert "e2e/far" in nightly.due_entries()
    nightly.record({"e2e/far": replace(PASSED, passed=0, skipped=3)})
    assert "e2e/far" in nightly.due_entries()


def test_a_record_keeps_what_was_not_run_and_forgets_what_has_gone(table):
    nightly.RECORD.write_text(json.dumps({"e2e/gone": vars(PASSED), "e2e/pulp": vars(PASSED)}))
    nightly.record({"e2e/far": PASSED})
    assert nightly.recorded() == {"e2e/far": PASSED, "e2e/pulp": PASSED}


def test_what_does_not_fit_into_the_time_is_left_to_the_night(table):
    nightly.record({"e2e/pulp": PASSED, "e2e/far": replace(PASSED, seconds=400.0)})
    assert nightly.within(["e2e/far", "e2e/pulp"], 2) == (["e2e/pulp"], ["e2e/far"])
    assert nightly.within(["campaigns/tests/test_long.py"], 2)[1] == [
        "campaigns/tests/test_long.py"
    ]


def test_a_result_counts_tests_and_not_their_phases():
    reports = [
        ("e2e/pulp/test_a.py::test_1", "", 1.0),
        ("e2e/pulp/test_a.py::test_1", "passed", 2.0),
        ("e2e/pulp/test_a.py::test_2", "failed", 1.0),
        ("e2e/pulp/test_a.py::test_2", "error", 0.5),
        ("e2e/pulp/test_a.py::test_3", "skipped", 0.0),
        ("e2e/other/test_a.py::test_1", "passed", 9.0),
    ]
    result = nightly._result("e2e/pulp", reports, "d", 1)
    assert (result.passed, result.failed, result.skipped, result.seconds) == (1, 1, 1, 4.5)


def test_a_run_that_was_cut_off_has_not_passed():
    assert not nightly._result("e2e/pulp", [("e2e/pulp/test_a.py::t", "passed", 1.0)], "d", 2).good


def test_the_last_results_are_told(table):
    nightly.record({"e2e/pulp": PASSED, "e2e/far": replace(PASSED, digest="another")})
    lines = nightly.table_of_results().splitlines()
    assert lines[1].split() == [
        "e2e/pulp",
        "3",
        "0",
        "0",
        "1.5",
        "2026-01-02T03:04Z",
        "nothing",
        "has",
        "changed",
    ]
    assert lines[2].endswith("due: what it guards has changed")
    assert lines[3].endswith("was never run here")


@pytest.mark.system
def test_a_digest_follows_the_files_that_are_guarded(tmp_path):
    def digest():
        return nightly.digest_of("e2e/a", ["guarded"], tmp_path)

    for name in ("e2e/a/test_a.py", "guarded/deep/b.py", "other.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("one")
    subprocess.run(["git", "init"], cwd=tmp_path, check=True, capture_output=True)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    first = digest()
    (tmp_path / "other.py").write_text("two")
    assert digest() == first
    (tmp_path / "guarded/deep/b.py").write_text("two")
    second = digest()
    (tmp_path / "e2e/a/test_a.py").write_text("two")
    assert len({first, second, digest()}) == 3
