"""Formats of tables and lists: cargo bench, JMeter's summaries, CSV of hey and vegeta, Bencher, github-action-benchmark."""

import csv
import json

import numpy
import pytest

from campaigns.results import readers
from campaigns.tests.results.readers.files import DATA, only_run, problem, read_file, runs_at


def test_a_line_of_cargo_bench_is_a_run_in_seconds_and_bytes():
    read = read_file("cargo-bench.txt")

    runs = runs_at(read, benchmark="copy_4k")
    assert [run.values for run in runs] == [
        pytest.approx({"duration": 287.81e-9, "throughput": 14271e6}),
        pytest.approx({"duration": 160.56e-9, "throughput": 25600e6}),
    ]
    assert [run.values["duration"] for run in runs_at(read, benchmark="sum_of_many")] == [
        pytest.approx(11079.98e-9),
        pytest.approx(11754.30e-9),
    ]
    assert read.work == ("binary", "benchmark")
    assert read.factors["binary"] == ("src/lib.rs", "benches/cart.rs")


def test_a_benchmark_of_cargo_that_failed_is_a_failed_run():
    (run,) = runs_at(read_file("cargo-bench-stdout.txt"), benchmark="breaks")

    assert (run.state, run.reason) == ("failed", "the benchmark failed")


def test_whole_nanoseconds_of_older_libtest_are_read():
    line = "test bench_xor_1000_ints ... bench:       1,234 ns/iter (+/- 56) = 12 MB/s\n"

    run = only_run(readers.read(line.encode()))

    assert run.values == pytest.approx({"duration": 1.234e-6, "throughput": 12e6})


def test_a_line_of_cargo_bench_that_was_cut_is_no_number():
    lines = "running 2 tests\ntest a ... bench: 1,234 ns/iter (+/- 56)\ntest b ... bench: 1,2\n"

    read = readers.read(lines.encode())

    assert only_run(read).values["duration"] == pytest.approx(1.234e-6)
    assert read.dropped[0] == "Line 3 was not understood."
    assert any("without “test result”" in each for each in read.dropped)


def test_one_name_in_several_outputs_without_messages_of_cargo_is_told():
    line = "test a ... bench: 10 ns/iter (+/- 5)\n"

    assert any("2>&1" in each for each in readers.read((line * 2).encode()).dropped)


def test_what_criterion_prints_is_not_taken_for_libtest():
    content = (DATA / "criterion.txt").read_bytes()

    assert readers.detect(content) == ["criterion"]
    assert readers.detect((DATA / "cargo-bench.txt").read_bytes()) == ["cargo_bench"]


def test_the_dashboard_of_jmeter_has_a_run_for_each_label_and_none_for_their_total():
    read = read_file("jmeter-statistics.json")

    entries = json.loads((DATA / "jmeter-statistics.json").read_text())
    assert read.factors == {"label": ("Search, all", "Home")}
    for run in read.runs:
        entry = entries[run.levels["label"]]
        assert run.values["latency_mean"] == pytest.approx(entry["meanResTime"] / 1000)
        assert run.values["latency_p50"] == pytest.approx(entry["medianResTime"] / 1000)
        assert run.values["latency_p90"] == pytest.approx(entry["pct1ResTime"] / 1000)
        assert run.values["latency_p99"] == pytest.approx(entry["pct3ResTime"] / 1000)
        assert run.values["request_rate"] == pytest.approx(entry["throughput"])
        assert run.values["transfer_rate"] == pytest.approx(entry["receivedKBytesPerSec"] * 1024)
        assert run.units_failed == entry["errorCount"]
        assert run.values["failed_share"] == pytest.approx(entry["errorPct"] / 100, abs=1e-6)
    assert any("row Total is left out" in each for each in read.dropped)


@pytest.mark.parametrize(
    "name", ["jmeter-aggregate.csv", "jmeter-summary.csv", "jmeter-plugins.csv"]
)
def test_saved_tables_of_jmeter_have_the_figures_of_their_rows(name):
    read = read_file(name)

    with (DATA / name).open() as file:
        table = {row["Label"]: row for row in csv.DictReader(file)}
    assert read.factors == {"label": ("Home", "Search, all")}
    for run in read.runs:
        row = table[run.levels["label"]]
        assert run.values["latency_mean"] == pytest.approx(int(row["Average"]) / 1000)
        assert run.values["request_rate"] == pytest.approx(float(row["Throughput"]))
        assert run.values["transfer_rate"] == pytest.approx(float(row["Received KB/sec"]) * 1024)
        assert run.values.get("latency_p95") == (
            pytest.approx(int(row["95% Line"]) / 1000) if "95% Line" in row else None
        )
        assert run.units_done + run.units_failed == 60
        assert run.values["failed_share"] == pytest.approx(
            float(row["Error %"][:-1]) / 100, abs=1e-4
        )
    assert {metric.fidelity for metric in read.metrics} == {"rounded"}


def test_the_summaries_of_jmeter_are_those_of_its_samples():
    with (DATA / "jmeter-statistics.jtl").open() as file:
        samples = [row for row in csv.DictReader(file) if row["label"] == "Home"]
    elapsed = [int(row["elapsed"]) for row in samples]

    (run,) = runs_at(read_file("jmeter-statistics.json"), label="Home")

    assert run.values["latency_mean"] == pytest.approx(sum(elapsed) / len(elapsed) / 1000)
    assert run.units_failed == sum(row["success"] == "false" for row in samples)


def test_columns_of_older_plugins_of_jmeter_are_those_of_today():
    text = (
        "sampler_label,aggregate_report_count,average,aggregate_report_median,aggregate_report_90%_line,"
        "aggregate_report_min,aggregate_report_max,aggregate_report_error%,aggregate_report_rate,"
        "aggregate_report_bandwidth,aggregate_report_stddev\n"
        "Home,200,120,110,200,50,900,0.05,55.5,10.0,3.1\n"
        "TOTAL,200,120,110,200,50,900,0.05,55.5,10.0,3.1\n"
    )

    run = only_run(readers.read(text.encode()))

    assert run.values == pytest.approx(
        {
            "latency_mean": 0.12,
            "latency_p50": 0.11,
            "latency_p90": 0.2,
            "request_rate": 55.5,
            "transfer_rate": 10240,
            "failed_share": 0.05,
        }
    )
    assert (run.units_done, run.units_failed) == (190, 10)


def test_a_rate_of_jmeter_with_its_unit_is_per_second():
    text = "Label,# Samples,Average,Error %,Throughput\nHome,6,120,0.00%,30.0/min\n"

    assert only_run(readers.read(text.encode())).values["request_rate"] == pytest.approx(0.5)


def test_a_bad_row_of_jmeter_costs_itself_only():
    content = (DATA / "jmeter-aggregate.csv").read_text().replace("\nHome,60,", "\nHome,many,")

    read = readers.read(content.encode())

    assert only_run(read).units_done == 60
    assert read.dropped[0] == "Line 2 is left out: # Samples: “many” is no number from 0."


def test_hey_csv_has_a_run_for_each_output_with_the_figures_of_its_lines():
    read = read_file("hey-two.csv")

    assert len(read.runs) == 2
    run = only_run(read_file("hey.csv"))
    with (DATA / "hey.csv").open() as file:
        rows = [
            (float(row["response-time"]), int(row["status-code"]), float(row["offset"]))
            for row in csv.DictReader(file)
        ]
    times = numpy.array([each[0] for each in rows])
    assert run.values["latency_mean"] == pytest.approx(times.mean())
    assert run.values["latency_p95"] == numpy.percentile(times, 95, method="inverted_cdf")
    ends = max(took + began for took, _, began in rows) - min(began for _, _, began in rows)
    assert run.values["request_rate"] == pytest.approx(len(rows) / ends)
    assert run.units_failed == sum(code >= 400 for _, code, _ in rows) == 29
    assert any("without an answer" in each for each in read.dropped)


def test_a_heading_of_hey_without_lines_is_refused_and_one_among_others_is_told():
    heading = (DATA / "hey.csv").read_text().partition("\n")[0] + "\n"

    assert problem(heading)[1].startswith("No request was answered")
    read = readers.read(heading.encode() + (DATA / "hey.csv").read_bytes())
    assert len(read.runs) == 1
    assert read.dropped[0] == "1 outputs of hey without a request are left out."


def test_results_of_vegeta_as_csv_have_the_figures_of_its_own_report():
    read = read_file("vegeta-results.csv")

    text = (DATA / "vegeta-results-report.json").read_text()
    reports = [json.loads(line) for line in text.splitlines()]
    assert read.factors == {"rate": (50, 100)}
    for run, report in zip(read.runs, reports, strict=True):
        assert run.values["latency_mean"] == pytest.approx(report["latencies"]["mean"] / 1e9)
        assert run.values["failed_share"] == pytest.approx(1 - report["success"])
        assert run.units_done + run.units_failed == report["requests"]
        assert run.finished_at
        assert run.started_at
        seconds = run.finished_at.timestamp() - run.started_at.timestamp()
        assert run.values["transfer_rate"] == pytest.approx(
            report["bytes_in"]["total"] / seconds, rel=1e-5
        )
    with (DATA / "vegeta-results.csv").open() as file:
        slow = sorted(int(row[2]) for row in csv.reader(file) if row[7] == "rate=100")
    assert read.runs[1].values["latency_p95"] == pytest.approx(slow[94] / 1e9)


def test_a_line_of_vegeta_of_another_form_is_counted():
    content = (DATA / "vegeta-results.csv").read_text().splitlines(keepends=True)
    content[5] = "time=now level=info msg=started\n"

    read = readers.read("".join(content).encode())

    assert read.dropped[0] == "Line 6 was not understood."
    assert sum(run.units_done + run.units_failed for run in read.runs) == 149


def test_measures_of_bencher_have_the_units_of_its_documentation():
    read = read_file("bmf.json")

    entries = json.loads((DATA / "bmf.json").read_text())
    (run,) = runs_at(read, benchmark="sort 100")
    assert run.values == pytest.approx(
        {
            "latency": entries["sort 100"]["latency"]["value"] / 1e9,
            "throughput": entries["sort 100"]["throughput"]["value"],
        }
    )
    ways = {metric.name: (metric.unit, metric.lower_is_better) for metric in read.metrics}
    assert ways == {
        "latency": ("s", True),
        "throughput": ("1/s", False),
        "file-size": ("unknown", None),
    }
    assert read.work == ("benchmark",)


def test_a_measure_of_bencher_without_a_number_costs_itself_only():
    content = '{"a": {"latency": {"value": 5}}, "b": {"latency": {"value": "fast"}}}'

    read = readers.read(content.encode())

    assert [run.state for run in read.runs] == ["ok", "failed"]
    assert read.dropped[0] == (
        "b.latency.value is left out: There is a text where a number is due."
    )


@pytest.mark.parametrize(
    "content",
    [
        '{"metrics": {"http_reqs": {"value": 1}}}',
        '{"results": {"duration": {"value": 1}}}',
        '{"a": {"b": {"c": 1}}}',
    ],
)
def test_objects_of_other_tools_are_not_taken_for_bencher(content):
    assert "bmf" not in readers.detect(content.encode())


def test_lists_of_name_unit_and_value_have_no_direction():
    read = read_file("name-unit-value.json")

    text = (DATA / "name-unit-value.json").read_text()
    first, end = json.JSONDecoder().raw_decode(text)
    second = json.loads(text[end:])
    assert [run.values["duration"] for run in runs_at(read, name="sort 100")] == pytest.approx(
        [first[0]["value"] / 1e6, second[0]["value"] / 1e6]
    )
    assert {metric.lower_is_better for metric in read.metrics} == {None}
    assert {metric.unit for metric in read.metrics} == {"s", "unknown"}


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("ns/iter", ("duration", 5e-9)),
        ("ms", ("duration", 5e-3)),
        ("ops/sec", ("rate", 5.0)),
        ("MB/s", ("throughput", 5e6)),
        ("KiB", ("size", 5120.0)),
        ("Percent", ("Value in Percent", 5.0)),
    ],
)
def test_units_of_a_list_that_are_known_become_base_units(unit, expected):
    content = json.dumps([{"name": "a", "unit": unit, "value": 5}])

    assert only_run(readers.read(content.encode())).values == pytest.approx(dict([expected]))


def test_a_bad_entry_of_a_list_costs_itself_only():
    content = (
        '[{"name": "a", "unit": "ms", "value": 5}, {"name": "b", "unit": "ms", "value": null}]'
    )

    read = readers.read(content.encode())

    assert len(read.runs) == 1
    assert read.dropped[0].startswith("[1] is left out: There is no “value” here")
