"""Each sample file of each reader, changed as editors, disks and shells change files: never a silent wrong value."""

import gzip
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from campaigns.results import readers
from campaigns.results.readers.base import Read, Source
from campaigns.tests.results.readers.files import DATA, FORMATS

MOST_BYTES = 20_000
"""Of a sample that is changed in many ways; the larger ones are single samples, cut at the end of a line."""


def content_of(name: str) -> bytes:
    content = (DATA / name).read_bytes()
    content = gzip.decompress(content) if name.endswith(".gz") else content
    if len(content) > MOST_BYTES and not name.endswith((".json", ".xml.jtl")):
        content = content[: content.rindex(b"\n", 0, MOST_BYTES) + 1]
    return content


ENCODED = {
    "UTF-8 with a mark": lambda text: text.encode("utf-8-sig"),
    "UTF-16 of Windows": lambda text: text.encode("utf-16"),
    "UTF-16 without a mark": lambda text: text.encode("utf-16-le"),
    "UTF-16 of another byte order": lambda text: ("\ufeff" + text).encode("utf-16-be"),
    "line ends of Windows": lambda text: text.replace("\n", "\r\n").encode(),
    "UTF-16 with line ends of Windows": lambda text: text.replace("\n", "\r\n").encode("utf-16"),
}


@pytest.mark.parametrize("how", ENCODED)
@pytest.mark.parametrize("name", FORMATS)
def test_a_file_means_the_same_in_whatever_encoding(name, how):
    content = content_of(name)
    encoded = ENCODED[how](content.decode())

    expected = readers.read(content, filename=name)
    assert readers.detect(Source(encoded).head, name) == [FORMATS[name]]
    read = readers.read(encoded, filename=name)

    info = dict(read.info)
    assert info.pop("encoding", "UTF-8") == how.partition(" ")[0].replace("line", "UTF-8")
    assert replace(read, info=info) == expected


NUMBER = re.compile(r"(?<![\w.])(?<!127\.0\.0\.1:)\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.]|\d)")
NOISE = "2026-11-29 12:00:01,042 INFO runner: step 7 of 12 took 3.5 s\n"


def told(changed: Read, expected: Read) -> bool:
    """Return whether something is said of a changed file that is not said of the whole one."""
    return bool({*changed.dropped} - {*expected.dropped})


def measured(read: Read) -> list[str]:
    return sorted(repr((sorted(run.values.items()), run.state)) for run in read.runs)


def is_honest(content: str, expected: Read, copies: int = 1) -> bool:
    """Return whether a changed file is refused, says what is left out, or means the same as the whole one."""
    try:
        changed = readers.read(content.encode(), format=expected.format)
    except readers.BadFile:
        return True
    return told(changed, expected) or measured(changed) == sorted(measured(expected) * copies)


def is_honest_without(content: str, expected: Read) -> bool:
    """As `is_honest`; or values are missing, which were not observed, and no other is different."""
    try:
        changed = readers.read(content.encode(), format=expected.format)
    except readers.BadFile:
        return True
    return told(changed, expected) or (
        len(changed.runs) == len(expected.runs)
        and all(
            after.values.items() <= before.values.items()
            for before, after in zip(expected.runs, changed.runs, strict=True)
        )
    )


def some(all_of_them: Sequence[Any], most: int) -> Sequence[Any]:
    return all_of_them[:: max(1, len(all_of_them) // most)]


@pytest.fixture
def sample(request) -> tuple[str, Read]:
    content = content_of(request.param)
    return content.decode(), readers.read(content, format=FORMATS[request.param])


EACH = pytest.mark.parametrize("sample", FORMATS, indirect=True)
MOST = pytest.mark.parametrize("most", [8, pytest.param(60, marks=pytest.mark.nightly)])


@EACH
def test_a_file_that_is_cut_is_refused_or_told(sample):
    text, expected = sample

    for tenth in range(1, 10):
        cut = text[: len(text) * tenth // 10]
        # What ends with a whole line may be the whole output of a tool that writes no end.
        ends_a_line = not cut.rpartition("\n")[2].strip() or text[len(cut)] == "\n"
        assert ends_a_line or is_honest(cut, expected), tenth


@EACH
def test_a_number_that_is_cut_in_two_is_not_read(sample):
    text, expected = sample
    ends = [found.end() for found in NUMBER.finditer(text) if found.end() - found.start() > 2]

    for end in some(ends, 12):
        assert is_honest(text[: end - 1], expected), text[:end][-80:]


@EACH
def test_a_second_copy_is_another_run_or_refused_or_told(sample):
    text, expected = sample

    # The nth value of each name is run n.
    assert expected.format == "plain_values" or is_honest(text + text, expected, copies=2)
    half = text[: len(text.rstrip("\n")) - len(text.rstrip("\n").rpartition("\n")[2]) // 2]
    assert is_honest(half, expected)


@EACH
@MOST
def test_a_line_of_noise_changes_no_value(sample, most):
    text, expected = sample
    ends = [0, *(found.end() for found in re.finditer("\n", text))]

    for end in some(ends, most):
        assert is_honest(text[:end] + NOISE + text[end:], expected), text[:end][-80:]


@EACH
@MOST
def test_a_number_that_is_none_is_left_out_or_refused(sample, most):
    text, expected = sample

    for found in some(list(NUMBER.finditer(text)), 2 * most):
        changed = text[: found.start()] + "NaN" + text[found.end() :]
        assert is_honest_without(changed, expected), text[: found.end()][-80:]
