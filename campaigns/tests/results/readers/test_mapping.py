from datetime import UTC, datetime

import pytest

from campaigns.results import readers
from campaigns.tests.results.readers.files import problem

CSV = """\
engine;hosts;took;size;status;at;note
a;1;1500;2;passed;2026-01-01 10:00:00;x
a;2;250;;PASSED;1767261600;y
b;1;;1;broken;;z
"""
MAPPING = {
    "factors": ["engine", "hosts"],
    "metrics": {
        "took": {"unit": "ms", "lower_is_better": True, "latency": True},
        "size": {"unit": "apples", "lower_is_better": None, "fidelity": "rounded"},
    },
    "started_at": "at",
    "state": {"column": "status", "ok": ["passed"]},
    "delimiter": ";",
}


def read(text=CSV, **changes):
    return readers.read(text.encode(), format="plain_csv", mapping=MAPPING | changes)


def test_a_mapping_names_factors_metrics_state_and_instants():
    found = read()

    assert found.factors == {"engine": ("a", "b"), "hosts": (1, 2)}
    assert [run.values for run in found.runs] == [
        {"took": 1.5, "size": 2.0},
        {"took": 0.25},
        {"size": 1.0},
    ]
    assert [run.state for run in found.runs] == ["ok", "ok", "failed"]
    assert found.runs[2].reason == "broken"
    assert found.runs[0].started_at == datetime(2026, 1, 1, 10, tzinfo=UTC)
    assert found.runs[1].started_at == datetime(2026, 1, 1, 10, tzinfo=UTC)
    assert found.dropped == ("Columns that the mapping does not name are left out: note.",)


def test_known_units_become_base_units_and_others_stay():
    took, size = read().metrics

    assert (took.unit, took.lower_is_better, took.fidelity, took.latency) == (
        "s",
        True,
        "raw",
        True,
    )
    assert (size.unit, size.lower_is_better, size.fidelity) == ("apples", None, "rounded")


def test_durations_may_be_written_as_a_clock():
    metric = {"took": {"unit": "s", "written": "H:MM:SS"}}

    found = readers.read(
        b"took\n0:01:30\n1:00:00.5\n", format="plain_csv", mapping={"metrics": metric}
    )

    assert [run.values["took"] for run in found.runs] == [90.0, 3600.5]


def test_counts_of_units_may_have_columns():
    mapping = {"metrics": {"a": {"unit": "s"}}, "units_done": "done", "units_failed": "bad"}

    (run,) = readers.read(b"a,done,bad\n1,9,1\n", format="plain_csv", mapping=mapping).runs

    assert (run.units_done, run.units_failed) == (9, 1)


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"metrics": {}}, "mapping.metrics"),
        ({"metrics": {"took": {}}}, "mapping.metrics.took.unit"),
        ({"metrics": {"took": {"unit": "x" * 21}}}, "mapping.metrics.took.unit"),
        ({"metrics": {"took": {"unit": "s", "fidelity": "good"}}}, "mapping.metrics.took.fidelity"),
        ({"metrics": {"took": {"unit": "s", "colour": 1}}}, "mapping.metrics.took"),
        ({"metrics": {"took": 5}}, "mapping.metrics.took"),
        ({"factors": "engine"}, "mapping.factors"),
        ({"factors": [1]}, "mapping.factors"),
        ({"delimiter": "x"}, "mapping.delimiter"),
        ({"delimiter": []}, "mapping.delimiter"),
        ({"state": "status"}, "mapping.state"),
        ({"state": {"column": "status", "ok": 3}}, "mapping.state.ok"),
        ({"started_at": 5}, "mapping.started_at"),
        ({"sart": "at"}, "mapping"),
        ({"finished_at": "nowhere"}, "line 1"),
    ],
)
def test_a_wrong_mapping_is_refused_by_the_name_of_its_part(changes, where):
    assert problem(CSV, "plain_csv", mapping=MAPPING | changes)[0] == where


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("a;1;fast;2;passed;;x", "took: “fast” is not written as it should be."),
        ("a;1;Infinity;2;passed;;x", "took: “Infinity”"),
        ("a;1;1;2;passed;0000-01-01 10:00:00;x", "at: “0000-01-01 10:00:00” is no instant"),
        ("a;1;1;2;passed", "5 fields; there are 7 columns"),
    ],
)
def test_a_wrong_field_costs_its_line_and_is_told_by_line_and_column(line, what):
    found = read(f"{CSV}{line}\n")

    assert len(found.runs) == 3
    assert any(each.startswith(f"A line is left out. line 5: {what}") for each in found.dropped)


def test_csv_without_a_mapping_needs_the_columns_of_the_preset():
    where, text = problem(CSV, "plain_csv")

    assert where == "line 1"
    assert "Give a mapping" in text


def test_the_preset_keeps_every_problem_of_a_file():
    with pytest.raises(readers.BadFile) as caught:
        readers.read(b"concurrency,avg duration,duration,start,finish\n0,,1,1,1\nx,,1,1,1\n")

    assert [where for where, _ in caught.value.problems] == ["line 2", "line 3"]


def test_a_mapping_gives_roles_to_factors():
    assert read(roles={"hosts": "load"}).roles == {"hosts": "load"}


@pytest.mark.parametrize(
    "roles", [["hosts"], {"users": "load"}, {"hosts": "much"}, {"hosts": None}]
)
def test_roles_that_cannot_be_are_refused(roles):
    where, _ = problem(CSV, "plain_csv", mapping=MAPPING | {"roles": roles})

    assert where == "mapping.roles"
