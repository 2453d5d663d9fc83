"""The tools, their options, and what a regular expression or a look into the JSON finds in their output.

Nothing here uses campaigns.results.readers: what is compared must not come from the same code.
"""

import csv
import json
import re
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from typing import Any

Figures = Callable[[str], "list[dict[str, float]]"]


@dataclass(frozen=True, slots=True)
class Case:
    """One command. needs: the program. command: for a shell, which writes `out`. figures: of each run, in the order of the file.

    figures: None if the output must be refused, with a message. rel: how much may differ, where the other parser reads what
    the tool has rounded.
    """

    needs: str
    options: str
    command: str
    figures: Figures | None
    rel: float = 1e-9


def numbers(pattern: str, text: str, factor: float = 1.0) -> list[float]:
    """Return what the only group of a pattern matches, as numbers."""
    return [
        float(each.replace(",", "")) * factor for each in re.findall(pattern, text, re.MULTILINE)
    ]


def columns(**of: list[float]) -> list[dict[str, float]]:
    """Return a run for each place of the lists."""
    return [dict(zip(of, values, strict=True)) for values in zip(*of.values(), strict=True)]


SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}


def times(pattern: str, text: str) -> list[float]:
    """Return what the two groups of a pattern match, number and unit, in seconds."""
    return [
        float(number) * SECONDS[unit] for number, unit in re.findall(pattern, text, re.MULTILINE)
    ]


def of_hyperfine(text: str) -> list[dict[str, float]]:
    return [
        {"duration": each} for result in json.loads(text)["results"] for each in result["times"]
    ]


def of_hyperfine_csv(text: str) -> list[dict[str, float]]:
    return [{"duration_mean": float(row["mean"])} for row in csv.DictReader(StringIO(text))]


def of_ab(text: str) -> list[dict[str, float]]:
    return columns(
        request_rate=numbers(r"^Requests per second: +([\d.]+)", text),
        latency_mean=numbers(r"^Time per request: +([\d.]+) \[ms\] \(mean\)", text, 1e-3),
    )


def of_ab_percentiles(text: str) -> list[dict[str, float]]:
    rows = of_ab(text)
    p95 = numbers(r"^ +95% +(\d+)", text, 1e-3)
    return [{**row, "latency_p95": each} for row, each in zip(rows, p95, strict=True)]


def of_wrk(text: str) -> list[dict[str, float]]:
    return columns(
        request_rate=numbers(r"^Requests/sec: +([\d.]+)", text),
        latency_mean=times(r"^ +Latency +([\d.]+)(us|ms|s|m) ", text),
    )


def of_wrk_latency(text: str) -> list[dict[str, float]]:
    p99 = times(r"^ +99% +([\d.]+)(us|ms|s|m)", text)
    return [{**row, "latency_p99": each} for row, each in zip(of_wrk(text), p99, strict=True)]


def of_fio_printed(text: str) -> list[dict[str, float]]:
    """Read what fio prints for people beside its JSON: IOPS with its k or M, and the mean latency."""
    scale = {"": 1.0, "k": 1e3, "M": 1e6}
    rates = [
        float(number) * scale[letter]
        for number, letter in re.findall(r"IOPS=([\d.]+)([kM]?)", text)
    ]
    means = [
        float(mean) * {"nsec": 1e-9, "usec": 1e-6, "msec": 1e-3}[unit]
        for unit, mean in re.findall(
            r"^     lat \((\w+)\): min=.*avg= ?([\d.]+)", text, re.MULTILINE
        )
    ]
    return columns(read_iops=rates, read_latency_mean=means)


def of_fio(*paths: tuple[str, str, float]) -> Figures:
    """Return figures of the JSON of fio, of the first job: metric, path with slashes, and factor."""

    def figures(text: str) -> list[dict[str, float]]:
        place, decoder, found = text.index("{\n"), json.JSONDecoder(), []
        while place >= 0:
            document, end = decoder.raw_decode(text, place)
            found.append(document)
            place = text.find("{\n", end)
        return [
            {metric: look(document, path) * factor for metric, path, factor in paths}
            for document in found
        ]

    return figures


def look(document: Any, path: str) -> float:
    """Return the number at a path of keys and places."""
    for key in path.split("/"):
        document = document[int(key)] if isinstance(document, list) else document[key]
    return float(document)


def of_sysbench(text: str) -> list[dict[str, float]]:
    return columns(latency_mean=numbers(r"^ +avg: +([\d.]+)", text, 1e-3))


def of_sysbench_p95(text: str) -> list[dict[str, float]]:
    return columns(
        latency_mean=numbers(r"^ +avg: +([\d.]+)", text, 1e-3),
        latency_p95=numbers(r"^ +95th percentile: +([\d.]+)", text, 1e-3),
    )


def of_pgbench(text: str) -> list[dict[str, float]]:
    return columns(
        tps=numbers(r"^tps = ([\d.]+) \((?:without|including)", text),
        latency_mean=numbers(r"^latency average = ([\d.]+) ms", text, 1e-3),
    )


def of_pgbench_reconnecting(text: str) -> list[dict[str, float]]:
    return columns(tps_with_connecting=numbers(r"^tps = ([\d.]+) \(including reconn", text))


def of_go(text: str) -> list[dict[str, float]]:
    return columns(duration=numbers(r"^Benchmark\S+\s+\d+\s+([\d.]+) ns/op", text, 1e-9))


def of_go_events(text: str) -> list[dict[str, float]]:
    events = [json.loads(line) for line in text.splitlines()]
    return of_go("".join(event.get("Output", "") for event in events))


def of_pyperf(text: str) -> list[dict[str, float]]:
    benchmarks = json.loads(text)["benchmarks"]
    runs = [run["values"] for each in benchmarks for run in each["runs"] if run.get("values")]
    return [{"duration": statistics.fmean(values)} for values in runs]


def of_pytest(text: str) -> list[dict[str, float]]:
    stats = [each["stats"] for each in json.loads(text)["benchmarks"]]
    return [{"duration_mean": each["mean"], "duration_median": each["median"]} for each in stats]


def of_vegeta_report(text: str) -> list[dict[str, float]]:
    reports = [json.loads(line) for line in text.splitlines()]
    return [
        {
            "latency_mean": each["latencies"]["mean"] / 1e9,
            "latency_p99": each["latencies"]["99th"] / 1e9,
            "failed_share": 1 - each["success"],
        }
        for each in reports
    ]


def of_vegeta_csv(text: str) -> list[dict[str, float]]:
    rows = list(csv.reader(StringIO(text)))
    took = [int(row[2]) / 1e9 for row in rows]
    failed = sum(not 200 <= int(row[1]) < 400 for row in rows)
    return [{"latency_mean": statistics.fmean(took), "failed_share": failed / len(rows)}]


def of_hey(text: str) -> list[dict[str, float]]:
    return columns(
        request_rate=numbers(r"^ +Requests/sec:\s+([\d.]+)", text),
        latency_mean=numbers(r"^ +Average:\s+([\d.]+) secs", text),
        latency_p90=numbers(r"^ +90%+ in ([\d.]+) secs", text),
    )


def of_hey_csv(text: str) -> list[dict[str, float]]:
    rows = list(csv.DictReader(StringIO(text)))
    return [{"latency_mean": statistics.fmean(float(row["response-time"]) for row in rows)}]


def of_k6_summary(text: str) -> list[dict[str, float]]:
    metrics = json.loads(text)["metrics"]
    times = metrics["http_req_duration"]
    return [
        {
            "latency_mean": times["avg"] / 1e3,
            "latency_p95": times["p(95)"] / 1e3,
            "request_rate": metrics["http_reqs"]["rate"],
        }
    ]


def of_k6_points(text: str) -> list[dict[str, float]]:
    points = [json.loads(line) for line in text.splitlines()]
    took = [
        each["data"]["value"] / 1e3
        for each in points
        if each["metric"] == "http_req_duration" and each["type"] == "Point"
    ]
    return [{"latency_mean": statistics.fmean(took)}]


def of_k6_csv(text: str) -> list[dict[str, float]]:
    rows = csv.DictReader(StringIO(text))
    took = [float(row["metric_value"]) for row in rows if row["metric_name"] == "http_req_duration"]
    return [{"latency_mean": statistics.fmean(took) / 1e3}]


def of_oha(text: str) -> list[dict[str, float]]:
    summary = json.loads(text)
    return [
        {
            "latency_mean": summary["summary"]["average"],
            "latency_p95": summary["latencyPercentiles"]["p95"],
            "request_rate": summary["summary"]["requestsPerSec"],
        }
    ]


def of_locust(text: str) -> list[dict[str, float]]:
    rows = [row for row in csv.DictReader(StringIO(text)) if row["Name"] != "Aggregated"]
    return [{"latency_mean": float(row["Average Response Time"]) / 1e3} for row in rows]


def of_cargo(text: str) -> list[dict[str, float]]:
    return columns(duration=numbers(r"bench: +([\d,.]+) ns/iter", text, 1e-9))


def of_jmh(text: str) -> list[dict[str, float]]:
    runs = []
    for entry in json.loads(text):
        unit, metric = entry["primaryMetric"]["scoreUnit"], "duration"
        over, under = unit.split("/")
        factor = SECONDS[over] if under == "op" else 1 / SECONDS[under]
        metric = "duration" if under == "op" else "operation_rate"
        data = entry["primaryMetric"]["rawData"]
        forks = data if len(data) > 1 else [[each] for each in data[0]]
        runs += [{metric: statistics.fmean(fork) * factor} for fork in forks]
    return runs


def of_jtl(delimiter: str = ",") -> Figures:
    """Return figures of samples as CSV, by label in the order of the file."""

    def figures(text: str) -> list[dict[str, float]]:
        labels: dict[str, list[tuple[float, bool]]] = {}
        for row in csv.DictReader(StringIO(text), delimiter=delimiter):
            sample = float(row["elapsed"]) / 1e3, row["success"] == "true"
            labels.setdefault(row["label"], []).append(sample)
        return [
            {
                "latency_mean": statistics.fmean(took for took, _ in samples),
                "failed_share": sum(not good for _, good in samples) / len(samples),
            }
            for samples in labels.values()
        ]

    return figures


def of_jtl_xml(text: str) -> list[dict[str, float]]:
    labels: dict[str, list[float]] = {}
    for sample in re.findall(r"<(?:httpSample|sample) [^>]*>", text):
        took, label = re.search(r' t="(\d+)"', sample), re.search(r' lb="([^"]*)"', sample)
        if took and label:
            labels.setdefault(label[1], []).append(int(took[1]) / 1e3)
    return [{"latency_mean": statistics.fmean(each)} for each in labels.values()]


def of_dashboard(text: str) -> list[dict[str, float]]:
    entries = [each for each in json.loads(text).values() if each["transaction"] != "Total"]
    return [
        {"latency_mean": each["meanResTime"] / 1e3, "request_rate": each["throughput"]}
        for each in entries
    ]


PYTHON = sys.executable
FIO = "fio --name=j --filename=data --size=4m --rw=randread --bs=4k --ioengine=psync --loops=40"
JMETER = "jmeter -n -t {files}/plan.jmx -Jport={port}"
PGBENCH = 'test "$DATABASE_URL" && pgbench -i -q "$DATABASE_URL" 2> printed && pgbench -n'
"""In the database of `script/bench`."""
GO = "cp {files}/go.mod {files}/cart_test.go . && go test -run '^$' -bench . -benchtime 5ms"

CASES = [
    Case("hyperfine", "-N -r 5 -P n 1 2", "hyperfine -N -r 5 -P n 1 2 'seq {n}' --export-json out", of_hyperfine),
    Case("hyperfine", "-L, --setup, --prepare, -u millisecond", "hyperfine -r 3 -L a x,y --setup true --prepare true -u millisecond 'echo {a}' --export-json out", of_hyperfine),
    Case("hyperfine", "-i, -w 2, --style none", "hyperfine -N -i -w 2 -r 4 --style none 'false' --export-json out", lambda text: [{} for _ in of_hyperfine(text)]),
    Case("hyperfine", "--export-csv of two commands", "hyperfine -N -r 5 'seq 1' 'seq 2' --export-csv out", of_hyperfine_csv),
    Case("hyperfine", "--export-markdown", "hyperfine -N -r 3 'seq 1' --export-markdown out", None),
    Case("ab", "-q -k -n 300 -c 3", "ab -q -k -n 300 -c 3 {url}/ > out", of_ab_percentiles),
    Case("ab", "-d -S (no percentiles, no median)", "ab -d -S -n 200 -c 2 {url}/ > out 2>&1", of_ab),
    Case("ab", "-i -H, twice with >>", "for n in 1 2; do ab -i -H 'X-A: b' -n 100 -c 2 {url}/; done > out", of_ab_percentiles),
    Case("ab", "-p, -T, -v 2", "echo a=1 > body; ab -v 2 -p body -T application/x-www-form-urlencoded -n 20 -c 2 {url}/ > out", of_ab_percentiles),
    Case("ab", "-w (HTML)", "ab -w -n 50 {url}/ > out", None),
    Case("ab", "-e (CSV of percentiles)", "ab -q -e out -n 200 {url}/ > printed", None),
    Case("wrk", "-t 2 -c 5 -d 1s --latency", "wrk -t 2 -c 5 -d 1s --latency {url}/ > out", of_wrk_latency),
    Case("wrk", "-t 1 -c 1, --timeout, twice", "for n in 1 2; do wrk -t 1 -c 1 -d 1s --timeout 1s -H 'X-A: b' {url}/slow; done > out", of_wrk),
    Case("wrk", "-s with done(), 503s", "wrk -t 1 -c 2 -d 1s -s {files}/done.lua {url}/bad > out", lambda text: [{"request_rate": each} for each in numbers(r"^Requests/sec: +([\d.]+)", text)]),
    Case("fio", "normal,json 2>&1", f"{FIO} --output-format=normal,json > out 2>&1", of_fio_printed, 0.05),
    Case("fio", "json+, --percentile_list=50:99", f"{FIO} --output-format=json+ --percentile_list=50:99 > out", of_fio(("read_completion_latency_p99", "jobs/0/read/clat_ns/percentile/99.000000", 1e-9), ("read_iops", "jobs/0/read/iops", 1.0))),
    Case("fio", "--lat_percentiles=1 --clat_percentiles=0", f"{FIO} --output-format=json --lat_percentiles=1 --clat_percentiles=0 > out", of_fio(("read_latency_p95", "jobs/0/read/lat_ns/percentile/95.000000", 1e-9))),
    Case("fio", "--unified_rw_reporting=1", f"{FIO} --rw=randrw --unified_rw_reporting=1 --output-format=json > out", of_fio(("mixed_iops", "jobs/0/mixed/iops", 1.0), ("mixed_latency_mean", "jobs/0/mixed/lat_ns/mean", 1e-9))),
    Case("fio", "--numjobs=3 --group_reporting --thread", f"{FIO} --numjobs=3 --group_reporting --thread --output-format=json > out", of_fio(("read_iops", "jobs/0/read/iops", 1.0))),
    Case("fio", "an option twice, >> twice, --eta=always", f"for n in 1 2; do {FIO} --bs=8k --eta=always --output-format=json; done > out", of_fio(("read_bandwidth", "jobs/0/read/bw_bytes", 1.0))),
    Case("fio", "--minimal (terse)", f"{FIO} --minimal > out", None),
    Case("sysbench", "cpu --percentile=95 --report-interval=1 --histogram", "sysbench cpu --threads=2 --time=2 --report-interval=1 --histogram run > out", of_sysbench_p95),
    Case("sysbench", "cpu --percentile=99, twice", "for n in 1 2; do sysbench cpu --percentile=99 --time=1 run; done > out", of_sysbench),
    Case("sysbench", "memory --memory-oper=read", "sysbench memory --memory-oper=read --memory-total-size=200M run > out", lambda text: [{"throughput": each} for each in numbers(r"transferred \(([\d.]+) MiB/sec\)", text, 1024.0**2)]),
    Case("sysbench", "mutex", "sysbench mutex --mutex-num=64 --threads=2 run > out", of_sysbench),
    Case("pgbench", "-c 2 -j 2 -T 1 -P 1 -r", f"{PGBENCH} -c 2 -j 2 -T 1 -P 1 -r \"$DATABASE_URL\" > out 2>&1", of_pgbench),
    Case("pgbench", "-S -M prepared -C, twice", f"for n in 1 2; do {PGBENCH} -S -M prepared -C -t 50 \"$DATABASE_URL\"; done > out 2>&1", of_pgbench_reconnecting),
    Case("pgbench", "-R 50 -L 100 --max-tries=3", f"{PGBENCH} -R 50 -L 100 --max-tries=3 --failures-detailed -T 2 \"$DATABASE_URL\" > out 2>&1", of_pgbench),
    Case("pgbench", "-f …@2 -f …", f"echo 'SELECT 1;' > one.sql; echo 'SELECT 2;' > two.sql; {PGBENCH} -f one.sql@2 -f two.sql -T 1 \"$DATABASE_URL\" > out", of_pgbench),
    Case("go", "-benchmem -count 3 -cpu 1,2", f"{GO} -benchmem -count 3 -cpu 1,2 > out 2>&1", of_go),
    Case("go", "-json", f"{GO} -json > out", of_go_events),
    Case("go", "-v (logs between)", f"{GO} -v > out 2>&1", of_go),
    Case("pyperf", "timeit -p 3 -n 4 -w 1 -l 500", "pyperf timeit -q -p 3 -n 4 -w 1 -l 500 'sum(range(9))' -o out", of_pyperf),
    Case("pyperf", "timeit --append of two names", "for n in 10 20; do pyperf timeit -q -p 2 -n 3 -w 1 -l 300 --name sum$n \"sum(range($n))\" --append out; done", of_pyperf),
    Case("pytest", "--benchmark-json, parameters", "cp {files}/test_cart.py . && pytest -q -p no:cacheprovider test_cart.py --benchmark-min-rounds=7 --benchmark-max-time=0.05 --benchmark-disable-gc --benchmark-json=out > printed", of_pytest),
    Case("pytest", "--benchmark-autosave (no rounds)", "cp {files}/test_cart.py . && pytest -q -p no:cacheprovider test_cart.py --benchmark-max-time=0.02 --benchmark-storage=s --benchmark-autosave > printed; cat s/*/*.json > out", of_pytest),
    Case("vegeta", "report -type json, 503s", "echo GET {url}/some | vegeta attack -rate 100 -duration 1s | vegeta report -type json > out", of_vegeta_report),
    Case("vegeta", "-rate 0 -max-workers 2, encode csv", "echo GET {url}/ | vegeta attack -rate 0 -max-workers 2 -duration 1s -max-body 0 | vegeta encode -to csv > out", of_vegeta_csv),
    Case("vegeta", "a port where nobody listens, csv", "echo GET http://127.0.0.1:9/ | vegeta attack -rate 30 -duration 1s | vegeta encode -to csv > out", of_vegeta_csv),
    Case("vegeta", "report (text)", "echo GET {url}/ | vegeta attack -rate 20 -duration 1s | vegeta report > out", None),
    Case("hey", "-z 1s -q 20 -disable-keepalive", "hey -z 1s -q 20 -c 3 -disable-keepalive {url}/slow > out", of_hey),
    Case("hey", "-m POST -d, 503s", "hey -n 200 -c 4 -m POST -d a=1 {url}/some > out", of_hey),
    Case("hey", "-o csv", "hey -n 200 -c 4 -o csv {url}/some > out", of_hey_csv),
    Case("k6", "--summary-export, --summary-trend-stats", "k6 run -q --vus 2 --iterations 40 --summary-trend-stats 'avg,p(95),count' --summary-export out -e URL={url} {files}/script.js > printed 2>&1", of_k6_summary),
    Case("k6", "--out json, --tag", "k6 run -q --vus 2 --iterations 40 --tag build=7 --out json=out -e URL={url} {files}/script.js > printed 2>&1", of_k6_points),
    Case("k6", "--out csv", "k6 run -q --vus 2 --iterations 40 --out csv=out -e URL={url} {files}/script.js > printed 2>&1", of_k6_csv),
    Case("oha", "--output-format json -c 3 -n 200", "oha --no-tui --output-format json -c 3 -n 200 {url}/ > out", of_oha),
    Case("oha", "-q 40 -z 1s --latency-correction, 503s", "oha --no-tui --output-format json -q 40 -z 1s --latency-correction {url}/some > out", of_oha),
    Case("locust", "--csv, two requests", "locust -f {files}/locustfile.py --headless -u 3 -r 3 -t 4s --host {url} --csv s --only-summary > printed 2>&1; cp s_stats.csv out", of_locust, 1e-3),
    Case("cargo", "bench --no-fail-fast 2>&1", "cp -r {files}/crate . && cd crate && RUSTC_BOOTSTRAP=1 cargo bench --no-fail-fast > ../out 2>&1; true", of_cargo),
    Case("jmh", "-bm thrpt,avgt -tu us -f 2 -t 2", "jmh -bm thrpt,avgt -tu us -f 2 -t 2 -wi 1 -i 3 -w 20ms -r 20ms -p list=array CartBench.sum -rf json -rff out > printed", of_jmh),
    Case("jmh", "-bm ss -tu ms -f 1 -prof gc", "jmh -bm ss -tu ms -f 1 -i 4 -prof gc -p list=array -p size=10 CartBench.sum -rf json -rff out > printed", of_jmh),
    Case("jmh", "-rf csv", "jmh -bm avgt -f 1 -i 2 -w 10ms -r 10ms -p list=array CartBench.sum -rf csv -rff out > printed", None),
    Case("jmeter", "delimiter ;", f"{JMETER} -l out -Jjmeter.save.saveservice.default_delimiter=';' > printed", of_jtl(";")),
    Case("jmeter", "XML", f"{JMETER} -l out -Jjmeter.save.saveservice.output_format=xml > printed", of_jtl_xml),
    Case("jmeter", "timestamp_format yyyy/MM/dd HH:mm:ss", f"{JMETER} -l out -Jjmeter.save.saveservice.timestamp_format='yyyy/MM/dd HH:mm:ss' > printed", of_jtl()),
    Case("jmeter", "-e -o: statistics.json", f"{JMETER} -l s.jtl -e -o report > printed; cp report/statistics.json out", of_dashboard),
]  # fmt: skip
"""Names in braces: url, port of the server; files, the folder beside this module."""
