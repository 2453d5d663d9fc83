"""The files that real tools wrote, and what reads them."""

from pathlib import Path

import pytest

from campaigns.results import importing, readers
from campaigns.results.readers.base import Read, ReadRun

DATA = Path(__file__).with_name("data")
PUBLISHED = Path(importing.__file__).with_name("published_sync_runs.csv")
FORMATS = {
    "ab-half.txt": "ab",
    "ab-reset.txt": "ab",
    "ab.txt": "ab",
    "asv-one.json": "asv",
    "asv.json": "asv",
    "bmf.json": "bmf",
    "cargo-bench-stdout.txt": "cargo_bench",
    "cargo-bench.txt": "cargo_bench",
    "criterion.json": "criterion",
    "criterion.txt": "criterion",
    "fio-client-one.txt": "fio",
    "fio-client-two.txt": "fio",
    "fio-depths.json": "fio",
    "fio-failed.json": "fio",
    "fio-group.json": "fio",
    "fio-jobs.json": "fio",
    "fio-mix.json": "fio",
    "fio-mixed-both.json": "fio",
    "fio-mixed.json": "fio",
    "fio-normal-json.txt": "fio",
    "fio-status.json": "fio",
    "go-bench-broken.txt": "go_bench",
    "go-bench.ndjson": "go_bench",
    "go-bench.txt": "go_bench",
    "google-benchmark-aggregates.json": "google_benchmark",
    "google-benchmark.json": "google_benchmark",
    "hey-errors.txt": "hey",
    "hey-refused.txt": "hey",
    "hey-two.csv": "hey_csv",
    "hey.csv": "hey_csv",
    "hey.txt": "hey",
    "hyperfine-1.15.json": "hyperfine",
    "hyperfine-1.20.json": "hyperfine",
    "hyperfine-commands.csv": "hyperfine",
    "hyperfine-commands.json": "hyperfine",
    "hyperfine-failed.json": "hyperfine",
    "hyperfine-some-zeros.json": "hyperfine",
    "hyperfine-zeros.json": "hyperfine",
    "hyperfine.csv": "hyperfine",
    "jmeter-aggregate.csv": "jmeter_summary",
    "jmeter-no-header.jtl": "jmeter_jtl",
    "jmeter-plugins.csv": "jmeter_summary",
    "jmeter-statistics.json": "jmeter_summary",
    "jmeter-statistics.jtl": "jmeter_jtl",
    "jmeter-summary.csv": "jmeter_summary",
    "jmeter.jtl": "jmeter_jtl",
    "jmeter.xml.jtl": "jmeter_jtl",
    "jmh-gc.json": "jmh",
    "jmh-modes.json": "jmh",
    "jmh-sample.json": "jmh",
    "k6-milli.csv.gz": "k6_points",
    "k6.csv.gz": "k6_points",
    "k6.ndjson.gz": "k6_points",
    "k6_handle_summary.json": "k6_summary",
    "k6_machine_readable.json": "k6_summary",
    "k6_summary_export.json": "k6_summary",
    "locust_2s_stats_history.csv": "locust_history",
    "locust_2s_total_stats_history.csv": "locust_history",
    "locust_8s_total_stats_history.csv": "locust_history",
    "locust_stats.csv": "locust_stats",
    "locust_stats_history.csv": "locust_history",
    "locust_total_stats_history.csv": "locust_history",
    "measurement.log": "satperf_log",
    "name-unit-value.json": "name_unit_value",
    "oha.json": "oha",
    "oha_errors.json": "oha",
    "oha_missing.json": "oha",
    "opl_status_data.json": "opl_status_data",
    "pgbench-13-select.txt": "pgbench",
    "pgbench-13.txt": "pgbench",
    "pgbench-15.txt": "pgbench",
    "pgbench-18-select.txt": "pgbench",
    "pyperf-command.json": "pyperf",
    "pyperf.json": "pyperf",
    "pytest-benchmark-default.json": "pytest_benchmark",
    "pytest-benchmark-saved.json": "pytest_benchmark",
    "pytest-benchmark.json": "pytest_benchmark",
    "sysbench-cpu.txt": "sysbench",
    "sysbench-fileio.txt": "sysbench",
    "sysbench-memory.txt": "sysbench",
    "sysbench-sql.txt": "sysbench",
    "sysbench-threads.txt": "sysbench",
    "values.txt": "plain_values",
    "vegeta-errors.json": "vegeta",
    "vegeta-reports.json": "vegeta",
    "vegeta-results-report.json": "vegeta",
    "vegeta-results.csv": "vegeta",
    "vegeta-results.ndjson.gz": "vegeta",
    "wrk_errors.txt": "wrk",
    "wrk_latency.txt": "wrk",
    "wrk_plain.txt": "wrk",
    "wrk_socket_errors.txt": "wrk",
}


def read_file(name: str) -> Read:
    return readers.read((DATA / name).read_bytes(), filename=name)


def only_run(read: Read) -> ReadRun:
    (run,) = read.runs
    return run


def runs_at(read: Read, **levels: object) -> list[ReadRun]:
    return [
        run
        for run in read.runs
        if all(run.levels[name.replace("_", " ")] == level for name, level in levels.items())
    ]


def problem(content: bytes | str, format: str = "", **options) -> tuple[str, str]:
    """The first problem of a file that cannot be read: where, and what."""
    data = content.encode() if isinstance(content, str) else content
    with pytest.raises(readers.BadFile) as caught:
        readers.read(data, format=format, **options)
    return caught.value.problems[0]
