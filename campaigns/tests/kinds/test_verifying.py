"""The proof of same work of the kind *downloader*: every file is read again, whatever the engine said."""

import hashlib

import pytest

from campaigns.kinds.base import Health, Measured, Target
from campaigns.kinds.downloader.driver import driver
from campaigns.kinds.programs.manifest import Entry

GOOD = b"abc" * 100
ENTRY = Entry("a", hashlib.sha256(GOOD).hexdigest(), len(GOOD))


@pytest.mark.parametrize(
    ("written", "wrong"),
    [
        (GOOD, set()),
        (GOOD[:-1] + b"X", {"digests that match"}),
        (GOOD + b"X", {"bytes on disk", "digests that match"}),
        (None, {"files on disk", "bytes on disk", "digests that match"}),
    ],
)
def test_what_is_on_the_disk_is_read_again(keeper, written, wrong):
    context = keeper.context()
    files = context.directory / "files"
    files.mkdir(parents=True)
    if written is not None:
        (files / "a").write_bytes(written)
    measured = Measured(
        values={},
        health=Health("healthy", (), {}),
        units_done=1,
        work={"entries": (ENTRY,), "done": [0]},
    )

    proofs = driver.verify(Target("none", "http", "http://127.0.0.1:9"), {}, context, measured)

    assert {proof.name for proof in proofs if not proof.ok} == wrong
