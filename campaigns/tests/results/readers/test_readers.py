"""What all readers share: they are found, files are told apart, and limits hold."""

import gzip
import io
import subprocess
import sys

import pytest
from django.conf import settings

from campaigns.kit import units
from campaigns.results import readers
from campaigns.results.readers import base
from campaigns.results.readers.base import building, source
from campaigns.tests.results.readers.files import DATA, FORMATS, PUBLISHED, problem, read_file


@pytest.mark.system
@pytest.mark.parametrize("module", ["readers.ab", "charts.samples"])
def test_a_pure_module_of_results_loads_without_django(module):
    code = f"import campaigns.results.{module}, sys; print('django' in sys.modules)"

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=settings.BASE_DIR, capture_output=True, check=True
    )

    assert done.stdout == b"False\n"


def test_a_list_of_formats_tells_them_apart():
    labels = [reader.label for reader in readers.all_readers().values()]

    assert len(labels) == len(set(labels))


def test_every_format_is_found_by_its_module():
    assert list(readers.all_readers()) == [
        "ab",
        "asv",
        "bmf",
        "cargo_bench",
        "criterion",
        "fio",
        "go_bench",
        "google_benchmark",
        "hey",
        "hey_csv",
        "hyperfine",
        "jmeter_jtl",
        "jmeter_summary",
        "jmh",
        "k6_points",
        "k6_summary",
        "locust_history",
        "locust_stats",
        "name_unit_value",
        "oha",
        "opl_status_data",
        "pgbench",
        "plain_csv",
        "plain_values",
        "pyperf",
        "pytest_benchmark",
        "satperf_log",
        "sysbench",
        "vegeta",
        "wrk",
    ]
    assert all(name == reader.name for name, reader in readers.all_readers().items())


def test_every_file_of_the_test_data_has_a_format():
    assert {path.name for path in DATA.iterdir() if path.is_file()} - {
        "README.md"
    } == FORMATS.keys()


@pytest.mark.parametrize("name", FORMATS)
def test_each_file_is_detected_as_its_format_alone(name):
    content = base.Source((DATA / name).read_bytes())

    assert readers.detect(content.head, name) == [FORMATS[name]]


@pytest.mark.parametrize("name", FORMATS)
def test_each_file_is_read_from_a_stream_as_from_bytes(name):
    with (DATA / name).open("rb") as file:
        assert readers.read(file, filename=name) == read_file(name)


@pytest.mark.parametrize("name", FORMATS)
def test_runs_fit_what_is_declared(name):
    read = read_file(name)

    declared = {metric.name for metric in read.metrics}
    assert read.primary_metric in declared
    assert declared == {metric for run in read.runs for metric in run.values}
    for run in read.runs:
        assert run.levels.keys() == read.factors.keys()
        assert all(level in read.factors[factor] for factor, level in run.levels.items())
        assert run.reason or run.state == "ok"
        for instant in (run.started_at, run.finished_at):
            assert instant is None or instant.tzinfo is not None
    for metric in read.metrics:
        assert metric.unit == "unknown" or units.UNITS[metric.unit].factor == 1.0


@pytest.mark.parametrize(
    "head", [b"", b"{}", b"a,b,c\n1,2,3\n", b"\x00\xff" * 50, b"<html></html>", b"hello", b"[1]"]
)
def test_what_is_of_no_format_is_detected_as_none(head):
    assert readers.detect(head) == []


def test_a_file_of_no_format_is_refused_with_its_beginning():
    where, text = problem("a,b,c\nhello\n")

    assert where == ""
    assert "it begins with “a,b,c”" in text
    assert "Name its format" in text


def test_a_file_that_could_be_of_two_formats_is_refused_with_both():
    both = b'{"results": [{"command": 1, "times": 2}], "latencyPercentiles": 1}'

    assert readers.detect(both) == ["hyperfine", "oha"]
    assert problem(both)[1] == "The file could be hyperfine or oha; name its format."


def test_a_format_that_there_is_not_is_refused():
    assert problem("x", "excel")[1].startswith("There is no format “excel”. The help page")
    assert "Did you mean jmeter_jtl or jmeter_summary?" in problem("x", "jmeter")[1]
    assert problem("")[1] == "The file is empty."


def test_a_file_above_the_limit_is_refused_before_it_is_read_whole():
    size = source.MOST_DOCUMENT_BYTES + 1

    class Endless(io.RawIOBase):
        given = 0

        def read(self, size=-1):
            self.given += size
            return b'{"command" "times" ' + b" " * (size - 19)

    file = Endless()
    assert "larger than 16 MB" in problem_of_stream(file)
    assert file.given < size + 2 * source.HEAD_BYTES


def test_a_bomb_of_gzip_is_refused_at_the_same_limit():
    packed = gzip.compress(b'{"command" "times" ' + b" " * (source.MOST_DOCUMENT_BYTES + 1))

    assert len(packed) < 100_000
    assert "larger than 16 MB, unpacked" in problem(packed)[1]
    assert "damaged gzip file" in problem(packed[:-20])[1]


def test_a_line_without_end_is_refused():
    long = b'{"metric":"x","type":"Metric"}\n{"metric":"' + b"x" * 1_100_000

    assert problem(long, "k6_points") == (
        "line 2",
        "The line is longer than 1,000,000 bytes; this is not the file of a test.",
    )


def test_more_values_than_the_limit_are_refused(monkeypatch):
    monkeypatch.setattr(building, "MOST_VALUES", 10)

    assert (
        "more than 10 values; split it" in problem((DATA / "hyperfine-1.15.json").read_bytes())[1]
    )


def test_a_document_of_too_many_values_is_refused_before_it_is_parsed():
    many = b'{"results": [' + b"{}," * 1_100_000 + b"1]}"

    assert (
        problem(many, "hyperfine")[1] == "The JSON has more than 2,000,000 values; split the file."
    )


def test_more_metrics_than_a_campaign_can_have_are_refused():
    results = ",".join(f'"k{number}": 1' for number in range(201))

    text = problem(f'{{"results": {{{results}}}}}', "opl_status_data")[1]

    assert text == "The file has more than 200 metrics; leave some out."


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (f"BenchmarkA{'/' * 30} 1 2 ns/op\nPASS\n", "more than 20 parts"),
        ("BenchmarkA 1 2 ns/op\n" * 100_001, "More than 100,000 benchmarks"),
        (
            "".join(f"BenchmarkA/a{n}=1/b{n}=1 1 2 ns/op\n" for n in range(51)),
            "more than 100 settings",
        ),
    ],
)
def test_what_names_more_than_any_tool_measures_is_refused(content, words):
    assert words in problem(content, "go_bench")[1]


def test_settings_that_are_as_many_as_runs_times_facts_are_refused():
    context = ",".join(f'"k{n}": {n}' for n in range(2000))
    benchmark = '{"name": "A", "real_time": 1, "cpu_time": 1, "time_unit": "ns"}'
    output = f'{{"context": {{{context}}}, "benchmarks": [{",".join([benchmark] * 1100)}]}}'

    assert "2,000,000 settings in all" in problem(output, "google_benchmark")[1]


def test_more_lines_than_values_are_refused():
    line = "a,b.log,0,1772438400,1772438401,katello,satellite,run\n"

    assert "more than 100,000 lines" in problem(line * 100_001, "satperf_log")[1]


@pytest.mark.parametrize(
    ("document", "what"),
    [
        ('{"command" "times"', "This is not JSON"),
        ('{"results": [], "results": ["command", "times"]}', "The key “results” is there twice"),
        ('{"results": [{"command": "a", "times": [NaN]}]}', "There is NaN"),
        ('{"results": [{"command": "a", "times": [1e999]}]}', "larger than anything"),
        ('{"results": [{"command": "a", "times": [1e308]}]}', "larger than anything"),
        ('{"results": [{"command": "a", "times": [' + "9" * 400 + "]}]}", "larger than anything"),
        ('{"results": [{"command": "a", "times": [' + "9" * 5000 + "]}]}", "thousands of digits"),
        ('{"command" "times"' + "[" * 100_000, "This is not JSON"),
        ('{"results": ' + "[" * 100_000, "nested too deeply"),
        ('{"results": {"command": "times"}}', "an object where a list is due"),
        ('{"results": []}', "There is no run in this file of hyperfine."),
    ],
)
def test_bad_json_is_refused_with_what_to_do(document, what):
    assert what in problem(document, "hyperfine")[1]


def test_another_encoding_is_refused_with_the_line():
    assert problem('{\n"command": "é", "times"'.encode("latin-1"))[0] == "line 2"
    assert "byte 0xe9" in problem('{\n"command": "é", "times"'.encode("latin-1"))[1]


def test_texts_lose_what_cannot_be_stored():
    content = '{"results": [{"command": "a\\u0000b\\ud800c", "times": [1]}]}'

    read = readers.read(content.encode())

    assert read.info["commands"] == "a b c"


def test_the_published_runs_are_read_by_the_preset_of_plain_csv():
    read = readers.read(PUBLISHED.read_bytes(), PUBLISHED.name)

    assert read.format == "plain_csv"
    assert read.factors == {"concurrency": (3, 5, 7, 10, 15, 20)}
    assert len(read.runs) == 18
    assert read.runs[0].values == {"duration": 636.0}


def problem_of_stream(file) -> str:
    with pytest.raises(readers.BadFile) as caught:
        readers.read(file)
    return caught.value.problems[0][1]
