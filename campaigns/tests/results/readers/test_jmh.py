"""JMH's JSON, against its own figures and those of a few lines of Python."""

import json

import pytest

from campaigns.results import readers
from campaigns.tests.results.readers.files import DATA, problem, read_file, runs_at

PRIMARY = {"score": 2.0, "scoreUnit": "us/op", "rawData": [[1.0, 3.0], [2.0, 2.0]]}
ENTRY = {
    "jmhVersion": "1.37",
    "benchmark": "shop.Cart.add",
    "mode": "avgt",
    "threads": 1,
    "primaryMetric": PRIMARY,
    "secondaryMetrics": {},
}


def entries_of(name: str) -> list[dict]:
    return list(json.loads((DATA / name).read_text()))


def read_entry(**primary) -> readers.Read:
    return readers.read(json.dumps([{**ENTRY, "primaryMetric": {**PRIMARY, **primary}}]).encode())


def test_each_fork_is_a_run_with_the_mean_of_its_iterations():
    read = read_file("jmh-modes.json")

    expected = []
    for entry in entries_of("jmh-modes.json"):
        factor = {"ops/us": 1e6, "us/op": 1e-6}[entry["primaryMetric"]["scoreUnit"]]
        expected += [sum(fork) / len(fork) * factor for fork in entry["primaryMetric"]["rawData"]]
    found = [run.values.get("operation_rate", run.values.get("duration")) for run in read.runs]
    assert found == pytest.approx(expected)
    assert len(read.runs) == 20


def test_the_mean_of_the_forks_is_the_score_of_jmh():
    read = read_file("jmh-modes.json")

    runs = runs_at(read, benchmark="shop.CartBench.sum", mode="average time", size=1000)
    assert sum(run.values["duration"] for run in runs) / 2 == pytest.approx(20.305323112032855e-6)


def test_parameters_mode_and_threads_are_factors_and_work_is_not_compared():
    read = read_file("jmh-modes.json")

    assert read.factors["mode"] == ("throughput", "average time")
    assert read.factors["threads"] == (1, 3)
    assert read.factors["size"] == (10, 1000)
    assert read.work == ("benchmark", "mode")
    assert read.info["list"] == "array"
    assert read.facts["VM"] == "OpenJDK 64-Bit Server VM"
    ways = {metric.name: (metric.unit, metric.lower_is_better) for metric in read.metrics}
    assert ways["duration"] == ("s", True)
    assert ways["operation_rate"] == ("1/s", False)


def test_methods_of_a_group_are_metrics_of_their_own():
    read = read_file("jmh-modes.json")

    (entry,) = [
        each
        for each in entries_of("jmh-modes.json")
        if each["mode"] == "thrpt"
        and each["benchmark"].endswith("pair")
        and each["params"]["size"] == "10"
    ]
    runs = runs_at(read, benchmark="shop.CartBench.pair", mode="throughput", size=10)
    heads = entry["secondaryMetrics"]["head"]["rawData"]
    assert [run.values["operation_rate_head"] for run in runs] == pytest.approx(
        [sum(fork) / len(fork) * 1e6 for fork in heads]
    )


def test_samples_give_mean_and_percentiles_and_are_counted():
    read = read_file("jmh-sample.json")

    entry = entries_of("jmh-sample.json")[1]
    iterations = entry["primaryMetric"]["rawDataHistogram"][0]
    runs = runs_at(read, mode="sampled time", size=1000)
    for run, pairs in zip(runs, iterations, strict=True):
        samples = sorted(value for value, count in pairs for _ in range(count))
        assert run.units_done == len(samples)
        assert run.values["duration"] == pytest.approx(sum(samples) / len(samples) * 1e-9)
        assert run.values["latency_p90"] == pytest.approx(
            samples[-(-len(samples) * 90 // 100) - 1] * 1e-9
        )
        assert "latency_p99" not in run.values
    whole = [value for pairs in iterations for value, count in pairs for _ in range(count)]
    assert sum(whole) / len(whole) == pytest.approx(entry["primaryMetric"]["score"])


def test_iterations_are_runs_where_there_is_one_fork_only_which_is_told():
    read = read_file("jmh-sample.json")

    assert len(runs_at(read, mode="single shot", size=10)) == 2
    assert any("one fork only" in each for each in read.dropped)
    assert not any("one fork only" in each for each in read_file("jmh-modes.json").dropped)


def test_what_profilers_count_per_operation_is_read_and_the_rest_is_named():
    read = read_file("jmh-gc.json")

    first = entries_of("jmh-gc.json")[0]["secondaryMetrics"]["gc.alloc.rate.norm"]["rawData"][0]
    assert read.runs[0].values["gc.alloc.rate.norm"] == pytest.approx(sum(first) / len(first))
    (metric,) = [each for each in read.metrics if each.name == "gc.alloc.rate.norm"]
    assert (metric.unit, metric.lower_is_better) == ("B", True)
    assert any("gc.alloc.rate (MB/sec) and gc.count (counts)" in each for each in read.dropped)


@pytest.mark.parametrize(
    ("unit", "metric", "value"),
    [
        ("ns/op", "duration", 2e-9),
        ("us/op", "duration", 2e-6),
        ("ms/op", "duration", 2e-3),
        ("s/op", "duration", 2.0),
        ("min/op", "duration", 120.0),
        ("ops/ns", "operation_rate", 2e9),
        ("ops/ms", "operation_rate", 2e3),
        ("ops/s", "operation_rate", 2.0),
        ("ops/min", "operation_rate", 2 / 60),
    ],
)
def test_units_become_seconds_and_operations_per_second(unit, metric, value):
    read = read_entry(scoreUnit=unit)

    assert [run.values for run in read.runs] == [pytest.approx({metric: value})] * 2


def test_an_iteration_without_a_score_costs_itself_only():
    read = read_entry(rawData=[["NaN", 3.0], [2.0, 2.0], ["NaN", "NaN"]])

    assert [run.values.get("duration") for run in read.runs] == pytest.approx([3e-6, 2e-6, None])
    assert read.runs[2].reason == "the fork has no score"


def test_an_entry_without_raw_data_is_one_run_with_its_score():
    read = read_entry(rawData=None)

    assert [run.values for run in read.runs] == [pytest.approx({"duration": 2e-6})]
    assert any("without rawData" in each for each in read.dropped)


def test_an_entry_of_another_unit_is_left_out_with_its_path():
    other = {**ENTRY, "primaryMetric": {**PRIMARY, "scoreUnit": "bogomips"}}

    read = readers.read(json.dumps([ENTRY, other]).encode())

    assert len(read.runs) == 2
    assert "[1].primaryMetric" in read.dropped[0]
    assert "“bogomips”, which is neither time nor rate" in read.dropped[0]


def test_files_of_several_runs_of_jmh_are_read_one_after_the_other():
    content = (DATA / "jmh-gc.json").read_bytes()

    assert len(readers.read(content + content).runs) == 8


@pytest.mark.parametrize(
    "text",
    [
        '"Benchmark","Mode","Threads","Samples","Score","Score Error (99.9%)","Unit"\n"a.B","avgt",1,3,0.000000,0.000004,"s/op"\n',
        "Benchmark         (size)   Mode  Cnt  Score   Error  Units\nCartBench.sum         10  thrpt    6  4.601 ± 1.272  ops/s\n",
    ],
)
def test_other_forms_of_jmh_are_told_what_to_export(text):
    assert "measure with -rf json -rff FILE" in problem(text)[1]
