"""Logs of satperf as teams have them: other names of logs, optional fields, single bad lines."""

import pytest

from campaigns.results import readers

VERSIONS = "katello-4.18.0-1.el9.noarch,satellite-6.18.1-1.el9sat.noarch"


def line(
    log: str, more: str = f"{VERSIONS},run-1", begin: int = 1772438600, code: str = "0"
) -> str:
    return f"ansible -m shell,run-x/{log},{code},{begin},{begin + 20},{more}"


def read_lines(*lines: str):
    return readers.read("\n".join([*lines, ""]).encode())


def told(read, words):
    return any(words in sentence for sentence in read.dropped)


@pytest.mark.parametrize(
    "names",
    [
        ["20-sync-iteration-1.log", "20-sync-iteration-2.log"],
        ["30-install-6.17.log", "30-install-6.18.log"],
        ["44-register-capsule-1-host-10.log", "44-register-capsule-2-host-20.log"],
        ["12-repo-sync-2026.log"],
        ["concurrent-exec-notes-7.log"],
    ],
)
def test_other_numbers_in_names_of_logs_are_no_concurrency(names):
    read = read_lines(*map(line, names))

    assert "concurrency" not in read.factors
    assert read.factors.keys() <= {"test"}


@pytest.mark.parametrize(
    "name", ["50-concurrent-exec-40.log", "50b-rex-concurrent-exec-40-Execute registration.log"]
)
def test_the_number_of_concurrent_executions_is_the_concurrency(name):
    assert read_lines(line(name)).factors["concurrency"] == (40,)


@pytest.mark.parametrize(
    "more",
    [
        f"{VERSIONS},run-1",
        f"20,{VERSIONS},run-1",
        f"20.0,{VERSIONS},run-1",
        "20.0,satellite-6.18.1-1.el9sat.noarch,katello-4.18.0-1.el9.noarch,run-1",
        f"run-1,{VERSIONS},20",
        f"{VERSIONS},run-1,results.items.note=5 results.other=7",
    ],
)
def test_fields_in_another_order_mean_the_same(more):
    read = read_lines(line("13-capsule.log", more))

    assert read.facts["katello"].startswith("katello-4.18.0")
    assert read.facts["satellite"].startswith("satellite-6.18.1")
    assert read.info["runs"] == "run-1"
    assert read.runs[0].values == {"duration": 20}


def test_a_line_without_a_product_has_the_other_one():
    read = read_lines(line("13-capsule.log", "20,katello-4.18.0-1.el9.noarch,run-1"))

    assert read.facts == {"katello": "katello-4.18.0-1.el9.noarch"}
    assert read.info["runs"] == "run-1"


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ("a,b.log,0,1772438400", "Line 2 is left out. 4 fields"),
        (line("x.log").replace("1772438620", "1772438000"), "line 2: The end 1772438000 is before"),
        (line("x.log").replace("1772438600", "NaN"), "line 2: The start “NaN” is no instant"),
        (line("x.log", code="NaN"), "line 2: The exit code “NaN” is no number."),
        (
            line("x.log", f"{VERSIONS},run-1,results.items.passed=NaN"),
            "line 2: results.items.passed is “NaN”",
        ),
        ("+ ansible", "Line 2 was not understood."),
        (line("x.log").replace("ansible", '"ansible'), "Line 2 is left out. This is not CSV"),
    ],
)
def test_one_bad_line_costs_itself(bad, words):
    read = read_lines(line("13-a.log"), bad, line("13-a.log"))

    assert len(read.runs) == 2
    assert told(read, words)


def test_a_command_with_commas_moves_no_field():
    read = read_lines(line("50-concurrent-exec-40.log").replace("shell", "shell,size=1,2,x"))

    assert read.factors["concurrency"] == (40,)
    assert read.runs[0].values == {"duration": 20}
