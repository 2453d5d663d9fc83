"""Outputs of ab, hey and oha, and status data of opl, as people have them: cut, one after another, within logs."""

import json
import re

import pytest

from campaigns.results import readers
from campaigns.tests.results.readers.files import DATA, only_run


def read_text(text: str):
    return readers.read(text.encode())


def told(read, words):
    return any(words in sentence for sentence in read.dropped)


def whole(name: str) -> str:
    return (DATA / name).read_text()


def one_ab() -> str:
    text = whole("ab.txt")
    return text[: text.index("This is ApacheBench", 10)]


def one_hey() -> str:
    text = whole("hey-errors.txt")
    return text[text.index("Summary:") :]


@pytest.mark.parametrize("output", [one_ab(), one_hey()], ids=["ab", "hey"])
@pytest.mark.parametrize("tenth", range(1, 10))
def test_no_value_of_an_output_that_was_cut_is_another_one(output, tenth):
    right = only_run(read_text(output))

    try:
        read = read_text(output + output[: len(output) * tenth // 10])
    except readers.BadFile:
        return

    assert read.runs[0] == right
    for run in read.runs[1:]:
        assert run.values.items() <= right.values.items()
        assert len(run.values) == len(right.values) or told(read, "ab printed no percentiles")
    assert len(read.runs) == 2 or told(read, "A run is left out.") or told(read, "not understood")


@pytest.mark.parametrize("output", [one_ab(), one_hey()], ids=["ab", "hey"])
def test_outputs_that_ran_into_one_another_are_left_out(output):
    cut = output[: len(output) * 6 // 10].rstrip("\n")

    read = read_text(f"{cut}{output}{output}")

    assert [run.values for run in read.runs] == [only_run(read_text(output)).values]
    assert told(read, "A run is left out.")


@pytest.mark.parametrize("output", [one_ab(), one_hey()], ids=["ab", "hey"])
def test_an_output_within_a_log_of_a_runner_is_read(output):
    lines = ["\x1b[32m+ run\x1b[0m", *output.splitlines(), "done"]
    log = "".join(f"[2026-01-02 10:00:00,123] {line}\n" for line in lines)

    read = read_text(log)

    assert only_run(read) == only_run(read_text(output))
    assert told(read, "The time before the lines is taken away.")
    assert told(read, "Lines of a runner are left out: 1, the first is line 1.")
    assert told(read, f"Line {len(lines)} was not understood.")


@pytest.mark.parametrize(
    ("output", "missing"),
    [(one_hey(), "  [503]\t87 responses\n"), (one_hey(), "  [200]\t113 responses\n")],
)
def test_a_status_of_hey_that_is_missing_is_noticed(output, missing):
    assert missing in output

    with pytest.raises(readers.BadFile, match="statuses and errors of about 200 requests"):
        read_text(output.replace(missing, ""))


def test_ab_without_percentiles_is_read_and_told():
    output = one_ab()
    without = output[: output.index("Percentage of the requests")]

    read = read_text(without)

    assert only_run(read).values.keys() == {
        "latency_mean",
        "request_rate",
        "transfer_rate",
        "failed_share",
    }
    assert told(read, "ab printed no percentiles (its option -d)")


def test_percentiles_of_ab_that_were_cut_are_left_out_with_their_run():
    output = one_ab()
    cut = output[: output.index("  98%")]

    assert len(read_text(output + cut).runs) == 1


def test_the_software_of_a_server_that_did_not_answer_is_no_setting():
    silent = one_ab().replace("nginx/1.22.1", "").replace("894000 bytes", "0 bytes", 1)

    read = read_text(one_ab() + silent + one_ab())

    assert read.factors == {}
    assert [run.state for run in read.runs] == ["ok", "failed", "ok"]
    assert read.info["server software"] == "nginx/1.22.1"


@pytest.mark.parametrize("name", ["ab.txt", "hey.txt"])
def test_every_line_of_a_real_output_is_known(name):
    assert not told(read_text(whole(name)), "understood")


def summary(**more) -> dict:
    return {**json.loads(whole("oha.json")), **more}


def test_requests_of_oha_of_which_no_status_is_known_have_not_failed():
    document = summary()
    del document["statusCodeDistribution"], document["errorDistribution"]

    read = read_text(json.dumps(document))

    assert only_run(read).state == "ok"
    assert "failed_share" not in only_run(read).values
    assert told(read, "Which requests failed is not known")


def test_a_run_of_oha_in_which_no_request_ended_costs_itself():
    cut = summary(statusCodeDistribution={}, errorDistribution={"aborted due to deadline": 8})
    text = "\n".join(map(json.dumps, [summary(), cut, summary()]))

    read = read_text(text)

    assert len(read.runs) == 2
    assert told(read, "A summary is left out. line 2: No request had ended")


def test_what_oha_gives_as_null_is_absent():
    document = summary(latencyPercentiles={"p50": None, "p99": 0.5})
    document["summary"]["average"] = None

    run = only_run(read_text(json.dumps(document)))

    assert "latency_mean" not in run.values
    assert {name for name in run.values if "_p" in name} == {"latency_p99"}


@pytest.mark.parametrize("number", ["NaN", '"fast"', "-1"])
def test_one_bad_number_of_oha_costs_its_summary(number):
    good = json.dumps(summary())
    bad = re.sub(r'"average": [^,]+', f'"average": {number}', good)

    read = read_text(f"{good}\n{bad}\n{good}\n")

    assert len(read.runs) == 2
    assert told(read, "A summary is left out. line 2.summary.average")


def status(**more) -> dict:
    return {**json.loads(whole("opl_status_data.json")), **more}


def test_status_data_one_after_another_are_runs():
    one, other = status(), status(results={"duration": 80.0})

    read = read_text(f"{json.dumps(one, indent=1)}\n{json.dumps(other, indent=1)}\n")

    assert [run.values["duration"] for run in read.runs] == [75.0, 80.0]
    assert read.factors == {}


def test_status_data_of_several_tests_are_told_apart_by_name():
    read = read_text(f"{json.dumps(status())}\n{json.dumps(status(name='another'))}\n")

    assert read.work == ("name",)
    assert read.factors["name"][1] == "another"


def test_what_status_data_give_as_nan_is_absent():
    text = json.dumps(status(results={"duration": 80.0, "other": float("nan")}))

    read = read_text(text)

    assert "other" not in only_run(read).values
    assert told(read, "other is NaN, and is left out")


def test_status_data_within_lines_of_a_runner_are_read():
    read = read_text(f"+ cat status.json\n{json.dumps(status(), indent=1)}\ndone\n")

    assert only_run(read) == only_run(read_text(json.dumps(status())))
    assert told(read, "2 lines around the JSON are left out, the first is line 1.")


@pytest.mark.parametrize(
    ("name", "good", "words"),
    [
        ("ab-half.txt", "Length: 59", "The kinds of failed requests are no numbers"),
        ("ab-half.txt", "Total transferred:      146994", "Total transferred: “"),
        ("wrk_socket_errors.txt", "read 444", "What is behind “Socket errors” is no number."),
        ("wrk_errors.txt", "responses: 36060", "What is behind “Non-2xx or 3xx responses” is no"),
        ("oha_missing.json", '"404"', "The status “NaN” is no number."),
    ],
)
def test_a_damaged_count_of_failures_is_no_count_of_zero(name, good, words):
    """What a pattern does not fit was taken for what the tool did not print."""
    damaged = re.sub(r"\d+", "NaN", good)
    assert good in whole(name)

    with pytest.raises(readers.BadFile, match=words):
        read_text(whole(name).replace(good, damaged))


@pytest.mark.parametrize(
    ("name", "good", "bad", "words"),
    [
        ("vegeta-errors.json", '"50th"', '"5th"', "5th of latencies"),
        ("oha.json", '"p50"', '"p51"', "p51 of latencyPercentiles"),
        ("k6_summary_export.json", '"p(95)"', '"p(x)"', "p(x) of "),
        ("locust_stats.csv", "50%", "51%", "Columns that are not known are left out: 51%."),
        ("locust_stats_history.csv", "50%", "51%", "Columns that are not known are left out: 51%."),
    ],
)
def test_names_of_other_versions_are_told(name, good, bad, words):
    assert told(read_text(whole(name).replace(good, bad)), words)
