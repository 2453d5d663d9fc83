"""What a change is tested by, told by this repository and by a small one that Git keeps."""

import subprocess

import pytest

from suite import changed
from suite.changed import Selection, Sources, Unknown, select
from suite.sharing import below


@pytest.fixture(scope="module")
def sources():
    return Sources()


def runs(sources, *files):
    """Return a function that says whether the tests of a file are run for a change of these."""
    selection = select(files, sources)
    return lambda test: below(test, selection.paths)


def test_a_format_is_tested_by_the_tests_of_formats_alone(sources):
    run = runs(sources, "campaigns/results/readers/fio.py")
    assert run("campaigns/tests/results/readers/test_fuzz.py")
    assert not run("campaigns/tests/results/api/test_submissions.py")
    assert not run("campaigns/tests/findings/compute/test_pairs.py")


def test_a_kind_is_tested_by_its_own_tests_and_the_contract_and_not_by_those_of_others(sources):
    run = runs(sources, "campaigns/kinds/storage/driver.py")
    assert run("campaigns/tests/kinds/test_storage.py")
    assert run("campaigns/tests/kinds/test_contract.py")
    assert not run("campaigns/tests/kinds/test_downloader.py")
    assert not run("campaigns/tests/kinds/sync/test_form.py")


def test_what_kinds_share_is_tested_by_all_of_them_and_the_rooms_above(sources):
    run = runs(sources, "campaigns/kinds/base/values.py")
    assert run("campaigns/tests/kinds/test_downloader.py")
    assert run("campaigns/tests/planning/test_plan.py")
    assert run("campaigns/tests/findings/compute/test_pairs.py")


def test_a_room_is_tested_with_the_rooms_that_import_it(sources):
    run = runs(sources, "campaigns/findings/wording/answer.py")
    assert run("campaigns/tests/findings/charts/test_phases.py")
    assert run("campaigns/tests/reviews/test_life.py")
    assert run("campaigns/tests/overview/pages/test_help.py")
    assert not run("campaigns/tests/stats")
    assert not run("campaigns/tests/targets/test_actions.py")
    assert not run("client/tests")


def test_what_has_an_address_is_tested_for_who_may_see_it(sources):
    assert runs(sources, "campaigns/overview/pages/home.py")("perfdash/tests/roles/test_matrix.py")


@pytest.mark.parametrize(
    "file", ["conftest.py", "perfdash/settings.py", "pyproject.toml", "requirements.lock"]
)
def test_what_every_test_stands_on_is_tested_by_all(sources, file):
    run = runs(sources, file)
    assert all(run(folder) for folder in changed.EVERYTHING)


def test_a_model_is_tested_by_all_of_campaigns(sources):
    run = runs(sources, "campaigns/models/runs.py")
    rooms = {test.split("/")[2] for test in sources.tests if test.startswith("campaigns/tests/")}
    own = {"stats"}
    assert not [
        room for room in rooms - own if not run(f"campaigns/tests/{room}") and "." not in room
    ]


@pytest.mark.parametrize(
    ("file", "test"),
    [
        ("templates/targets/watch.html", "campaigns/tests/targets/pages/test_watches.py"),
        ("templates/base.html", "campaigns/tests/overview/pages/test_help.py"),
        ("templates/components/_plot.html", "campaigns/tests/findings/pages/test_panels.py"),
        ("campaigns/static/campaigns/style.css", "perfdash/tests/test_static_files.py"),
        ("docs/reference/roles.md", "perfdash/tests/roles/test_matrix.py"),
        ("docs/how-to/sync.md", "campaigns/tests/overview/pages/test_help.py"),
        ("deploy/kubernetes/kustomization.yaml", "perfdash/tests/test_kubernetes.py"),
        (
            "campaigns/tests/results/readers/data/asv.json",
            "campaigns/tests/results/readers/test_fuzz.py",
        ),
        ("campaigns/tests/toy.py", "campaigns/tests/execution/test_dispatch.py"),
        ("campaigns/tests/execution/conftest.py", "campaigns/tests/execution/test_dispatch.py"),
        ("client/perfdash_client/formats.py", "client/tests/test_results.py"),
        ("sandbox/rpm.py", "sandbox/tests/test_grammar.py"),
        ("perfdash/local/ports.py", "perfdash/tests/test_ports.py"),
        ("suite/nightly.py", "suite/tests/test_nightly.py"),
    ],
)
def test_what_is_no_module_of_a_room_has_tests_too(sources, file, test):
    assert runs(sources, file)(test)


def test_a_changed_test_that_starts_programs_is_run_and_one_of_e2e_is_named(sources):
    programs, whole = "campaigns/tests/kinds/test_downloader.py", "e2e/test_http.py"
    selection = select([programs, whole], sources)
    assert selection.own == {programs}
    assert selection.left == ["e2e/test_http.py: script/test e2e/test_http.py"]


def test_what_has_gone_leaves_the_tests_of_its_room(sources):
    run = runs(sources, "campaigns/accounts/gone_long_ago.py", "campaigns/tests/stats/test_gone.py")
    assert run("campaigns/tests/accounts/test_access.py")
    assert not run("campaigns/tests/stats/test_gone.py")


def test_the_report_says_what_is_left_out(sources):
    selection = select(["campaigns/results/readers/fio.py", "e2e/test_http.py"], sources)
    lines = list(changed.report("HEAD~1", selection, ["campaigns/tests/kinds/sync"], sources))
    assert lines[0] == "2 files differ from HEAD~1."
    assert "campaigns/tests/results/readers" in lines[1]
    assert any("campaigns/tests/stats" in line and "client" in line for line in lines[2:])
    assert any("script/test campaigns/tests/kinds/sync" in line for line in lines)
    assert any("script/test e2e/test_http.py" in line for line in lines)


def test_long_tests_that_start_programs_are_left_out(monkeypatch):
    monkeypatch.setattr(changed, "kept_seconds", lambda: {"a/test_a.py": 20.0, "b/test_b.py": 50.0})
    assert changed.affordable(["b", "a/test_a.py"]) == ({"a/test_a.py"}, {"b"})


@pytest.mark.system
class TestRepository:
    @pytest.fixture
    def repository(self, tmp_path):
        def git(*words):
            named = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
            subprocess.run(["git", *named, *words], cwd=tmp_path, check=True, capture_output=True)

        git("init", "--initial-branch", "main")
        for number in (1, 2):
            (tmp_path / f"{number}.py").write_text("")
            git("add", ".")
            git("commit", "--message", f"Add {number}")
        return tmp_path, git

    def test_without_a_remote_the_last_commit_is_the_change(self, repository):
        path, _ = repository
        assert changed.default_ref(path) == "HEAD~1"
        assert changed.changed_files("HEAD~1", path) == ["2.py"]

    def test_what_is_not_committed_and_not_added_counts(self, repository):
        path, git = repository
        (path / "1.py").write_text("changed")
        (path / "3.py").write_text("")
        assert changed.changed_files("HEAD", path) == ["1.py", "3.py"]
        git("mv", "2.py", "4.py")
        assert changed.changed_files("HEAD", path) == ["1.py", "2.py", "3.py", "4.py"]

    def test_the_remote_is_compared_with_as_long_as_something_differs(self, repository):
        path, git = repository
        git("update-ref", "refs/remotes/origin/main", "HEAD")
        assert changed.default_ref(path) == "HEAD~1"
        (path / "1.py").write_text("changed")
        assert changed.default_ref(path) == "origin/main"

    def test_an_unknown_commit_is_told(self, repository):
        path, _ = repository
        with pytest.raises(Unknown, match="nowhere"):
            changed.changed_files("nowhere", path)


def test_nothing_changed_is_nothing_to_run(sources):
    assert select([], sources) == Selection([])
