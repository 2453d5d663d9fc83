"""Files of vegeta as people have them: rates that were measured, older versions, several attacks in one file."""

import json

import pytest

from campaigns.results import readers
from campaigns.tests.results.readers.files import problem


def report(rate: float = 125, requests: int = 1250, **more) -> dict:
    latencies = {
        "mean": 20_000_000,
        "50th": 15_000_000,
        "95th": 40_000_000,
        "99th": 5e7,
        "max": 6e7,
    }
    return {
        "latencies": latencies,
        "bytes_in": {"total": 1000, "mean": 10},
        "bytes_out": {"total": 0, "mean": 0},
        "earliest": "2026-01-02T10:00:00Z",
        "latest": "2026-01-02T10:00:10Z",
        "end": "2026-01-02T10:00:10.02Z",
        "duration": round((requests - 1) / rate * 1e9),
        "wait": 20_000_000,
        "requests": requests,
        "rate": rate,
        "throughput": rate,
        "success": 1,
        "status_codes": {"200": requests},
        "errors": None,
        **more,
    }


def read_all(*documents):
    return readers.read("".join(json.dumps(each) + "\n" for each in documents).encode())


def told(read, words):
    return any(words in sentence for sentence in read.dropped)


def test_rates_that_differ_by_measurement_are_one_setting():
    read = read_all(*(report(rate) for rate in (123.9, 124.99, 125, 125.01, 126)))

    assert read.factors == {}
    assert read.info["rate"] == "about 125/s"


def test_rates_that_were_asked_for_are_settings_that_somebody_must_confirm():
    read = read_all(*(report(rate) for rate in (49.99, 50.01, 125.02, 124.98)))

    assert read.factors == {"rate": (50, 125)}
    assert "does not say which rate was asked for" in read.guesses["rate"]


def test_a_report_of_an_old_vegeta_has_no_throughput_and_no_p90():
    old = report()
    for key in ("throughput", "rate", "wait"):
        del old[key]

    (run,) = read_all(old).runs

    assert run.values == pytest.approx(
        {
            "latency_mean": 0.02,
            "latency_p50": 0.015,
            "latency_p95": 0.04,
            "latency_p99": 0.05,
            "failed_share": 0,
        }
    )


def test_one_server_of_three_that_did_not_answer_costs_itself():
    silent = report(success=0, status_codes={"0": 1250}, errors=["connection refused"])
    nothing = report(requests=0, success=0, duration=0, status_codes={})

    read = read_all(report(), silent, nothing, report())

    assert [run.state for run in read.runs] == ["ok", "failed", "ok"]
    assert told(read, "A report is left out. line 3: no request was made")


def test_nan_in_one_report_costs_itself():
    broken = json.dumps(report()).replace('"mean": 20000000', '"mean": NaN')
    text = f"{json.dumps(report())}\n{broken}\n{json.dumps(report())}\n"

    read = readers.read(text.encode())

    assert len(read.runs) == 2
    assert told(read, "A report is left out. line 2.latencies.mean: There is NaN")


def result(number: int, at: float, attack: str = "", **more) -> dict:
    second, part = divmod(round(at * 1000), 1000)
    hour, second = divmod(second, 3600)
    return {
        "attack": attack,
        "seq": number,
        "code": 200,
        "timestamp": f"2026-01-02T{10 + hour:02}:{second // 60:02}:{second % 60:02}.{part:03}Z",
        "latency": 100_000_000,
        "bytes_out": 0,
        "bytes_in": 10,
        "error": "",
        "method": "GET",
        "url": "http://shop.example/",
        **more,
    }


def attack(began: float, count: int = 40, **more) -> list[dict]:
    return [result(number, began + number / 10, **more) for number in range(count)]


def counts(read):
    return [run.units_done + run.units_failed for run in read.runs]


def test_attacks_one_after_another_are_runs_of_one_setting():
    read = read_all(*attack(0), *attack(60))

    assert counts(read) == [40, 40]
    assert read.dropped[0] == ("Two runs of one setting: the numbers (seq) start again in line 41.")


def test_an_attack_of_which_the_first_results_are_missing_is_another_run():
    read = read_all(*attack(0), *attack(60)[3:])

    assert counts(read) == [40, 37]


def test_attacks_of_other_names_are_told_by_their_names():
    read = read_all(*attack(0, attack="rate=10"), *attack(60, attack="rate=20"))

    assert read.factors == {"rate": (10, 20)}
    assert not told(read, "runs")


def test_results_of_an_old_vegeta_without_numbers_are_split_by_the_pause():
    lines = [*attack(0), *attack(3600)]
    for line in lines:
        del line["seq"], line["attack"]

    read = read_all(*lines)

    assert counts(read) == [40, 40]
    assert told(read, "nothing was asked for 3,596 s before line 41")


def test_mixed_attacks_of_one_name_are_refused():
    mixed = [each for pair in zip(attack(0), attack(60), strict=True) for each in pair]

    where, text = problem("".join(json.dumps(each) + "\n" for each in mixed))

    assert where == "line 4"
    assert "mixed" in text


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (result(20, 2, latency=-3), "Line 21 is left out. The time -3 is negative."),
        (result(20, 2, timestamp="x"), "Line 21 is left out. The timestamp is no instant"),
        (result(20, 2, code="x"), "Line 21 is left out. There is a text"),
        ("a line of a runner", "Line 21 was not understood."),
    ],
)
def test_one_bad_result_costs_itself(bad, words):
    lines = [json.dumps(each) for each in attack(0)]
    lines.insert(20, bad if isinstance(bad, str) else json.dumps(bad))

    read = readers.read("\n".join([*lines, ""]).encode())

    assert counts(read) == [40]
    assert told(read, words)
