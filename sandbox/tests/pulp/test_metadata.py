"""The simulated Pulp reads metadata of packages as a stream."""

import bz2
import gzip
import lzma
import tracemalloc
from functools import partial

import pytest

from sandbox.pulp.repodata import packages
from sandbox.pulp.tasks import TaskFailed

PACKAGE = (
    '<package type="rpm"><checksum type="sha256">{digest}</checksum><size package="5"/>'
    '<location href="p/{n}.rpm"/><format>{entries}</format></package>'
)
ENTRIES = '<entry name="made up" flags="EQ" ver="1"/>' * 50


def primary(count: int) -> bytes:
    body = "".join(PACKAGE.format(n=n, digest=f"{n:064x}", entries=ENTRIES) for n in range(count))
    return f'<metadata xmlns="http://linux.duke.edu/metadata/common">{body}</metadata>'.encode()


@pytest.mark.parametrize(
    ("ending", "pack"),
    [
        ("xml", bytes),
        ("gz", gzip.compress),
        ("xz", partial(lzma.compress, preset=0)),
        ("bz2", bz2.compress),
    ],
)
def test_packages_are_forgotten_once_they_are_read(ending, pack):
    body = primary(1000)
    packed = pack(body)
    tracemalloc.start()
    try:
        count = sum(1 for _ in packages("http://a/", f"http://a/primary.{ending}", packed))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert count == 1000
    assert peak < 2 * len(body)  # a tree took 10 times as much, beside the text itself


@pytest.mark.parametrize(
    "body",
    [b"", b"<metadata>", gzip.compress(b"<a/>", mtime=0)[:-5], b"\x1f\x8b"],
    ids=["nothing", "cut", "cut gzip", "head of gzip"],
)
def test_what_is_no_metadata_fails_the_sync(body):
    with pytest.raises(TaskFailed):
        list(packages("http://a/", "http://a/primary.xml.gz", body))
