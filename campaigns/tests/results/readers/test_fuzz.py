"""Damaged files of every format: a Read or a BadFile comes out, and nothing else."""

import gzip
import json
import math
import random
import re
import string
from time import process_time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from campaigns.results import readers
from campaigns.results.readers.base import MOST_CELLS, MOST_VALUES, Read
from campaigns.tests.results.readers.files import DATA, FORMATS, PUBLISHED

MAPPING = {
    "factors": ["concurrency"],
    "metrics": {"duration": {"unit": "s", "written": "H:MM:SS"}},
    "started_at": "start",
    "finished_at": "finish",
}
NASTY = (
    b"NaN", b"-Infinity", b"1e308", b"-1e308", b"1e999", b"0", b"-1", b"9" * 400, b"0.5", b"null",
    b"true", b'""', b"{}", b"[]", b'"\\ud800"', b'"\\u0000"', b"\x00", b"\xff\xfe", b"\r\n", b",,",
    b'"', b"[" * 2000, b'{"a":' * 2000, b"0000-00-00T00:00:00Z", b"9999-12-31T23:59:59.999999999Z",
    b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"&b;", b"<sample>", b"</testResults>", b"99999999999999999",
    "١٢٣".encode(), "²".encode(), b"1_000", b"0x10", b" ", b"N/A",
)  # fmt: skip
MOST_SECONDS = 2.0
"""Of the processor, to read or refuse one file."""
LONG = pytest.mark.parametrize("examples", [10, pytest.param(400, marks=pytest.mark.nightly)])
PLACES = (b'"', b",", b":", b"\n", b" ", b"0", b"1", b"{", b"[", b"=")
CONTENT = {
    name: gzip.decompress(content)[:20_000] if name.endswith(".gz") else content
    for name, content in ((name, (DATA / name).read_bytes()) for name in FORMATS)
}


def damaged(content: bytes, chance: random.Random) -> bytes:
    """Change a file as disks, editors and bad tools do, a few times."""
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(content) + 1)
        if chance.random() < 0.7:
            found = content.find(chance.choice(PLACES), place)
            place = found + 1 if found >= 0 else place
        length = chance.choice((0, 1, 2, 5, 20, 300))
        change = chance.randrange(5)
        if change == 0:
            content = content[:place]
        elif change == 1:
            content = content[:place] + content[place + length :]
        elif change == 2:
            again = content[place : place + length]
            content = content[:place] + again * 3 + content[place + length :]
        else:
            put = chance.choice(NASTY)
            content = content[:place] + put + content[place + length :]
    return content


def outcome(content: bytes, format: str, mapping=None) -> None:
    begun = process_time()
    assert sound(read_or_refused(content, format, mapping))
    assert process_time() - begun < MOST_SECONDS


def read_or_refused(content: bytes, format: str, mapping) -> Read | readers.BadFile:
    try:
        return readers.read(content, format=format, mapping=mapping)
    except readers.BadFile as bad:
        return bad


def sound(read: Read | readers.BadFile) -> bool:
    if isinstance(read, readers.BadFile):
        assert read.problems
        assert all(text for _, text in read.problems)
        return len(str(read).encode()) < 20_000
    assert 0 < len(read.runs) <= MOST_VALUES
    assert all(len(levels) <= MOST_CELLS for levels in read.factors.values())
    for run in read.runs:
        assert all(math.isfinite(value) for value in run.values.values())
        assert run.units_done >= 0
        assert run.units_failed >= 0
        for level in run.levels.values():
            assert str(level).encode()
            assert "\x00" not in str(level)
    repr((read.facts, read.info)).encode()
    " ".join((read.name, read.question, *read.dropped, *read.tags)).encode()
    return True


def try_out(examples: int, **drawn):
    """Try a function with so many examples of what is drawn for its arguments."""
    some = settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    return lambda function: some(given(**drawn)(function))()


@LONG
@pytest.mark.parametrize("name", FORMATS)
def test_a_damaged_file_is_read_or_refused(name, examples):
    @try_out(examples, seed=st.integers(0, 2**64))
    def _(seed):
        outcome(damaged(CONTENT[name], random.Random(seed)), FORMATS[name])


@LONG
@pytest.mark.parametrize("mapping", [None, MAPPING])
def test_damaged_csv_is_read_or_refused(mapping, examples):
    @try_out(2 * examples, seed=st.integers(0, 2**64))
    def _(seed):
        outcome(damaged(PUBLISHED.read_bytes(), random.Random(seed)), "plain_csv", mapping)


NOISE = st.binary(min_size=1, max_size=400) | st.text(string.printable, min_size=1).map(str.encode)


@LONG
@pytest.mark.parametrize("format", sorted(readers.all_readers()))
def test_noise_is_refused(format, examples):
    @try_out(examples, content=NOISE)
    def _(content):
        outcome(content, format)
        readers.detect(content)


@pytest.mark.parametrize("format", sorted(readers.all_readers()))
def test_a_file_of_another_format_is_read_or_refused(format):
    for name in FORMATS:
        outcome(CONTENT[name], format)


KEYS = re.findall(rb'"(\w[\w.]{0,30})":', b"".join(CONTENT[name] for name in sorted(CONTENT)))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(sorted({key.decode() for key in KEYS})), inner, max_size=5
        )
    ),
    max_leaves=20,
)


@LONG
@pytest.mark.parametrize("format", sorted({FORMATS[name] for name in FORMATS if "json" in name}))
def test_json_of_another_shape_is_read_or_refused(format, examples):
    @try_out(2 * examples, document=JSON)
    def _(document):
        outcome(json.dumps(document).encode(), format)
