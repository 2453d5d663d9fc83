"""Outputs of tools in a form that is not read: the message says what to export."""

import pytest

from campaigns.results import readers
from campaigns.tests.results.readers.files import problem

OUTPUTS = {
    "vegeta text": (
        "Requests      [total, rate, throughput]         500, 100.20, 100.18\n"
        "Duration      [total, attack, wait]             4.99s, 4.99s, 1.1ms\n",
        "vegeta report -type=json",
    ),
    "vegeta hdrplot": (
        "Value(ms)  Percentile  TotalCount  1/(1-Percentile)\n0.5        0.000000    0           1.000000\n",
        "vegeta report -type=json",
    ),
    "Google Benchmark console": (
        "Run on (2 X 2400 MHz CPU s)\n-----\nBenchmark           Time             CPU   Iterations\n-----\n"
        "BM_Put             10.1 us         10.0 us        69000\n",
        "--benchmark_out_format=json",
    ),
    "Google Benchmark CSV": (
        "name,iterations,real_time,cpu_time,time_unit,bytes_per_second\n\"BM_Put\",69000,10.1,10.0,us,\n",
        "--benchmark_out_format=json",
    ),
    "hyperfine console": (
        "Benchmark 1: sleep 0.1\n  Time (mean ± \N{GREEK SMALL LETTER SIGMA}):     101.2 ms ±   0.3 ms    [User: 0.6 ms, System: 0.4 ms]\n",
        "--export-json FILE",
    ),
    "hyperfine Markdown": (
        "| Command | Mean [ms] | Min [ms] | Max [ms] | Relative |\n|:---|---:|---:|---:|---:|\n| `a` | 1.0 ± 0.1 | 0.9 | 1.2 | 1.00 |\n",
        "--export-json FILE",
    ),
    "JMeter console": (
        "summary +   1130 in 00:00:10 =  113.0/s Avg:    12 Min:     1 Max:   201 Err:     0 (0.00%)\n"
        "summary =   1130 in 00:00:10 =  113.0/s Avg:    12 Min:     1 Max:   201 Err:     0 (0.00%)\n",
        "jmeter -l results.jtl",
    ),
    "Locust failures": ("Method,Name,Error,Occurrences\nGET,/,500,12\n", "_stats_history.csv"),
    "Locust exceptions": ("Count,Message,Traceback,Nodes\n1,a,b,c\n", "_stats_history.csv"),
    "k6 console": (
        "     checks.....................: 100.00% 10 out of 10\n"
        "     http_req_duration..........: avg=1.2ms min=1ms med=1.1ms max=3ms p(90)=2ms p(95)=2.5ms\n",
        "--summary-export=FILE",
    ),
    "pytest-benchmark console": (
        "---- benchmark: 1 tests ----\nName (time in us)        Min       Max      Mean\ntest_a  1.0 2.0 1.5\n",
        "--benchmark-json=FILE",
    ),
    "oha console": ("Summary:\n  Success rate:\t100.00%\n  Total:\t1.0 secs\n", "--output-format json"),
    "pyperf console": ("sort: Mean +- std dev: 12.1 us +- 0.3 us\n", "-o FILE.json"),
    "ab -e": ("Percentage served,Time in ms\n0,1.0\n1,1.1\n", "what ab prints"),
    "ab -g": (
        "starttime\tseconds\tctime\tdtime\tttime\twait\nSun Nov 29 20:00:00 2026\t1795982400\t0\t1\t1\t1\n",
        "what ab prints",
    ),
    "JTL without elapsed": (
        "timeStamp,label,responseCode,success\n1795312868891,a,200,true\n",
        "jmeter.save.saveservice.time=true",
    ),
    "JTL without instants": (
        "elapsed,label,responseCode,success\n12,a,200,true\n",
        "jmeter.save.saveservice.timestamp_format=ms",
    ),
    "fio of old, terse": (";".join(["job", *["0"] * 60]) + "\n", "--output-format=json"),
}  # fmt: skip


@pytest.mark.parametrize("name", OUTPUTS)
def test_what_is_not_read_is_refused_with_what_to_export(name):
    text, remedy = OUTPUTS[name]

    where, message = problem(text)

    assert where == ""
    assert message.startswith("This is ")
    assert remedy in message


def test_html_of_ab_is_refused_with_what_to_do():
    text = "<p>\n This is ApacheBench, Version 2.3 <i>&lt;$Revision$&gt;</i><br>\n</p>\n<table ><tr ><th>Requests per second</th></tr></table>\n"

    assert problem(text)[1] == "This is what ab prints with -w; measure without it."


@pytest.mark.parametrize("odd", ["throughput=1,234.5 MB/s", "b=1,5 s", "lat=n/a", "took=1m23s"])
def test_one_value_of_another_form_costs_itself(odd):
    read = readers.read(f"latency=12.5 ms\n{odd}\nlatency=13.5 ms\n".encode(), "values.txt")

    assert [run.values for run in read.runs] == [{"latency": 0.0125}, {"latency": 0.0135}]
    assert any("ine 2 " in sentence for sentence in read.dropped)
