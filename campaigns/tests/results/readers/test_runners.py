"""What a runner of jobs writes around the output of a tool changes no number that is read."""

import pytest

from campaigns.results import readers
from campaigns.tests.results.readers.files import DATA, FORMATS

MOST_BYTES = 60_000
FILES = sorted(
    name
    for name in FORMATS
    if not name.endswith((".gz", ".log")) and (DATA / name).stat().st_size < MOST_BYTES
)


def _each(prefix, text):
    return "".join(f"{prefix}{line}\n" for line in text.splitlines())


WRAPPED = {
    "set -x": lambda text: f"+ run --it name=value\n{text}",
    "GitHub": lambda text: (
        f"##[group]Run x\n\x1b[36;1mx --y\x1b[0m\n##[endgroup]\n{text.rstrip()}\n##[error]Process completed with exit code 1.\n"
    ),
    "compose": lambda text: (
        "Attaching to bench-1\n" + _each("bench-1  | ", text) + "bench-1 exited with code 0\n"
    ),
    "GitHub with times": lambda text: _each("2026-11-29T10:00:00.1234567Z ", text),
    "Jenkins": lambda text: _each("[2026-11-29T10:00:00Z] ", text),
    "GitLab": lambda text: _each("2026-11-29T10:00:00.123456Z 01O ", text),
    "compose -t": lambda text: _each("bench-1  | 2026-11-29T10:00:00.123456789Z ", text),
    "gh run view": lambda text: _each("bench\tRun it\t2026-11-29T10:00:00.1234567Z ", text),
    "kubectl": lambda text: _each("[pod/bench-x7k/bench] ", text),
    "journald": lambda text: _each("Nov 29 10:00:00 host bench[123]: ", text),
}


RUNNERS = sorted(WRAPPED)
EACH = [
    pytest.param(name, runner, marks=[] if (place + number) % 4 == 0 else pytest.mark.nightly)
    for number, name in enumerate(FILES)
    for place, runner in enumerate(RUNNERS)
]
"""A file of each format by a few of the runners; by all of them at night."""


@pytest.mark.parametrize(("name", "runner"), EACH)
def test_what_a_runner_adds_changes_no_number(name, runner):
    text = (DATA / name).read_text("utf-8-sig")
    expected = readers.read(text.encode(), filename=name)
    found = readers.read(WRAPPED[runner](text).encode(), filename=name)
    assert _numbers(found) == _numbers(expected)
    assert found.format == expected.format


def test_the_lines_of_another_container_are_told():
    text = (
        _each("bench-1  | ", '{"a": {"latency": {"value": 88.0}},\n"b": {"latency": {"value": 1}}}')
        + _each("web-1    | ", "GET /\nGET /\nGET /\nGET /")
        + "bench-1 exited with code 0\n"
    )
    found = readers.read(text.encode())
    assert [run.values["latency"] for run in found.runs] == pytest.approx([88e-9, 1e-9])
    assert found.dropped[0] == (
        "“bench-1  |” before the lines is taken away. Lines without it are left out: 4, the first is line 3."
    )


def test_a_bar_of_progress_before_the_output_is_taken_away():
    text = "\x1b[2K\rrunning 50%\r\x1b[2K" + (DATA / "oha.json").read_text()
    assert _numbers(readers.read(text.encode())) == _numbers(
        readers.read((DATA / "oha.json").read_bytes())
    )


def _numbers(found):
    return [(dict(run.levels), dict(run.values), run.state) for run in found.runs]
