"""Files of Locust as people have them: other versions, several tests in one file, users that stop before their requests end."""

import pytest

from campaigns.results import readers
from campaigns.tests.results.readers.files import DATA, problem

HISTORY = (
    "Timestamp,User Count,Type,Name,Requests/s,Failures/s,50%,90%,95%,99%,Total Request Count,Total Failure Count,"
    "Total Median Response Time,Total Average Response Time,Total Min Response Time,Total Max Response Time,"
    "Total Average Content Size"
)
BEGIN = 1_767_348_000


def line(second: int, users: int, requests: int, failures: int = 0, mean: float = 100) -> str:
    return f"{BEGIN + second},{users},GET,/a,1,0,100,200,300,400,{requests},{failures},100,{mean},50,900,10"


def history(*lines: str):
    return readers.read("\n".join([HISTORY, *lines, ""]).encode())


def told(read, words):
    return any(words in sentence for sentence in read.dropped)


def step(begin: int, users: int, seconds: int = 20, requests: int = 0, each: int = 10) -> list[str]:
    return [line(begin + n, users, requests + each * n) for n in range(seconds + 1)]


def test_requests_that_end_after_the_users_have_stopped_belong_to_their_step():
    """Each request took longer than the step."""
    lines = [line(n, 10, 0) for n in range(11)]
    tail = [line(11 + n, 0, 4 * (n + 1), failures=n, mean=12_000) for n in range(5)]

    read = history(*lines, *tail)

    (run,) = read.runs
    assert run.levels == {"users": 10}
    assert (run.units_done, run.units_failed, run.state) == (16, 4, "ok")
    assert run.values == {"latency_mean": 12, "failed_share": 0.2}


def test_the_rate_of_a_step_is_that_of_the_seconds_with_its_users():
    (run,) = history(*step(0, 10), line(21, 0, 230)).runs

    assert run.values["request_rate"] == 10
    assert run.units_done == 230


def test_a_step_without_requests_is_told_as_not_asked():
    read = history(*step(0, 10), *(line(21 + n, 20, 200) for n in range(20)))

    assert read.factors["users"] == (10,)
    assert told(read, "Requests that were not asked in a step have no run there.")


def test_percentiles_of_seconds_without_requests_are_left_out():
    lines = [line(n, 10, min(50, 10 * n)) for n in range(31)]

    (run,) = history(*lines).runs

    assert run.values.keys() == {"latency_mean", "request_rate", "failed_share"}


@pytest.mark.parametrize("header", [True, False])
def test_two_tests_in_one_file_are_told(header):
    first, second = step(0, 10), step(3600, 10)

    read = history(*first, *([HISTORY] if header else []), *second)

    assert [run.units_done for run in read.runs] == [200, 200]
    assert read.factors == {"users": (10,)}
    assert read.dropped[0].startswith("2 tests: ")


def test_a_history_with_quoted_names_of_columns_is_read():
    quoted = ",".join(f'"{name}"' for name in HISTORY.split(","))

    read = readers.read("\n".join([quoted, *step(0, 10), ""]).encode())

    assert read.runs[0].units_done == 200


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (
            line(5, 10, 55).replace(",55,", ",NaN,"),
            "Line 7 is left out. Total Request Count: “NaN”",
        ),
        (line(5, 10, 55) + ",7", "Line 7 is left out. 18 fields"),
        ("[2026-01-02] INFO/locust.main: Shutting down", "Line 7 was not understood."),
    ],
)
def test_one_bad_line_of_a_history_costs_itself(bad, words):
    lines = step(0, 10)

    read = history(*lines[:5], bad, *lines[5:])

    assert [run.units_done for run in read.runs] == [200]
    assert told(read, words)


@pytest.mark.parametrize(
    "names",
    [
        '"Method","Name","Timestamp","# requests","# failures","Requests/s"',
        '"Name","Timestamp","# requests","# failures","Requests/s"',
    ],
)
def test_the_history_of_an_old_locust_is_refused_by_its_version(names):
    text = f"{names}\nGET,/a,1767348000,10,0,5\n"

    assert "the history of Locust before 1.0" in problem(text)[1]
    assert "_stats.csv" in problem(text)[1]


STATS = (
    "Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,Min Response Time,"
    "Max Response Time,Average Content Size,Requests/s,Failures/s,50%,90%,95%,99%,100%"
)
ROW = "GET,/a,100,1,110,120,50,900,1000,5.5,0.05,110,200,260,400,900"
TOTAL = ",Aggregated,100,1,110,120,50,900,1000,5.5,0.05,110,200,260,400,900"


def stats(*lines: str):
    return readers.read("\n".join([*lines, ""]).encode())


@pytest.mark.parametrize("total", ['"None","Total"', '"","Aggregated"', '"None","Aggregated"'])
@pytest.mark.parametrize("kind", ["Method", "Type"])
def test_the_statistics_of_locust_before_1_0_are_read(kind, total):
    names = (
        f'"{kind}","Name","# requests","# failures","Median response time","Average response time",'
        '"Min response time","Max response time","Average Content Size","Requests/s"'
    )
    row = "100,1,110,120,50,900,1000,5.5"

    read = stats(names, f'"GET","/a",{row}', f"{total},{row}")

    (run,) = read.runs
    assert run.values == {
        "latency_mean": 0.12,
        "latency_min": 0.05,
        "latency_max": 0.9,
        "request_rate": 5.5,
        "failed_share": 0.01,
    }
    assert told(read, "The line Aggregated is left out")


def test_the_percentiles_of_locust_before_1_0_are_refused_with_the_file_to_import():
    text = '"Name","# requests","50%","66%"\n"GET /a",100,110,120\n'

    assert "import the file _requests.csv or _stats.csv" in problem(text)[1]


def test_statistics_one_after_another_are_runs_of_one_setting():
    read = stats(STATS, ROW, TOTAL, STATS, ROW, TOTAL)

    assert [run.values["latency_mean"] for run in read.runs] == [0.12, 0.12]
    assert read.factors == {}
    assert read.dropped[0] == "2 runs of one setting: line 4 is a second header."


def test_a_request_without_any_asking_is_no_failed_run():
    idle = "GET,/b,0,0,0,0,0,0,0,0,0,N/A,N/A,N/A,N/A,N/A"

    read = stats(STATS, ROW, idle, TOTAL)

    assert [run.state for run in read.runs] == ["ok"]
    assert told(read, "GET /b was not asked for")


def test_times_of_zero_of_locust_are_left_out():
    read = stats(STATS, ROW.replace(",110,200,", ",0,200,"), TOTAL)

    assert "latency_p50" not in read.runs[0].values
    assert told(read, "0 ms is left out")


def test_statistics_that_were_cut_are_told():
    text = (DATA / "locust_stats.csv").read_text()
    cut = text[: text.rindex(",Aggregated") + 5]

    read = readers.read(cut.encode())

    assert len(read.runs) == len(readers.read(text.encode()).runs)
    assert told(read, "the last one, has no end")
    assert told(read, "There is no line Aggregated")


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (ROW.replace("100,1,", "100,101,"), "line 3: 101 failures of 100 requests"),
        (ROW.replace("120", "NaN"), "line 3: Average Response Time: “NaN”"),
        (ROW + ",1", "Line 3 is left out. 17 fields"),
        ("locust says something", "Line 3 was not understood."),
    ],
)
def test_one_bad_line_of_statistics_costs_itself(bad, words):
    read = stats(STATS, ROW, bad, TOTAL)

    assert len(read.runs) == 1
    assert told(read, words)
