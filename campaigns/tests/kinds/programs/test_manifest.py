import tracemalloc
from contextlib import suppress

import pytest

from campaigns.kinds.programs import manifest
from campaigns.kinds.programs.manifest import (
    MOST_BYTES,
    BadManifest,
    Entry,
    parse,
)

DIGEST = "0123456789abcdef" * 4


def line(name: str = "a", digest: str = DIGEST, size: object = 1) -> str:
    return f"{name},{digest},{size}\n"


def test_names_may_hold_commas_directories_and_any_script():
    names = ["a", "b, with, commas", "d/e.bin", "ü/日本", "-rf", "..a", "a b?#%41", ",", "a,b,c"]

    entries = parse("".join(line(name, size=0) for name in names).encode())

    assert [entry.name for entry in entries] == names


def test_a_line_is_a_file_with_its_digest_and_size():
    body = "\ufeff" + line("x", DIGEST.upper(), 20480).replace("\n", "\r\n")

    assert parse(body.encode()) == (Entry("x", DIGEST, 20480),)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"# only this\n\n", "is empty"),
        (line("a").encode("utf-16"), "in UTF-16, which Pulp does not read"),
        ("# a\n\n" + line("b") + "c\n", "Line 4 .*name,sha256,size"),
        ("<!doctype html>\n<p>", "Line 1 .*check that the URL"),
        (line("a") + "b," + DIGEST[:20], "Line 2 .*cut off"),
        (line("a").encode() + b"\xff" + line("b").encode(), "Line 2 .*not UTF-8"),
        (line("../a"), r"Line 1 .*'\.\./a' .*`\.\.`"),
        (line("a/../../b"), r"`\.\.`"),
        (line("a/.."), r"`\.\.`"),
        (line("./a"), r"`\.`"),
        (line("a//b"), "empty part"),
        (line("a/"), "empty part"),
        (line("/etc/passwd"), "absolute"),
        (line(""), "is no name"),
        ("#\n" + line("a") + line("b") + line("a", size=2), "Line 4 .*stands in line 2 already"),
        (line("a") + line("a/b"), "Line 2 .*directory where line 1"),
        (line("a/b/c") + line("a"), "Line 1 .*directory where line 2"),
        (line(size=-1), "Line 1 .*'-1' is not a size"),
        (line(size="9" * 30), "is not a size"),
        (line(size=2**40 + 1), "is not a size"),
        (line(size="1e3"), "is not a size"),
        (line(size="٣"), "is not a size"),
        (line(size=""), "is not a size"),
        (line(digest="x" * 64), "SHA-256"),
        (line(digest=DIGEST[:-1]), "SHA-256"),
        (line("a\x00b"), "control character"),
        (line("a\tb"), "control character"),
        (line("a\x85b"), "control character"),
        (line("a\u2028b"), "control character"),
        (line("a" * 241), "too long"),
        (line("/".join(["a" * 100] * 11)), "too long"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(body, says):
    with pytest.raises(BadManifest, match=says):
        parse(body if isinstance(body, bytes) else body.encode())


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("# made by hand\n" + line("a.iso"), ["a.iso"]),
        (line('"a,b.iso"'), ['"a,b.iso"']),
        ("\n  \n" + line("a") + "   # indented\n\n" + line("b") + "\n", ["a", "b"]),
        (f"  a b ,  {DIGEST} ,\t1  \r\n", ["a b"]),
        (line("a") + f"b,{DIGEST},12", ["a", "b"]),
        (line("a") + line("b") + line("a"), ["a", "b"]),
        (line("a#b") + line("#c, " + "d"), ["a#b"]),
        (line("a").replace("\n", "\r") + line("b"), ["a", "b"]),
    ],
    ids=[
        "comment",
        "quotes",
        "empty lines",
        "blanks",
        "no end",
        "twice",
        "a mark in a name",
        "old line ends",
    ],
)
def test_a_manifest_is_read_as_pulp_reads_it(body, names):
    assert [entry.name for entry in parse(body.encode())] == names


@pytest.mark.parametrize("piece", [1, 3, 50, 1000])
def test_a_manifest_is_the_same_in_pieces(piece):
    body = ("\ufeff# made by hand\r\n" + line("ä,b") + "\n" + line("c").removesuffix("\n")).encode()
    pieces = [body[begin : begin + piece] for begin in range(0, len(body), piece)]

    if piece < 3:  # the mark at the begin comes in one piece, as each piece of a connection is long
        pieces = [body[:3], *pieces[3:]]
    assert [(number, entry.name) for number, entry in manifest.read(pieces)] == [
        (2, "ä,b"),
        (4, "c"),
    ]


def test_a_manifest_cut_off_anywhere_has_its_whole_lines_or_is_refused():
    whole = "".join(line(f"file {number}") for number in range(5)).encode()
    for end in range(1, len(whole)):
        with suppress(BadManifest):
            assert (
                parse(whole[:end])
                == parse(whole)[: whole[:end].count(b"\n") + (whole[end - 1 : end] != b"\n")]
            )


def test_a_long_line_is_quoted_in_part():
    with pytest.raises(BadManifest) as caught:
        parse(b"x" * 10_000 + b"\n")

    assert len(str(caught.value)) < 300


def test_too_much_is_refused(monkeypatch):
    monkeypatch.setattr(manifest, "MOST_FILES", 3)
    with pytest.raises(BadManifest, match="more than 3 files"):
        parse(("# four\n" + "".join(line(str(number)) for number in range(4))).encode())
    with pytest.raises(BadManifest, match="bytes"):
        parse(b"x" * (MOST_BYTES + 1))


@pytest.mark.parametrize("byte", [b"x", b"\0", b"\xff", b","])
def test_ten_megabytes_of_one_line_are_refused_without_a_copy(byte):
    body = byte * 10_000_000
    tracemalloc.start()
    try:
        with pytest.raises(BadManifest, match=r"Line 1 .*10000000 bytes"):
            parse(body)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 1_000_000


@pytest.mark.slow
def test_lines_are_read_in_little_memory():
    body = "".join(line(f"part-{i // 1000}/file-{i}.bin") for i in range(20_000)).encode()
    tracemalloc.start()
    try:
        entries = parse(body)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert len(entries) == 20_000
    assert peak < 12_000_000
