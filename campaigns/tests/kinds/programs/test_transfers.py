"""What becomes of one file that came, without any network."""

import hashlib
from pathlib import Path

import pytest

from campaigns.kinds.programs import transfers
from campaigns.kinds.programs.transfers import Counter, Item, Tally, Transfer
from campaigns.kit.http.failures import FileFailed

GOOD = b"abc" * 100
DIGEST = hashlib.sha256(GOOD).hexdigest()


def transfer_of(directory: Path, *pieces: bytes) -> tuple[Transfer, Tally]:
    """Let a file come in pieces of which the manifest knows size and digest."""
    item = Item(0, "sub/a", "http://127.0.0.1:9/sub/a", DIGEST, len(GOOD))
    tally = Tally(directory, (item,))
    transfer = Transfer(item, tally, Counter())
    for piece in pieces:
        transfer.take(piece)
    return transfer, tally


def files_of(directory: Path) -> list[str]:
    return [str(p.relative_to(directory)) for p in directory.rglob("*") if p.is_file()]


def test_a_file_gets_its_name_when_it_is_whole_and_right(tmp_path):
    transfer, tally = transfer_of(tmp_path, GOOD[:100], GOOD[100:])
    assert files_of(tmp_path) == []  # small pieces are written together

    transfer.complete()

    assert files_of(tmp_path) == ["files/sub/a"]
    assert (tmp_path / "files/sub/a").read_bytes() == GOOD
    assert tally.counts() == (1, 0)


def test_pieces_are_written_as_soon_as_they_are_worth_it(tmp_path, monkeypatch):
    monkeypatch.setattr(transfers, "WRITTEN_AT_ONCE", 150)
    monkeypatch.setattr(transfers, "MOST_PIECES", 2)

    transfer, _ = transfer_of(tmp_path, GOOD[:50], GOOD[50:90], GOOD[90:200], GOOD[200:])

    assert (tmp_path / "partial/0").read_bytes() == GOOD[:200]
    transfer.complete()
    assert (tmp_path / "files/sub/a").read_bytes() == GOOD


@pytest.mark.parametrize(
    ("pieces", "failure", "words"),
    [
        ((GOOD[:-1] + b"X",), "digest", f"not {DIGEST}"),
        ((b"X" + GOOD[1:],), "digest", f"not {DIGEST}"),
        ((GOOD[100:], GOOD[:100][::-1]), "digest", f"not {DIGEST}"),
        ((GOOD[:-1],), "size", "299 of 300 bytes"),
        ((), "size", "0 of 300 bytes"),
    ],
)
def test_a_file_that_is_not_what_the_manifest_says_gets_no_name(tmp_path, pieces, failure, words):
    transfer, tally = transfer_of(tmp_path, *pieces)

    with pytest.raises(FileFailed, match=words) as caught:
        transfer.complete()
    transfer.failed(caught.value)

    assert caught.value.failure == failure
    assert files_of(tmp_path) == []
    assert tally.counts() == (0, 1)
    assert tally.failed_as(failure) == 1


def test_a_file_that_grows_too_large_is_broken_off(tmp_path):
    transfer, _ = transfer_of(tmp_path, GOOD)

    with pytest.raises(FileFailed) as caught:
        transfer.take(b"x")

    assert caught.value.failure == "size"
