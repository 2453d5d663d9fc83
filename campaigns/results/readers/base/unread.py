"""Outputs of tools in a form that is not read, and what to export in their place. Reads nothing itself."""

import re

OTHERS = (
    (rb"^Requests\s+\[total, rate", "vegeta's text report", "write it with vegeta report -type=json"),
    (rb"^(?:Value\(ms\)\s+Percentile|Bucket\s+#\s+%)", "a plot or histogram of vegeta", "write a report with vegeta report -type=json"),
    (rb"^Benchmark\s+Time\s+CPU\s+Iterations", "what Google Benchmark prints", "add --benchmark_out=FILE --benchmark_out_format=json"),
    (rb"^name,iterations,real_time,cpu_time,time_unit", "Google Benchmark's CSV", "take --benchmark_out_format=json"),
    (rb"^Benchmark \d+: |^\s+Time \(mean", "what hyperfine prints", "add --export-json FILE"),
    (rb"^\|\s?Command\s?\|\s?Mean ", "a table of hyperfine", "add --export-json FILE"),
    (rb"^summary [=+]\s+\d+ in ", "what JMeter prints", "import the file of samples (jmeter -l results.jtl)"),
    (rb"^Method,Name,Error,Occurrences", "Locust's list of failures", "import the _stats.csv or _stats_history.csv beside it"),
    (rb"^Count,Message,Traceback,Nodes", "Locust's list of exceptions", "import the _stats.csv or _stats_history.csv beside it"),
    (rb"^Type\s+Name\s+# reqs\s+# fails", "what Locust prints", "run it with --csv NAME, and import NAME_stats_history.csv"),
    (rb"^\s+http_req_duration\.{2,99}:", "what k6 prints", "run it with --summary-export=FILE, or --out json=FILE for single samples"),
    (rb"^Name \(time in \w{1,4}\)\s+Min", "what pytest-benchmark prints", "add --benchmark-json=FILE"),
    (rb"^\s+Success rate:\s+[\d.]+%?$", "what oha prints", "add --output-format json"),
    (rb"^\S.{0,200}: Mean \+- std dev: ", "what pyperf prints", "add -o FILE.json"),
    (rb"^Percentage served,Time in ms", "ab's table of percentiles (-e)", "import what ab prints"),
    (rb"^starttime\tseconds\tctime", "ab's data for gnuplot (-g)", "import what ab prints"),
    (rb"^(?=.*\b(?:timeStamp|elapsed)\b)(?=.*\b(?:responseCode|threadName|success)\b).*$",
     "JMeter's samples without timeStamp or elapsed", "save them with jmeter.save.saveservice.timestamp_format=ms and jmeter.save.saveservice.time=true"),
    (rb"^(?:[^;\n]{0,99};){40}", "what fio prints with --minimal", "take --output-format=json"),
)  # fmt: skip
PATTERNS = tuple((re.compile(begin, re.MULTILINE), what, remedy) for begin, what, remedy in OTHERS)


def other_output(head: bytes) -> str:
    """Return what an output of a known tool is that is not read, and what to export; empty if it is none of these."""
    for pattern, what, remedy in PATTERNS:
        if pattern.search(head):
            return f"This is {what}, which is not read: {remedy}."
    return ""
