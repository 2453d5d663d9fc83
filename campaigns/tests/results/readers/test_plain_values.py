"""Lines name=value unit, as a script prints them."""

import pytest

from campaigns.kit.errors import BadFile
from campaigns.results import readers
from campaigns.results.outputs import read_output
from campaigns.tests.results.readers.files import DATA, FORMATS

TEXT = b"""starting
latency=12.5 ms
latency = 13.5 ms
size=2 KiB
ops=100 ops/s
ratio=0.5
done
"""


def test_units_are_converted_and_names_that_come_again_are_more_values():
    found = {each.name: each for each in read_output("plain_values", TEXT).metrics}
    shown = {name: (each.value, each.unit, each.lower_is_better) for name, each in found.items()}
    assert shown == {
        "latency": (pytest.approx(0.013), "s", True),
        "size": (2048.0, "B", True),
        "ops": (100.0, "1/s", False),
        "ratio": (0.5, "count", None),
    }
    assert found["latency"].count == 2


def test_every_reader_of_imports_reads_the_output_of_a_program():
    assert {*FORMATS.values(), "plain_csv"} == set(readers.all_readers())
    for name, format in FORMATS.items():
        found = read_output(format, (DATA / name).read_bytes())
        assert found.metrics or found.failure, name
        assert found.primary in {each.name for each in found.metrics} or not found.metrics, name
    csv = {"factors": ["size"], "metrics": {"latency": {"unit": "s", "lower_is_better": True}}}
    found = read_output("plain_csv", b"size,latency\n1,2.5\n1,3.5\n2,4\n", csv)
    assert {each.name: (each.value, each.count) for each in found.metrics} == {
        "latency.1": (3.0, 2),
        "latency.2": (4.0, 1),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"nothing here\n", "No line is of the form"),
        (b"a=1 s\na=2 B\n", "is in B here, and in s above"),
        (b"a=1e999 s\n", "No line is of the form"),
    ],
)
def test_what_is_refused(text, message):
    with pytest.raises(BadFile, match=message):
        readers.read(text, format="plain_values")


def test_only_files_of_such_lines_are_detected():
    assert readers.detect(b"a=1 s\nb=2\n") == ["plain_values"]
    assert readers.detect(TEXT) == []
