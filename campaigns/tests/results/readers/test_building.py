"""The parts of all readers that gather runs: factors within their limit, reasons, and what is left out."""

import pytest

from campaigns.results.readers.base import BadFile, Builder, Read, ReadMetric, Source, refuse, some

METRIC = ReadMetric("duration", "Duration", "s", True)


def built(levels: list[dict], values: dict[str, float] | None = None, reason: str = "") -> Read:
    builder = Builder("x", "tool", work=("benchmark",))
    builder.declare(METRIC)
    for each in levels:
        builder.run(each, {"duration": 1.0} if values is None else values, reason=reason)
    return builder.build(name="x", question="?", primary=["duration"])


def test_parameters_of_single_tests_beyond_six_are_one_factor():
    read = built(
        [
            {"benchmark": f"test_{n}", f"p_{n}": value, "size": value}
            for n in range(8)
            for value in (1, 2)
        ]
    )

    assert len(read.runs) == 16
    assert list(read.factors) == ["benchmark", "size", "parameters"]
    assert read.runs[3].levels == {"benchmark": "test_1", "size": 2, "parameters": "p_1=2"}
    assert (
        "p_0, p_1, p_2 and 5 more are one factor, “parameters”, since not all runs have them."
        in read.dropped
    )


def test_more_than_six_settings_of_all_runs_are_refused_with_a_handful_of_names():
    with pytest.raises(BadFile) as caught:
        built([{f"p{n}": value for n in range(24)} for value in (1, 2)])

    assert caught.value.problems[0][1] == (
        "The runs differ in 24 settings (p0, p1, p2 and 21 more); at most 6 may differ in one file. "
        "Split the file, so that each has fewer."
    )


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("", "No run in this file has a value: none of its runs has a figure of tool."),
        ("no device", "No run in this file has a value: no device."),
    ],
)
def test_runs_without_a_value_are_refused_with_the_reason(reason, told):
    with pytest.raises(BadFile) as caught:
        built([{}], {}, reason)

    assert caught.value.problems[0][1] == told


def test_names_are_listed_up_to_a_handful():
    assert some(["a"]) == "a"
    assert some(["a", "b", "c"]) == "a, b and c"
    assert some("abcdef") == "a, b, c and 3 more"


def test_one_bad_run_costs_itself_and_a_limit_the_file():
    source = Source(b"x\n")
    for n in range(7):
        with source.spare():
            refuse(f"line {n}", "It is bad.")

    assert source.notes[0] == "A run is left out. line 0: It is bad."
    assert source.notes[5:] == ("2 more are left out for such reasons.",)
    with pytest.raises(BadFile), source.spare():
        refuse("", "Too much.")
